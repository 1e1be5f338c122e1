#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "partition/prove/needs/needs.h"
#include "partition/window/plan.h"
}

namespace {

enum { X, MOST_BOXES = 16 };

/** A gather, as a bound launch. */
class Gathered : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    void TearDown() override {
        pti_instance_free(instance);
        polytile_context_destroy(ctx);
    }

    /** Bind x of so many elements, with the indices in K. */
    void bind(int64_t n) {
        const int64_t n_indices = static_cast<int64_t>(K.size());
        const polytile_launch_options options = {};
        pti_instance_free(instance);
        instance = nullptr;
        create(n);
        ASSERT_EQ(pti_plan_bind_operands(kernel, POLYTILE_EXTENTS(n_indices), arrays, &options,
                                         &instance),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
    }

    void create(int64_t n) {
        const int64_t n_indices = static_cast<int64_t>(K.size());
        ASSERT_EQ(polytile_kernel_create(ctx, "gather[e]: in x[K[e]]; out z[e]", nullptr, &kernel),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_describe(ctx, "x", POLYTILE_F32, POLYTILE_EXTENTS(n), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "K", POLYTILE_I64, 1, &n_indices, K.data(), &arrays[1]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_describe(ctx, "z", POLYTILE_F32, POLYTILE_EXTENTS(n_indices),
                                          &arrays[2]),
                  POLYTILE_OK);
    }

    /** Whether all that threads look up is in a set, by the checker. */
    bool is_covered(const polytile_domain &threads, const pti_boxes &set) const {
        polytile_domain missing;
        const pti_section *section = &instance->section[instance->operand[X].first_section];
        return pti_needs_covered(instance, section, &threads, &set, &missing);
    }

    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    pti_instance *instance = nullptr;
    polytile_array *arrays[3] = {};
    std::vector<int64_t> K;
};

/** Some indices in clusters. */
std::vector<int64_t> draw_indices(int64_t n, Random *random) {
    std::vector<int64_t> indices;
    const int64_t n_clusters = random->one_of({1, 2, 5, 40}), width = random->number(1, n);
    std::vector<int64_t> first;
    for (int64_t c = 0; c < n_clusters; c++)
        first.push_back(random->number(0, n - 1));
    const int64_t n_indices = random->one_of({1, 2, 97, 600, 3000});
    for (int64_t e = 0; e < n_indices; e++) {
        const size_t c = static_cast<size_t>(random->number(0, n_clusters - 1));
        indices.push_back(std::min(n - 1, first[c] + random->number(0, width / n_clusters)));
    }
    return indices;
}

bool contains(const pti_boxes &set, int64_t index) {
    const polytile_domain element = polytile_domain_from_bounds(1, &index, &index);
    return pti_boxes_cover(&set, &element);
}

/** How many indices are in the largest gaps between cells, of some 1024 over all, in which some
 * index lies. */
int64_t count_in_gaps(std::vector<int64_t> indices) {
    enum { N_CELLS = 1024, MOST_GAPS = 15 };
    std::sort(indices.begin(), indices.end());
    const int64_t first = indices.front();
    int64_t shift = 0, n_indices = 0;
    while ((indices.back() - first) >> shift >= N_CELLS)
        shift++;
    std::vector<int64_t> gaps;
    for (size_t k = 1; k < indices.size(); k++)
        gaps.push_back(std::max<int64_t>(0, ((indices[k] - first) >> shift) -
                                                ((indices[k - 1] - first) >> shift) - 1));
    std::sort(gaps.rbegin(), gaps.rend());
    for (size_t k = 0; k < gaps.size() && k < MOST_GAPS; k++)
        n_indices += gaps[k] << shift;
    return n_indices;
}

TEST_F(Gathered, FootprintsLeaveOutTheLargestGapsOrNone) {
    Random random(test_seed("Gathered.Gaps"));
    int64_t n_left_out = 0;
    const int64_t n_rounds = scaled(100);
    for (int64_t round = 0; round < n_rounds && !HasFatalFailure(); round++) {
        const int64_t n = random.one_of({101, 5000, 100000, 1000000});
        K = draw_indices(n, &random);
        for (int64_t more = random.one_of({0, 0, 20}); more > 0; more--)
            K.insert(K.end(), K.begin(), K.begin() + static_cast<int64_t>(K.size()) / 4);
        bind(n);
        const int64_t n_threads = static_cast<int64_t>(K.size());
        const int64_t lo = random.number(0, n_threads - 1), hi = random.number(lo, n_threads - 1);
        const polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
        const polytile_domain hull = pti_footprint_hull(instance, X, PTI_READS, &threads);
        pti_boxes boxes = {};
        pti_footprint_boxes(instance, X, PTI_READS, &threads, MOST_BOXES, &boxes);
        const int64_t in_gaps = count_in_gaps({K.begin() + lo, K.begin() + hi + 1});
        const int64_t left_out = pti_box_count(&hull) - pti_boxes_count(&boxes);
        if (left_out > 0 || (hi - lo < 512 && 4 * in_gaps >= pti_box_count(&hull)))
            ASSERT_EQ(left_out, in_gaps);
        n_left_out += left_out > 0;
        pti_boxes_free(&boxes);
    }
    EXPECT_TRUE(n_rounds < 20 || n_left_out > 0);
}

TEST_F(Gathered, FootprintsHoldAllThatIsLookedUpAndNoMoreThanTheHull) {
    Random random(test_seed("Gathered"));
    for (int64_t round = 0; round < scaled(100) && !HasFatalFailure(); round++) {
        const int64_t n = random.one_of({1, 2, 101, 5000, 100000});
        K = draw_indices(n, &random);
        bind(n);
        const int64_t n_threads = static_cast<int64_t>(K.size());
        const int64_t lo = random.number(0, n_threads - 1), hi = random.number(lo, n_threads - 1);
        const polytile_domain threads = polytile_domain_from_bounds(1, &lo, &hi);
        const polytile_domain hull = pti_footprint_hull(instance, X, PTI_READS, &threads);
        pti_boxes boxes = {};
        pti_footprint_boxes(instance, X, PTI_READS, &threads, MOST_BOXES, &boxes);
        EXPECT_LE(boxes.n_boxes, MOST_BOXES);
        EXPECT_LE(pti_boxes_count(&boxes), pti_box_count(&hull));
        for (int64_t e = lo; e <= hi; e++)
            ASSERT_TRUE(contains(boxes, K[static_cast<size_t>(e)])) << e;
        EXPECT_TRUE(is_covered(threads, boxes));
        const int64_t lost = K[static_cast<size_t>(random.number(lo, hi))];
        const polytile_domain element = polytile_domain_from_bounds(1, &lost, &lost);
        pti_boxes_subtract(&boxes, &element);
        EXPECT_FALSE(is_covered(threads, boxes));
        pti_boxes_free(&boxes);
    }
}

TEST_F(Gathered, FootprintsLeaveOutWhatLiesBetweenTwoBands) {
    const int64_t n = 100000, n_threads = 2000;
    K.clear();
    for (int64_t e = 0; e < n_threads; e++)
        K.push_back(e / 2 + e % 2 * n / 2);
    bind(n);
    pti_boxes boxes = {};
    pti_footprint_boxes(instance, X, PTI_READS, &instance->threads, MOST_BOXES, &boxes);
    EXPECT_EQ(boxes.n_boxes, 2);
    EXPECT_LE(pti_boxes_count(&boxes), 2400);
    pti_boxes_free(&boxes);
}

TEST_F(Gathered, PlansMoveLittleMoreThanWhatIsLookedUp) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    const int64_t n = 1 << 20;
    polytile_plan *plan = nullptr;
    polytile_plan_summary summary;
    polytile_launch_options options = {};
    K.clear();
    for (int64_t e = 0; e < n; e++)
        K.push_back(e / 2 + e % 2 * n / 2);
    create(n);
    options.plan.limit_bytes = 3 << 20;
    ASSERT_EQ(polytile_plan_create(kernel, POLYTILE_EXTENTS(n), 3, arrays, &options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_plan_get_summary(plan, &summary);
    EXPECT_GT(summary.n_kernels, 1);
    EXPECT_LE(summary.h2d_bytes, n * 8 + n * 4 * 5 / 4);
}

} // namespace
