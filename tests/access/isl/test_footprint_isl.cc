#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/isl/footprint_isl.h"
}

namespace {

TEST(FootprintIsl, ShapesComeOutAsBoxes) {
    struct Case {
        const char *section, *threads;
        int n_boxes;
        int64_t n_elements;
    };
    const Case cases[] = {
        {"A[i, j]", "0:3, 0:4", 1, 20},
        {"A[2*i, 3*j]", "0:3, 0:4", 1, 20},
        {"A[i-1:i+1, j], A[i, j-1:j+1]", "1:3, 1:4", 5, 12 + 2 * 4 + 2 * 3},
        {"A[i, 0:i]", "0:3, 0:0", 4, 10},
        {"A[i, i]", "0:9, 0:0", 10, 10},
        {"A[i+j, 0]", "0:9, 0:9", 1, 19},
        {"A[0, 2*i+3*j]", "0:3, 0:1", 8, 8},
        {"{[i, j] -> A[a, b] : a = i and 0 <= b <= j}", "0:3, 0:4", 1, 20},
        {"{[i, j] -> A[a, b] : a = i and b = j and (a + b) mod 2 = 0}", "0:3, 0:3", 4, 8},
        {"A[:, 3]", "0:3, 0:4", 1, 40},
        {"A[i+5:i, 0]", "0:3, 0:4", 0, 0},
    };
    for (const Case &c : cases) {
        Launch launch(std::string("k[i, j]: in ") + c.section, "10x10", {{"A", "40x60"}});
        ASSERT_NE(launch.kernel(), nullptr) << launch.error();
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const polytile_domain threads = domain_of(c.threads);
        pti_boxes boxes = {};
        bool exact = false;
        ASSERT_EQ(pti_footprint_isl(launch.kernel(), launch.instance(), 0, PTI_READS, &threads, 100,
                                    &boxes, &exact),
                  POLYTILE_OK)
            << launch.error();
        EXPECT_TRUE(exact) << c.section;
        EXPECT_EQ(pti_boxes_count(&boxes), c.n_elements) << c.section;
        EXPECT_EQ(boxes.n_boxes, c.n_boxes) << c.section;
        ASSERT_EQ(pti_footprint_isl(launch.kernel(), launch.instance(), 0, PTI_WRITES, &threads,
                                    100, &boxes, &exact),
                  POLYTILE_OK);
        EXPECT_EQ(boxes.n_boxes, 0);
        pti_boxes_free(&boxes);
    }
}

TEST(FootprintIsl, TooManyBoxesAreSaidNotGiven) {
    Launch launch("k[i]: in A[i, i]", "10", {{"A", "10x10"}});
    const polytile_domain threads = domain_of("0:9");
    pti_boxes boxes = {};
    bool exact = true;
    ASSERT_EQ(pti_footprint_isl(launch.kernel(), launch.instance(), 0, PTI_READS, &threads, 9,
                                &boxes, &exact),
              POLYTILE_OK);
    EXPECT_FALSE(exact);
    EXPECT_EQ(boxes.n_boxes, 0);
    pti_boxes_free(&boxes);
}

polytile_domain draw_threads(Random *random, const polytile_domain &domain) {
    polytile_domain box = domain;
    for (int d = 0; d < domain.n_dims; d++) {
        box.range[d].lo = random->number(domain.range[d].lo, domain.range[d].hi);
        box.range[d].hi = random->number(box.range[d].lo, domain.range[d].hi);
    }
    return box;
}

std::string text_of(const pti_boxes &boxes) {
    std::string text;
    for (int b = 0; b < boxes.n_boxes; b++)
        text += text_of(boxes.box[b]);
    return text;
}

/** Compare both ways to an operand's footprint; false if one of them is too large to say. */
bool compare(const polytile_kernel *kernel, const pti_instance *instance, int operand,
             pti_touch touch, const polytile_domain &threads) {
    enum { MOST_BOXES = 3000 };
    pti_boxes through_isl = {}, closed = {};
    bool isl_exact = false;
    EXPECT_EQ(pti_footprint_isl(kernel, instance, operand, touch, &threads, MOST_BOXES,
                                &through_isl, &isl_exact),
              POLYTILE_OK);
    const bool closed_exact =
        pti_footprint_boxes(instance, operand, touch, &threads, MOST_BOXES, &closed);
    Elements one(instance->operand[operand].domain), other(instance->operand[operand].domain);
    one.add(through_isl);
    other.add(closed);
    EXPECT_TRUE(!isl_exact || one.count() == pti_boxes_count(&through_isl)) << "not disjoint";
    EXPECT_TRUE(!isl_exact || other.contains(one))
        << text_of(*instance) << " threads " << text_of(threads);
    const bool both = isl_exact && closed_exact;
    EXPECT_TRUE(!both || one == other)
        << text_of(*instance) << " threads " << text_of(threads) << " through isl "
        << text_of(through_isl) << " in closed form " << text_of(closed);
    pti_boxes_free(&through_isl);
    pti_boxes_free(&closed);
    return both;
}

TEST(FootprintIsl, AgreesWithTheClosedForm) {
    Random random(test_seed("FootprintIsl.AgreesWithTheClosedForm"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.most_dims = 3;
    int64_t n_compared = 0, n_exact = 0;
    for (int64_t round = scaled(2000); round > 0 && !::testing::Test::HasFailure();) {
        RandomLaunch launch(ctx, &random, shape);
        launch.grow_arrays();
        const pti_instance *drawn = nullptr;
        if (!launch.is_small() || launch.instantiate(&drawn) != POLYTILE_OK)
            continue;
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, launch.declaration_text().c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        std::vector<polytile_array *> arrays;
        for (const polytile_domain &domain : launch.array_domains()) {
            arrays.push_back(nullptr);
            polytile_array_describe(ctx, "array", POLYTILE_F32, &domain, &arrays.back());
        }
        pti_instance *instance = nullptr;
        ASSERT_EQ(pti_instance_create(kernel, &launch.threads(), arrays.data(),
                                      kernel->declaration->n_parameters, launch.parameters().data(),
                                      &instance),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        for (int p = 0; p < instance->n_operands; p++)
            for (pti_touch touch : {PTI_READS, PTI_WRITES, PTI_TOUCHES}) {
                const polytile_domain threads = draw_threads(&random, launch.threads());
                n_compared++;
                n_exact += compare(kernel, instance, p, touch, threads);
            }
        pti_instance_free(instance);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
        polytile_kernel_destroy(kernel);
        round--;
    }
    std::printf("%lld of %lld footprints are exact in both ways\n", static_cast<long long>(n_exact),
                static_cast<long long>(n_compared));
    EXPECT_GE(n_exact, least_count(n_compared, 0.9));
    polytile_context_destroy(ctx);
}

} // namespace
