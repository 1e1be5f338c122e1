#include <algorithm>
#include <gtest/gtest.h>

#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "access/footprint/narrow.h"
#include "access/set/boxes.h"
}

namespace {

/** A kernel of a text over arrays that are only described, all of one context. */
class Narrowed : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_kernel *create(const std::string &declaration) {
        const polytile_implementation none = {};
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx, declaration.c_str(), &none, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx);
        return kernel;
    }

    std::vector<polytile_array *> describe(const std::vector<polytile_domain> &domains) {
        std::vector<polytile_array *> arrays;
        for (const polytile_domain &domain : domains) {
            arrays.push_back(nullptr);
            EXPECT_EQ(polytile_array_describe(ctx, "A", POLYTILE_F64, &domain, &arrays.back()),
                      POLYTILE_OK)
                << polytile_last_error(ctx);
        }
        return arrays;
    }

    /** What threads touch of each array, or its first element. */
    static std::vector<polytile_domain> find_touched(const pti_instance &whole,
                                                     const polytile_domain &threads) {
        std::vector<polytile_domain> touched;
        for (int p = 0; p < whole.n_operands; p++) {
            polytile_domain hull = pti_footprint_hull(&whole, p, PTI_TOUCHES, &threads);
            const bool is_any = !pti_box_is_empty(&hull);
            if (!is_any)
                hull = whole.operand[p].domain;
            for (int d = 0; d < hull.n_dims; d++)
                hull.range[d] = {hull.range[d].lo, is_any ? hull.range[d].hi : hull.range[d].lo, 1};
            touched.push_back(hull);
        }
        return touched;
    }

    /** Whether steps count from the same elements: those from the first of a smaller array do
     * not. */
    static bool have_equal_lattices(const pti_instance &one, const pti_instance &other, int p) {
        bool are_equal = true;
        for (int k = 0; k < one.operand[p].n_sections; k++) {
            const int s = one.operand[p].first_section + k;
            for (int d = 0; d < one.section[s].n_dims; d++) {
                const pti_subscript &a = one.section[s].subscript[d];
                const pti_subscript &b = other.section[s].subscript[d];
                are_equal =
                    are_equal && (a.lo.constant - b.lo.constant) % std::max(a.step, b.step) == 0;
            }
        }
        return are_equal;
    }

    /** Those of a whole may be larger where some of its threads write less than a hull: it is read
     * first there. */
    static void expect_equal_footprints(const pti_instance &one, const pti_instance &other,
                                        const polytile_domain &threads) {
        for (int p = 0; p < one.n_operands; p++)
            for (const pti_touch touch : {PTI_TOUCHES, PTI_READS, PTI_WRITES}) {
                if (!have_equal_lattices(one, other, p) ||
                    one.operand[p].partial != other.operand[p].partial)
                    continue;
                const polytile_domain a = pti_footprint_hull(&one, p, touch, &threads);
                const polytile_domain b = pti_footprint_hull(&other, p, touch, &threads);
                EXPECT_TRUE(pti_box_equals(&a, &b) ||
                            (pti_box_is_empty(&a) && pti_box_is_empty(&b)))
                    << "operand " << p;
            }
    }

    /** Whether sections are written alike: ends that are left out are those of the array, which may
     * be smaller in one of them. */
    static bool have_equal_ends(const pti_section &one, const pti_section &other) {
        bool are_equal = true;
        for (int d = 0; d < one.n_dims; d++)
            are_equal = are_equal &&
                        one.subscript[d].lo.constant == other.subscript[d].lo.constant &&
                        one.subscript[d].hi.constant == other.subscript[d].hi.constant;
        return are_equal;
    }

    static void expect_equal(const pti_instance &one, const pti_instance &other) {
        ASSERT_EQ(one.n_sections, other.n_sections);
        for (int s = 0; s < one.n_sections; s++) {
            if (have_equal_ends(one.section[s], other.section[s])) {
                EXPECT_EQ(one.section[s].may_be_empty, other.section[s].may_be_empty) << s;
            }
            EXPECT_EQ(one.section[s].is_box, other.section[s].is_box) << s;
        }
        for (int p = 0; p < one.n_operands; p++) {
            const pti_operand &a = one.operand[p], &b = other.operand[p];
            EXPECT_EQ(a.reads, b.reads) << p;
            EXPECT_EQ(a.writes, b.writes) << p;
            EXPECT_EQ(a.partial, b.partial) << p;
            EXPECT_EQ(a.fresh, b.fresh) << p;
            EXPECT_TRUE(pti_box_equals(&a.domain, &b.domain)) << p;
            EXPECT_EQ(a.first_section, b.first_section) << p;
        }
    }

    /** The threads of a launch, out of the whole, are as a launch of them alone. */
    void expect_alike(const polytile_kernel *kernel, const pti_instance &whole,
                      const polytile_domain &threads, const std::vector<polytile_domain> &domains,
                      const std::vector<polytile_parameter> &parameters) {
        const std::vector<polytile_array *> arrays = describe(domains);
        pti_instance *narrowed = nullptr, *anew = nullptr;
        ASSERT_EQ(pti_instance_narrow(kernel, &whole, &threads, arrays.data(), &narrowed),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        EXPECT_EQ(narrowed->declaration_hash, whole.declaration_hash);
        EXPECT_TRUE(pti_box_equals(&narrowed->threads, &threads));
        expect_equal_footprints(*narrowed, whole, threads);
        if (pti_instance_create(kernel, &threads, arrays.data(),
                                static_cast<int>(parameters.size()), parameters.data(),
                                &anew) == POLYTILE_OK) {
            expect_equal(*narrowed, *anew);
            expect_equal_footprints(*narrowed, *anew, threads);
            n_compared++;
        }
        pti_instance_free(narrowed);
        pti_instance_free(anew);
        for (polytile_array *array : arrays)
            polytile_array_destroy(array);
    }

    polytile_context *ctx = nullptr;
    int n_compared = 0;
};

TEST_F(Narrowed, WhatIsKnownOfTheThreadsAloneIsFoundAnew) {
    polytile_kernel *kernel = create("k[i]: in x[0:i-5]; inout A[i, i]");
    const std::vector<polytile_domain> domains = {domain_of("100"), domain_of("100x100")};
    const std::vector<polytile_array *> arrays = describe(domains);
    const polytile_domain all = domain_of("100"), few = domain_of("10:19");
    pti_instance *whole = nullptr, *part = nullptr;
    ASSERT_EQ(pti_instance_create(kernel, &all, arrays.data(), 0, nullptr, &whole), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(pti_instance_narrow(kernel, whole, &few, arrays.data(), &part), POLYTILE_OK);
    EXPECT_TRUE(whole->section[0].may_be_empty);
    EXPECT_FALSE(part->section[0].may_be_empty);
    EXPECT_TRUE(whole->operand[1].partial);
    EXPECT_FALSE(part->operand[1].partial);
    pti_instance_free(whole);
    pti_instance_free(part);
}

TEST_F(Narrowed, ThreadsWhoseStepsMissTheirSmallerArrayAreNotRefused) {
    polytile_kernel *kernel = create("k[i, j]: in A[i-20:i+20:40, j]; out y[i, j]");
    const std::vector<polytile_array *> arrays = describe({domain_of("10x10"), domain_of("3x10")});
    const std::vector<polytile_array *> smaller =
        describe({domain_of("0:0, 0:0"), domain_of("0:0, 5:5")});
    const polytile_domain all = domain_of("3x10"), first = domain_of("0:0, 5:5");
    pti_instance *whole = nullptr, *part = nullptr, *anew = nullptr;
    ASSERT_EQ(pti_instance_create(kernel, &all, arrays.data(), 0, nullptr, &whole), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(pti_instance_create(kernel, &first, smaller.data(), 0, nullptr, &anew),
              POLYTILE_DECLARATION);
    ASSERT_EQ(pti_instance_narrow(kernel, whole, &first, smaller.data(), &part), POLYTILE_OK);
    const polytile_domain hull = pti_footprint_hull(part, 0, PTI_TOUCHES, &first);
    EXPECT_TRUE(pti_box_is_empty(&hull));
    pti_instance_free(whole);
    pti_instance_free(part);
}

/** Over the same arrays, and over as much of them as is touched. One of three launches or so can be
 * compared. */
TEST_F(Narrowed, RandomBoxesAreAsLaunchesOfTheirOwn) {
    Random random(test_seed("Narrowed"));
    const int64_t least = scaled(500);
    for (int64_t k = 0; k < scaled(3000) || (n_compared <= least && k < 100 * least); k++) {
        RandomLaunch launch(ctx, &random, RandomShape{});
        const pti_instance *whole = nullptr;
        if (!launch.is_small() || launch.instantiate(&whole) != POLYTILE_OK)
            continue;
        polytile_kernel *kernel = create(launch.declaration_text());
        const std::vector<polytile_array *> arrays = describe(launch.array_domains());
        pti_instance *same = nullptr;
        polytile_domain threads = launch.threads();
        for (int d = 0; d < threads.n_dims; d++) {
            threads.range[d].lo = random.number(threads.range[d].lo, threads.range[d].hi);
            threads.range[d].hi = random.number(threads.range[d].lo, threads.range[d].hi);
        }
        const int n_parameters = static_cast<int>(launch.parameters().size());
        if (pti_instance_create(kernel, &launch.threads(), arrays.data(), n_parameters,
                                launch.parameters().data(), &same) == POLYTILE_OK) {
            SCOPED_TRACE(launch.declaration_text());
            expect_alike(kernel, *same, threads, launch.array_domains(), launch.parameters());
            expect_alike(kernel, *same, threads, find_touched(*same, threads), launch.parameters());
        }
        pti_instance_free(same);
        polytile_kernel_destroy(kernel);
        ASSERT_FALSE(HasFailure());
    }
    EXPECT_GT(n_compared, least);
}

} // namespace
