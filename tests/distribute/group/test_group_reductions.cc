#include "support/environment.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <string>
#include <vector>

/* Reductions of which several devices know a part each. */

namespace {

POLYTILE_KERNEL(total, (i), (const uint32_t, x, 1), (uint32_t, s, 1)) {
    PT_SUM(PT_AT(s, 0), PT_AT(x, i));
}

POLYTILE_KERNEL(stencil, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2), (uint32_t, s, 1)) {
    const uint32_t value = PT_AT(A, i - 1, j) + 2 * PT_AT(A, i + 1, j) + 3 * PT_AT(A, i, j - 1) +
                           5 * PT_AT(A, i, j + 1);
    PT_AT(B, i, j) = value;
    PT_SUM(PT_AT(s, 0), value);
}

constexpr int64_t n_rows = 5, n_columns = 20, n_deep = 8;

/* Rows of B from the thread's own on, columns up to one that depends on it. */
POLYTILE_KERNEL(wedge, (j, l, k), (const uint32_t, v, 3), (uint32_t, A, 2), (uint32_t, B, 2)) {
    PT_SUM(PT_AT(A, k, l), PT_AT(v, j, l, k));
    for (int64_t row = j; row < n_rows; row++)
        for (int64_t column = l; column <= 4 * j + 2; column++)
            PT_SUM(PT_AT(B, row, column), PT_AT(v, j, l, k));
}

POLYTILE_KERNEL(column_total, (i, j), (const uint32_t, x, 1), (uint32_t, S, 2)) {
    PT_SUM(PT_AT(S, 1, j), PT_AT(x, i));
}

/* No element of A is in an odd column. */
POLYTILE_KERNEL(count, (i), (const uint32_t, A, 2), (uint32_t, B, 1)) {
    PT_AT(B, i) = static_cast<uint32_t>(i + 1);
}

/* What is named from an element before the array on, in steps of two: of l = 0 none of it is
 * there. */
POLYTILE_KERNEL(every_second, (i, l, m), (uint32_t, v, 2), (uint32_t, A, 1)) {
    PT_AT(v, i, l) = static_cast<uint32_t>(i * i % 1009 + l);
    for (int64_t k = m + 2; k <= 6 + 4 * l; k += 2)
        PT_SUM(PT_AT(A, k), PT_AT(v, i, l));
}

class GroupReductions : public testing::TestWithParam<const char *> {
  protected:
    GroupReductions() {
        environment_.set("POLYTILE_CHECK", "plan");
        polytile_context_create(&ctx_);
        polytile_queue_create(ctx_, GetParam(), &queue_);
    }
    ~GroupReductions() override { polytile_context_destroy(ctx_); }

    polytile_array *wrap(const char *name, std::vector<int64_t> extents,
                         std::vector<uint32_t> *memory) {
        polytile_array *array = nullptr;
        EXPECT_EQ(polytile_array_wrap(ctx_, name, POLYTILE_U32, static_cast<int>(extents.size()),
                                      extents.data(), memory->data(), &array),
                  POLYTILE_OK);
        EXPECT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(array)), POLYTILE_OK) << error();
        return array;
    }
    polytile_kernel *kernel(const char *declaration, const polytile_implementation *body) {
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, body, &kernel), POLYTILE_OK) << error();
        return kernel;
    }
    std::string error() const { return polytile_last_error(ctx_); }

    Environment environment_;
    polytile_context *ctx_ = nullptr;
    polytile_queue *queue_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(
    Devices, GroupReductions,
    testing::Values("host", "host,host", "host(memory=1MiB),host(memory=1MiB)",
                    "host(memory=16KiB),host(memory=16KiB),host(memory=8KiB)"));

/* Threads of every part of x, of which the first device often has none. */
TEST_P(GroupReductions, BeginAnewWhoeverHasThreads) {
    std::vector<uint32_t> x(100), s(1, 1000);
    for (uint32_t i = 0; i < 100; i++)
        x[i] = i * i;
    polytile_array *const of_x = wrap("x", {100}, &x), *const of_s = wrap("s", {1}, &s);
    polytile_kernel *const fresh = kernel("total[i]: in x[i]; out sum s[0]", &total_kernel);
    polytile_kernel *const more = kernel("total[i]: in x[i]; sum s[0]", &total_kernel);
    for (const int64_t lo : {0, 40, 60, 99}) {
        const polytile_domain threads = {1, {{lo, 99, 1}}};
        uint32_t sum = 0;
        for (int64_t i = lo; i < 100; i++)
            sum += static_cast<uint32_t>(i * i);
        ASSERT_EQ(
            polytile_queue_launch(queue_, fresh, &threads, POLYTILE_ARRAYS(of_x, of_s), nullptr),
            POLYTILE_OK)
            << error();
        ASSERT_EQ(
            polytile_queue_launch(queue_, more, &threads, POLYTILE_ARRAYS(of_x, of_s), nullptr),
            POLYTILE_OK)
            << error();
        ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_s)), POLYTILE_OK) << error();
        EXPECT_EQ(s[0], 2 * sum) << "from " << lo;
        ASSERT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(of_s)), POLYTILE_OK) << error();
    }
}

/* A step and its residual in one launch, again and again. */
TEST_P(GroupReductions, GoBesideWhatEachThreadWritesAlone) {
    constexpr int64_t n = 24, n_steps = 6;
    const auto at = [](int64_t i, int64_t j) { return static_cast<size_t>(i * n + j); };
    std::vector<uint32_t> memory[2] = {std::vector<uint32_t>(n * n), std::vector<uint32_t>(n * n)};
    std::vector<uint32_t> s(1, 7);
    for (size_t k = 0; k < n * n; k++)
        memory[0][k] = static_cast<uint32_t>(k * k % 101);
    std::vector<uint32_t> expected[2] = {memory[0], memory[1]};
    uint32_t sum = 7;
    polytile_array *const fields[2] = {wrap("A", {n, n}, &memory[0]),
                                       wrap("B", {n, n}, &memory[1])};
    polytile_array *const of_s = wrap("s", {1}, &s);
    polytile_kernel *const step = kernel(
        "stencil[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]; sum s[0]", &stencil_kernel);
    for (int64_t t = 0; t < n_steps; t++) {
        const std::vector<uint32_t> &from = expected[t % 2];
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                sum += expected[1 - t % 2][at(i, j)] = from[at(i - 1, j)] + 2 * from[at(i + 1, j)] +
                                                       3 * from[at(i, j - 1)] +
                                                       5 * from[at(i, j + 1)];
        ASSERT_EQ(polytile_queue_launch(queue_, step, POLYTILE_INTERIOR(1, n, n),
                                        POLYTILE_ARRAYS(fields[t % 2], fields[1 - t % 2], of_s),
                                        nullptr),
                  POLYTILE_OK)
            << error();
    }
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(fields[0], fields[1], of_s)),
              POLYTILE_OK)
        << error();
    EXPECT_EQ(s[0], sum);
    EXPECT_EQ(memory[0], expected[0]);
    EXPECT_EQ(memory[1], expected[1]);
}

/* Dealt out by the columns of B, of which a device is told by some rows' threads alone; by the rows
 * of A it owns what all threads reduce into. */
TEST_P(GroupReductions, OfOneArrayAreWholeWhereThoseOfAnotherOverlap) {
    std::vector<uint32_t> v(n_rows * 2 * n_deep), A(n_deep * 2, 1), B(n_rows * n_columns, 2);
    for (size_t k = 0; k < v.size(); k++)
        v[k] = static_cast<uint32_t>(k * k % 1009);
    std::vector<uint32_t> expected_A = A, expected_B = B;
    for (int64_t j = 0; j < n_rows; j++)
        for (int64_t l = 0; l < 2; l++)
            for (int64_t k = 0; k < n_deep; k++) {
                const uint32_t value = v[static_cast<size_t>((j * 2 + l) * n_deep + k)];
                expected_A[static_cast<size_t>(k * 2 + l)] += value;
                for (int64_t row = j; row < n_rows; row++)
                    for (int64_t column = l; column <= 4 * j + 2; column++)
                        expected_B[static_cast<size_t>(row * n_columns + column)] += value;
            }
    polytile_array *const of_v = wrap("v", {n_rows, 2, n_deep}, &v),
                          *const of_A = wrap("A", {n_deep, 2}, &A),
                          *const of_B = wrap("B", {n_rows, n_columns}, &B);
    polytile_kernel *const both =
        kernel("wedge[j, l, k]: in v[j, l, k]; sum A[k, l]; sum B[j:4, l:4*j+2]", &wedge_kernel);
    const polytile_domain threads = {3, {{0, n_rows - 1, 1}, {0, 1, 1}, {0, n_deep - 1, 1}}};
    ASSERT_EQ(
        polytile_queue_launch(queue_, both, &threads, POLYTILE_ARRAYS(of_v, of_A, of_B), nullptr),
        POLYTILE_OK)
        << error();
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_v, of_A, of_B)), POLYTILE_OK)
        << error();
    EXPECT_EQ(A, expected_A);
    EXPECT_EQ(B, expected_B);
}

/* What one device accepts several do, too: the section lies in the array, if in a gap of its
 * steps. */
TEST_P(GroupReductions, SectionsWhoseStepsMissAllElementsAreNone) {
    std::vector<uint32_t> A(9, 3), B(4, 0);
    const polytile_domain even = {2, {{0, 8, 1}, {4, 4, 1}}}, threads = {1, {{0, 3, 1}}};
    polytile_array *of_A = nullptr, *const of_B = wrap("B", {4}, &B);
    ASSERT_EQ(polytile_array_wrap_domain(ctx_, "A", POLYTILE_U32, &even, A.data(), &of_A),
              POLYTILE_OK);
    ASSERT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(of_A)), POLYTILE_OK) << error();
    polytile_kernel *const counts =
        kernel("count[i]: in A[8-2*i:8, 3:6:2]; out B[i]", &count_kernel);
    ASSERT_EQ(polytile_queue_launch(queue_, counts, &threads, POLYTILE_ARRAYS(of_A, of_B), nullptr),
              POLYTILE_OK)
        << error();
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_A, of_B)), POLYTILE_OK) << error();
    EXPECT_EQ(B, (std::vector<uint32_t>{1, 2, 3, 4}));
}

TEST_P(GroupReductions, SectionsWhoseStepsMissAllElementsAddNothing) {
    std::vector<uint32_t> v(32 * 4), A(13, 9);
    std::vector<uint32_t> expected = A;
    for (size_t i = 0; i < 32; i++)
        for (size_t l = 0; l < 4; l++)
            for (size_t k = 7; k <= 6 + 4 * l; k += 2)
                expected[k - 6] += static_cast<uint32_t>(i * i % 1009 + l);
    const polytile_domain behind = {1, {{6, 18, 1}}},
                          threads = {3, {{0, 31, 1}, {0, 3, 1}, {5, 5, 1}}};
    polytile_array *of_A = nullptr, *const of_v = wrap("v", {32, 4}, &v);
    ASSERT_EQ(polytile_array_wrap_domain(ctx_, "A", POLYTILE_U32, &behind, A.data(), &of_A),
              POLYTILE_OK);
    ASSERT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(of_A)), POLYTILE_OK) << error();
    polytile_kernel *const sums =
        kernel("every_second[i, l, m]: out v[i, l]; sum A[m:6+4*l:2]", &every_second_kernel);
    ASSERT_EQ(polytile_queue_launch(queue_, sums, &threads, POLYTILE_ARRAYS(of_v, of_A), nullptr),
              POLYTILE_OK)
        << error();
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_v, of_A)), POLYTILE_OK) << error();
    EXPECT_EQ(A, expected);
}

/* Rows of three elements, two of other memory between them. */
TEST_P(GroupReductions, OntoRowsWithAPitchLeaveWhatIsBesideThem) {
    constexpr int64_t pitch = 5, n_x = 30;
    std::vector<uint32_t> x(n_x, 7), S(4 * pitch), expected;
    for (uint32_t k = 0; k < S.size(); k++)
        S[k] = 1000 + k;
    expected = S;
    for (int64_t column = 0; column < 3; column++)
        expected[static_cast<size_t>(pitch + column)] += 7 * n_x;
    const polytile_domain rows = {2, {{0, 3, 1}, {0, 2, 1}}},
                          threads = {2, {{0, n_x - 1, 1}, {0, 2, 1}}};
    const int64_t strides[] = {pitch * 4, 4};
    polytile_array *of_S = nullptr;
    ASSERT_EQ(polytile_array_wrap_strides(ctx_, "S", POLYTILE_U32, &rows, strides, S.data(), &of_S),
              POLYTILE_OK);
    ASSERT_EQ(polytile_queue_attach(queue_, POLYTILE_ARRAYS(of_S)), POLYTILE_OK) << error();
    polytile_array *const of_x = wrap("x", {n_x}, &x);
    polytile_kernel *const add = kernel("column[i, j]: in x[i]; sum S[1, j]", &column_total_kernel);
    ASSERT_EQ(polytile_queue_launch(queue_, add, &threads, POLYTILE_ARRAYS(of_x, of_S), nullptr),
              POLYTILE_OK)
        << error();
    ASSERT_EQ(polytile_queue_detach(queue_, POLYTILE_ARRAYS(of_S)), POLYTILE_OK) << error();
    EXPECT_EQ(S, expected);
}

} // namespace
