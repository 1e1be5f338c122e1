#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "access/isl/footprint_isl.h"
}

/* Edges against an enumeration of what is declared, which knows nothing of images. */

namespace {

/** A footprint in closed form, as sorted texts of its boxes. */
std::string footprint_of(const Launch &launch, const char *threads) {
    const polytile_domain box = domain_of(threads);
    pti_boxes boxes = {};
    EXPECT_TRUE(pti_footprint_boxes(launch.instance(), 0, PTI_TOUCHES, &box, 64, &boxes));
    std::set<std::string> sorted;
    for (int b = 0; b < boxes.n_boxes; b++)
        sorted.insert(text_of(boxes.box[b]));
    pti_boxes_free(&boxes);
    std::string text;
    for (const std::string &one : sorted)
        text += (text.empty() ? "" : " ") + one;
    return text;
}

TEST(Edges, AWrappedRangeIsOneOrTwoOrTheWhole) {
    struct Case {
        const char *section, *array, *domain, *threads, *boxes;
    };
    const Case cases[] = {
        {"wrap(i-1)", "100", "100", "0:0", "[99:99]"},
        {"wrap(i-1)", "100", "100", "50:60", "[49:59]"},
        {"wrap(i-1)", "100", "100", "0:9", "[0:8] [99:99]"},
        {"wrap(i-1:i+1)", "100", "100", "0:9", "[0:10] [99:99]"},
        {"wrap(i-1:i+1)", "100", "100", "90:99", "[0:0] [89:99]"},
        {"wrap(i-1:i+1)", "100", "100", "0:99", "[0:99]"},
        {"wrap(i-1:i+1)", "5:104", "100", "0:9", "[5:10] [99:104]"},
        {"wrap(i-60:i+60)", "100", "100", "50:50", "[0:99]"},
        {"wrap(i+250)", "100", "100", "0:9", "[50:59]"},
        {"wrap(i+95)", "100", "100", "0:9", "[0:4] [95:99]"},
        {"wrap(i)", "1", "100", "0:99", "[0:0]"},
        {"wrap(i-1:i+1)", "1", "100", "7:9", "[0:0]"},
        {"wrap(i-1)", "2", "2", "0:0", "[1:1]"},
        {"wrap(-i)", "100", "100", "0:9", "[0:0] [91:99]"},
        {"wrap(i:i+10:5)", "100", "100", "92:92", "[2:2] [92:97:5]"},
        {"clamp(i-1)", "100", "100", "0:0", "[0:0]"},
        {"clamp(i-1)", "100", "100", "0:9", "[0:8]"},
        {"clamp(i+5)", "100", "100", "90:99", "[95:99]"},
        {"clamp(i+5)", "100", "100", "97:99", "[99:99]"},
        {"clamp(i-5:i-3)", "10:109", "100", "0:9", "[10:10]"},
        {"clamp(i-4:i+4:4)", "100", "100", "1:1", "[0:0] [1:5:4]"},
    };
    for (const Case &c : cases) {
        const Launch launch("k[i]: in A[" + std::string(c.section) + "]; out B[i]", c.domain,
                            {{"A", c.array}, {"B", "100"}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_EQ(footprint_of(launch, c.threads), c.boxes)
            << c.section << " over " << c.array << " by " << c.threads;
    }
}

polytile_domain draw_threads(Random *random, const polytile_domain &all) {
    polytile_domain threads = all;
    for (int k = 0; k < all.n_dims; k++) {
        const int64_t lo = random->number(all.range[k].lo, all.range[k].hi);
        threads.range[k] = {lo, random->number(lo, all.range[k].hi), 1};
    }
    return threads;
}

bool has_edges(const RandomLaunch &launch) {
    bool has = false;
    for (const pti_access &access : launch.accesses())
        has = has || pti_access_has_edges(&access);
    return has;
}

/** What some threads touch of an operand, as it was declared. */
Elements truth_of(const RandomLaunch &launch, int operand, pti_touch touch,
                  const polytile_domain &threads) {
    Elements truth(launch.array_domains()[static_cast<size_t>(operand)]);
    for (const pti_access &access : launch.accesses()) {
        pti_section by_role = {};
        by_role.role = access.role;
        by_role.fresh = access.fresh;
        if (access.array == operand && pti_section_counts(&by_role, touch))
            for_each_point(
                threads, [&](const Point &thread) { launch.add_touched(access, thread, &truth); });
    }
    return truth;
}

/** How often closed forms were exact. */
struct Tally {
    int64_t n_exact = 0, n_inexact = 0;
};

void compare(const RandomLaunch &launch, const pti_instance &instance, int operand, pti_touch touch,
             const polytile_domain &threads, Tally *tally) {
    const Elements truth = truth_of(launch, operand, touch, threads);
    Elements in_boxes(truth.domain()), in_hull(truth.domain());
    pti_boxes boxes = {};
    const bool exact = pti_footprint_boxes(&instance, operand, touch, &threads, 1000, &boxes);
    in_boxes.add(boxes);
    pti_boxes_free(&boxes);
    in_hull.add(pti_footprint_hull(&instance, operand, touch, &threads));
    (exact ? tally->n_exact : tally->n_inexact)++;
    EXPECT_TRUE(in_boxes.contains(truth));
    EXPECT_TRUE(in_hull.contains(truth));
    EXPECT_TRUE(!exact || in_boxes == truth);
}

void compare_by_isl(const RandomLaunch &launch, const polytile_kernel &kernel,
                    const pti_instance &instance, int operand, const polytile_domain &threads) {
    const Elements truth = truth_of(launch, operand, PTI_TOUCHES, threads);
    Elements by_isl(truth.domain());
    pti_boxes boxes = {};
    bool exact;
    ASSERT_EQ(pti_footprint_isl(&kernel, &instance, operand, PTI_TOUCHES, &threads, 100000, &boxes,
                                &exact),
              POLYTILE_OK);
    by_isl.add(boxes);
    pti_boxes_free(&boxes);
    EXPECT_TRUE(!exact || by_isl == truth);
}

TEST(EdgesRandom, FootprintsAreThoseOfAnEnumeration) {
    Random random(test_seed("EdgesRandom.FootprintsAreThoseOfAnEnumeration"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.edge_percent = 60;
    shape.most_indices = 3;
    shape.most_dims = 3;
    Tally tally;
    for (int64_t round = scaled(4000); round > 0 && !HasFailure();) {
        RandomLaunch launch(ctx, &random, shape);
        launch.grow_arrays();
        const pti_instance *instance = nullptr;
        if (!launch.is_small() || !has_edges(launch) ||
            launch.instantiate(&instance) != POLYTILE_OK)
            continue;
        SCOPED_TRACE(launch.declaration_text() + " " + text_of(*instance));
        for (int o = 0; o < instance->n_operands; o++)
            for (pti_touch touch : {PTI_READS, PTI_WRITES, PTI_TOUCHES})
                if (!instance->operand[o].partial) {
                    compare(launch, *instance, o, touch, launch.threads(), &tally);
                    compare(launch, *instance, o, touch, draw_threads(&random, launch.threads()),
                            &tally);
                }
        round--;
    }
    EXPECT_GT(tally.n_exact, tally.n_inexact);
    polytile_context_destroy(ctx);
}

TEST(EdgesRandom, RelationsAreThoseOfAnEnumeration) {
    Random random(test_seed("EdgesRandom.RelationsAreThoseOfAnEnumeration"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.edge_percent = 60;
    shape.most_indices = 2;
    shape.most_dims = 2;
    shape.most_threads = 20;
    for (int64_t round = scaled(300); round > 0 && !HasFailure();) {
        RandomLaunch launch(ctx, &random, shape);
        launch.grow_arrays();
        const pti_instance *instance = nullptr;
        if (!launch.is_small() || !has_edges(launch) ||
            launch.instantiate(&instance) != POLYTILE_OK)
            continue;
        SCOPED_TRACE(launch.declaration_text() + " " + text_of(*instance));
        polytile_kernel *kernel = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, launch.declaration_text().c_str(), nullptr, &kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        for (int o = 0; o < instance->n_operands; o++)
            compare_by_isl(launch, *kernel, *instance, o, draw_threads(&random, launch.threads()));
        polytile_kernel_destroy(kernel);
        round--;
    }
    polytile_context_destroy(ctx);
}

} // namespace
