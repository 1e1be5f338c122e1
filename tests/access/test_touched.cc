#include "support/launch.h"
#include "support/random_instance.h"
#include "support/scale.h"

#include <gtest/gtest.h>

extern "C" {
#include "access/touched.h"
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

} // namespace
