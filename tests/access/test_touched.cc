#include "support/launch.h"
#include "support/random_instance.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "access/touched.h"
#include "partition/window/plan.h"
}

namespace {

void add(const polytile_domain *box, void *user) {
    static_cast<Elements *>(user)->add(*box);
}

Elements touched(const polytile_kernel *kernel, const pti_instance *instance, int operand,
                 pti_touch touch, const polytile_domain &threads, bool *is_exact) {
    Elements elements(instance->operand[operand].domain);
    EXPECT_EQ(
        pti_touched_each(kernel, instance, operand, touch, &threads, add, &elements, is_exact),
        POLYTILE_OK);
    return elements;
}

/** Sections of random launches, by all of their threads and by one. */
TEST(Touched, IsWhatEachThreadTouches) {
    Random random(test_seed("Touched.IsWhatEachThreadTouches"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    for (int64_t round = 0; round < scaled(400) && !HasFailure(); round++) {
        RandomLaunch launch(ctx, &random, shape);
        const pti_instance *instance = nullptr;
        if (!launch.is_small() || launch.instantiate(&instance) != POLYTILE_OK)
            continue;
        polytile_domain threads = launch.threads();
        for (int k = 0; k < threads.n_dims; k++)
            if (random.chance(50))
                threads.range[k].hi = threads.range[k].lo;
        for (int o = 0; o < instance->n_operands; o++)
            for (pti_touch touch : {PTI_READS, PTI_WRITES, PTI_TOUCHES}) {
                Elements expected(instance->operand[o].domain);
                for (int s = 0; s < instance->operand[o].n_sections; s++) {
                    const pti_section &section =
                        instance->section[instance->operand[o].first_section + s];
                    if (pti_section_counts(&section, touch))
                        add_touched(section, threads, &expected);
                }
                bool is_exact;
                EXPECT_TRUE(touched(nullptr, instance, o, touch, threads, &is_exact) == expected)
                    << text_of(*instance);
                EXPECT_TRUE(is_exact);
            }
    }
    polytile_context_destroy(ctx);
}

TEST(Touched, OfARelationIsWhatIsDeclared) {
    const Launch launch("k[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j and b mod 2 = 0}; "
                        "out {[i, j] -> B[a, b] : a = i and b = j and i + j < 6}",
                        "5x4", {{"A", "5x4"}, {"B", "5x4"}});
    ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
    for (const char *text : {"0:4, 0:3", "2:2, 3:3", "4:4, 2:3", "1:3, 1:2"}) {
        const polytile_domain threads = domain_of(text);
        const pti_instance *instance = launch.instance();
        const int a = launch.operand("A"), b = launch.operand("B");
        Elements read(instance->operand[a].domain), written(instance->operand[b].domain);
        for_each_point(threads, [&](const Point &thread) {
            for (int64_t column = 0; column <= thread[1]; column += 2)
                read.add(Point{thread[0], column});
            if (thread[0] + thread[1] < 6)
                written.add(thread);
        });
        bool is_exact;
        EXPECT_TRUE(touched(launch.kernel(), instance, a, PTI_READS, threads, &is_exact) == read);
        EXPECT_TRUE(is_exact);
        EXPECT_TRUE(touched(launch.kernel(), instance, b, PTI_WRITES, threads, &is_exact) ==
                    written);
        EXPECT_TRUE(is_exact);
    }
}

/** An array of int32_t, or one without memory. */
polytile_array *add_array(polytile_context *ctx, const char *name, int64_t extent,
                          std::vector<int32_t> *of) {
    polytile_array *array = nullptr;
    EXPECT_EQ(
        of != nullptr
            ? polytile_array_wrap(ctx, name, POLYTILE_I32, 1, &extent, of->data(), &array)
            : polytile_array_describe(ctx, name, POLYTILE_F32, POLYTILE_EXTENTS(extent), &array),
        POLYTILE_OK);
    return array;
}

/** Rows of random length, with random columns. */
TEST(Touched, OfWhatIsLookedUpIsWhatThreadsLookUp) {
    enum { V, P, X, K, Y };
    Random random(test_seed("Touched.OfWhatIsLookedUpIsWhatThreadsLookUp"));
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(
                  ctx, "rows[i]: in V[P[i]:P[i+1]-1], x[K[P[i]:P[i+1]-1]+1]; sum y[K[P[i]]]",
                  nullptr, &kernel),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    for (int64_t round = 0; round < scaled(100) && !HasFailure(); round++) {
        const int64_t n_rows = random.number(1, 20), n_columns = random.number(2, 30);
        std::vector<int32_t> ends(1, 0), columns;
        for (int64_t i = 0; i < n_rows; i++) {
            for (int64_t k = random.number(0, 4); k > 0; k--)
                columns.push_back(static_cast<int32_t>(random.number(0, n_columns - 2)));
            ends.push_back(static_cast<int32_t>(columns.size()));
        }
        columns.push_back(0);
        const auto n_entries = static_cast<int64_t>(columns.size());
        polytile_array *arrays[] = {
            add_array(ctx, "V", n_entries, nullptr), add_array(ctx, "P", n_rows + 1, &ends),
            add_array(ctx, "x", n_columns, nullptr), add_array(ctx, "K", n_entries, &columns),
            add_array(ctx, "y", n_columns, nullptr)};
        pti_instance *instance = nullptr;
        const polytile_launch_options options = {};
        ASSERT_EQ(
            pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(n_rows), arrays, &options, &instance),
            POLYTILE_OK)
            << polytile_last_error(ctx);
        const int64_t lo = random.number(0, n_rows - 1), hi = random.number(lo, n_rows - 1);
        Elements expected_V(instance->operand[V].domain), expected_x(instance->operand[X].domain),
            expected_y(instance->operand[Y].domain);
        for (int64_t i = lo; i <= hi; i++) {
            expected_y.add(Point{columns[static_cast<size_t>(ends[static_cast<size_t>(i)])]});
            for (int64_t e = ends[static_cast<size_t>(i)]; e < ends[static_cast<size_t>(i) + 1];
                 e++) {
                expected_V.add(Point{e});
                expected_x.add(Point{columns[static_cast<size_t>(e)] + 1});
            }
        }
        bool is_exact;
        const polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
        EXPECT_TRUE(touched(kernel, instance, V, PTI_READS, threads, &is_exact) == expected_V);
        EXPECT_TRUE(is_exact);
        EXPECT_TRUE(touched(kernel, instance, X, PTI_READS, threads, &is_exact) == expected_x);
        EXPECT_TRUE(is_exact);
        EXPECT_TRUE(touched(kernel, instance, Y, PTI_WRITES, threads, &is_exact) == expected_y);
        EXPECT_TRUE(is_exact);
        pti_instance_free(instance);
    }
    polytile_context_destroy(ctx);
}

} // namespace
