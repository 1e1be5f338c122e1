#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "partition/bound/looked_up.h"
#include "partition/window/plan.h"
}

/* How many elements a launch looks up, compared with counting them one by one. */

namespace {

polytile_array *wrap(polytile_context *ctx, const char *name, std::vector<int32_t> *of) {
    const auto extent = static_cast<int64_t>(of->size());
    polytile_array *array = nullptr;
    EXPECT_EQ(polytile_array_wrap(ctx, name, POLYTILE_I32, 1, &extent, of->data(), &array),
              POLYTILE_OK);
    return array;
}

polytile_array *describe(polytile_context *ctx, const char *name, int64_t extent) {
    polytile_array *array = nullptr;
    EXPECT_EQ(polytile_array_describe(ctx, name, POLYTILE_F32, POLYTILE_EXTENTS(extent), &array),
              POLYTILE_OK);
    return array;
}

TEST(BoundLookedUp, CountsTheElementsThatThreadsLookUp) {
    enum { V, P, X, K, Y };
    Random random(test_seed("BoundLookedUp"));
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(
                  ctx, "k[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; sum y[K[P[i]]]", nullptr,
                  &kernel),
              POLYTILE_OK);
    for (int64_t round = 0; round < scaled(100) && !HasFailure(); round++) {
        const int64_t n_rows = random.number(1, 40), n_columns = random.number(1, 30);
        std::vector<int32_t> ends(1, static_cast<int32_t>(random.number(0, 2))), columns;
        columns.resize(static_cast<size_t>(ends[0]));
        for (int64_t i = 0; i < n_rows; i++) {
            for (int64_t k = random.number(0, 4); k > 0; k--)
                columns.push_back(static_cast<int32_t>(random.number(0, n_columns - 1)));
            ends.push_back(static_cast<int32_t>(columns.size()));
        }
        columns.push_back(0);
        const auto n_entries = static_cast<int64_t>(columns.size());
        polytile_array *arrays[] = {describe(ctx, "V", n_entries), wrap(ctx, "P", &ends),
                                    describe(ctx, "x", n_columns), wrap(ctx, "K", &columns),
                                    describe(ctx, "y", n_columns)};
        pti_instance *instance = nullptr;
        const polytile_launch_options options = {};
        ASSERT_EQ(
            pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(n_rows), arrays, &options, &instance),
            POLYTILE_OK)
            << polytile_last_error(ctx);
        std::set<int64_t> read(columns.begin() + ends.front(), columns.begin() + ends.back()),
            written;
        for (int64_t i = 0; i < n_rows; i++)
            written.insert(columns[static_cast<size_t>(ends[static_cast<size_t>(i)])]);
        bool failed = false;
        EXPECT_EQ(pti_looked_up_least_count(instance, V, PTI_READS, &failed),
                  ends.back() - ends.front());
        const std::set<int64_t> begins(ends.begin(), ends.end() - 1);
        EXPECT_EQ(
            pti_looked_up_least_count(instance, K, PTI_READS, &failed),
            std::max<int64_t>(ends.back() - ends.front(), static_cast<int64_t>(begins.size())));
        EXPECT_EQ(pti_looked_up_least_count(instance, X, PTI_READS, &failed),
                  static_cast<int64_t>(read.size()));
        EXPECT_EQ(pti_looked_up_least_count(instance, Y, PTI_WRITES, &failed),
                  static_cast<int64_t>(written.size()));
        EXPECT_EQ(pti_looked_up_least_count(instance, P, PTI_READS, &failed), 0);
        EXPECT_FALSE(failed);
        pti_instance_free(instance);
    }
    polytile_context_destroy(ctx);
}

/** A mesh: threads look up rows of a table, or a part of each, from some row on and with steps. */
TEST(BoundLookedUp, CountsWhatRowsOfATableLookUp) {
    enum { E, U };
    Random random(test_seed("BoundLookedUp.Rows"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int64_t round = 0; round < scaled(100) && !HasFailure(); round++) {
        const int64_t n_rows = random.number(1, 40), each = random.number(1, 4);
        const int64_t n_cells = random.number(1, 100), plus = random.number(0, 2);
        const int64_t first = random.number(0, each - 1), last = random.number(first, each - 1);
        const polytile_range rows = {random.number(0, n_rows - 1), n_rows - 1, 1};
        const polytile_domain threads = {1, {{rows.lo, rows.hi, random.number(1, 3)}}};
        std::vector<int32_t> table;
        for (int64_t k = 0; k < n_rows * each; k++)
            table.push_back(static_cast<int32_t>(random.number(0, n_cells - 1)));
        const std::string columns = std::to_string(first) + ":" + std::to_string(last);
        const std::string text = "mesh[i]: in E[i, " + columns + "], u[E[i, " + columns + "]+" +
                                 std::to_string(plus) + "]; out v[i]";
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, text.c_str(), nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        const int64_t extents[] = {n_rows, each};
        polytile_array *arrays[] = {nullptr, describe(ctx, "u", n_cells + plus),
                                    describe(ctx, "v", n_rows)};
        ASSERT_EQ(polytile_array_wrap(ctx, "E", POLYTILE_I32, 2, extents, table.data(), &arrays[E]),
                  POLYTILE_OK);
        pti_instance *instance = nullptr;
        const polytile_launch_options options = {};
        ASSERT_EQ(pti_plan_bind_operands(kernel, &threads, arrays, &options, &instance),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        std::set<int32_t> read;
        for (int64_t i = rows.lo; i <= rows.hi; i += threads.range[0].step)
            for (int64_t k = first; k <= last; k++)
                read.insert(table[static_cast<size_t>(i * each + k)]);
        bool failed = false;
        EXPECT_EQ(pti_looked_up_least_count(instance, U, PTI_READS, &failed),
                  static_cast<int64_t>(read.size()))
            << text;
        EXPECT_FALSE(failed);
        pti_instance_free(instance);
    }
    polytile_context_destroy(ctx);
}

/** Rows of a table, of which threads have parts that follow other indices, or the same one. */
TEST(BoundLookedUp, CountsPartsOfRowsThatAreLookedUp) {
    enum { T };
    static const char *const parts[] = {"j",   "j-1:j+1", "n-1-j", "2:5", ":",
                                        "2*j", "e",       "j+e",   "e:j", "j:j+2:2"};
    Random random(test_seed("BoundLookedUp.Parts"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    for (int64_t round = 0; round < scaled(200) && !HasFailure(); round++) {
        const int64_t n_rows = random.number(1, 12), n_threads = random.number(1, 9);
        const int64_t n_parts = 18, step = random.number(1, 2);
        const std::string part = parts[random.number(0, 9)];
        std::vector<int32_t> K;
        for (int64_t e = 0; e < n_threads; e++)
            K.push_back(static_cast<int32_t>(random.number(0, n_rows - 1)));
        const std::string text = "rows[e, j](i64 n): in T[K[e], " + part + "]; sum z[e]";
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, text.c_str(), nullptr, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_array *arrays[] = {nullptr, wrap(ctx, "K", &K), describe(ctx, "z", n_threads)};
        ASSERT_EQ(polytile_array_describe(ctx, "T", POLYTILE_F32, POLYTILE_EXTENTS(n_rows, n_parts),
                                          &arrays[T]),
                  POLYTILE_OK);
        const polytile_domain threads = {
            2, {{0, n_threads - 1, 1}, {0, step * random.number(0, 8 / step), step}}};
        pti_instance *instance = nullptr;
        const polytile_parameter n = POLYTILE_PARAMETER("n", n_parts);
        polytile_launch_options options = {};
        options.parameters = &n;
        options.n_parameters = 1;
        ASSERT_EQ(pti_plan_bind_operands(kernel, &threads, arrays, &options, &instance),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        std::set<std::pair<int64_t, int64_t>> read;
        const auto touch = [&](int64_t e, int64_t lo, int64_t hi, int64_t by) {
            for (int64_t p = lo; p <= hi; p += by)
                if (0 <= p && p < n_parts)
                    read.insert({K[static_cast<size_t>(e)], p});
        };
        for (int64_t e = 0; e < n_threads; e++)
            for (int64_t j = 0; j <= threads.range[1].hi; j += step) {
                const std::map<std::string, std::array<int64_t, 3>> ranges = {
                    {"j", {j, j, 1}},
                    {"j-1:j+1", {j - 1, j + 1, 1}},
                    {"n-1-j", {n_parts - 1 - j, n_parts - 1 - j, 1}},
                    {"2:5", {2, 5, 1}},
                    {":", {0, n_parts - 1, 1}},
                    {"2*j", {2 * j, 2 * j, 1}},
                    {"e", {e, e, 1}},
                    {"j+e", {j + e, j + e, 1}},
                    {"e:j", {e, j, 1}},
                    {"j:j+2:2", {j, j + 2, 2}}};
                const auto &[lo, hi, by] = ranges.at(part);
                touch(e, lo, hi, by);
            }
        bool failed = false;
        EXPECT_EQ(pti_looked_up_least_count(instance, T, PTI_READS, &failed),
                  static_cast<int64_t>(read.size()))
            << text;
        EXPECT_FALSE(failed);
        pti_instance_free(instance);
    }
    polytile_context_destroy(ctx);
}

/** Of a long launch some threads are looked at, but all rows of a matrix count. */
TEST(BoundLookedUp, OfManyThreadsIsNoMoreThanThereIs) {
    enum { N = 300000, V = 0, X = 2, K = 3 };
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    pti_instance *instance = nullptr;
    std::vector<int32_t> ends(1, 0), columns;
    for (int32_t i = 0; i < N; i++) {
        columns.push_back(i);
        columns.push_back(i / 2);
        ends.push_back(2 * i + 2);
    }
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx,
                                     "k[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]]; out y[i]",
                                     nullptr, &kernel),
              POLYTILE_OK);
    polytile_array *arrays[] = {describe(ctx, "V", 2 * N), wrap(ctx, "P", &ends),
                                describe(ctx, "x", N), wrap(ctx, "K", &columns),
                                describe(ctx, "y", N)};
    const polytile_launch_options options = {};
    ASSERT_EQ(pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(N), arrays, &options, &instance),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    bool failed = false;
    EXPECT_EQ(pti_looked_up_least_count(instance, V, PTI_READS, &failed), 2 * N);
    EXPECT_EQ(pti_looked_up_least_count(instance, K, PTI_READS, &failed), 2 * N);
    const int64_t met = pti_looked_up_least_count(instance, X, PTI_READS, &failed);
    EXPECT_GT(met, 1000);
    EXPECT_LE(met, N);
    pti_instance_free(instance);
    polytile_context_destroy(ctx);
}

} // namespace
