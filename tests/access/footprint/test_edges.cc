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
#include "access/array/array.h"
#include "access/footprint/edges.h"
#include "access/footprint/footprint.h"
#include "access/isl/footprint_isl.h"
}

/* Edges against an enumeration of what is declared, which knows nothing of images. */

namespace {

/** A footprint in closed form, as sorted texts of its boxes. */
std::string footprint_of(const pti_instance *instance, const char *threads) {
    const polytile_domain box = domain_of(threads);
    pti_boxes boxes = {};
    EXPECT_TRUE(pti_footprint_boxes(instance, 0, PTI_TOUCHES, &box, 64, &boxes));
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
        {"clamp(i-2:-3)", "100", "10", "0:9", ""},
        {"clamp(110:105)", "100", "10", "0:9", ""},
        {"wrap(i+9:i)", "0:1", "100", "0:99", ""},
    };
    for (const Case &c : cases) {
        const Launch launch("k[i]: in A[" + std::string(c.section) + "]; out B[i]", c.domain,
                            {{"A", c.array}, {"B", "100"}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        EXPECT_EQ(footprint_of(launch.instance(), c.threads), c.boxes)
            << c.section << " over " << c.array << " by " << c.threads;
    }
}

/** What threads touch of an array of which only a piece is there. */
TEST(Edges, OfAPieceAreThoseOfTheWholeArray) {
    struct Case {
        const char *section, *whole, *piece, *threads, *boxes;
    };
    const Case cases[] = {
        {"wrap(i+7)", "11", "2:6", "6:10", "[2:6]"},
        {"wrap(i+7)", "11", "2:6", "6:6", "[2:2]"},
        {"wrap(i+7)", "11", "0:10", "0:5", "[0:1] [7:10]"},
        {"wrap(i-1:i+1)", "100", "40:60", "41:59", "[40:60]"},
        {"wrap(i-1:i+1)", "100", "0:51", "0:0", "[0:1]"},
        {"clamp(i-1)", "100", "40:60", "45:50", "[44:49]"},
        {"clamp(i+5)", "100", "80:99", "90:99", "[95:99]"},
        {"clamp(i+9)", "100", "95:99", "95:99", "[99:99]"},
    };
    for (const Case &c : cases) {
        const Launch made("k[i]: in A[" + std::string(c.section) + "]; out B[i]", "11",
                          {{"A", c.whole}, {"B", "11"}});
        const polytile_domain threads = domain_of(c.threads);
        const polytile_domain held[] = {domain_of(c.piece), domain_of("100")};
        polytile_array *arrays[2] = {};
        pti_instance *instance = nullptr;
        for (int a = 0; a < 2; a++)
            ASSERT_EQ(
                polytile_array_describe(made.context(), "x", POLYTILE_F32, &held[a], &arrays[a]),
                POLYTILE_OK);
        arrays[0]->whole = domain_of(c.whole);
        ASSERT_EQ(pti_instance_create(made.kernel(), &threads, arrays, 0, nullptr, &instance),
                  POLYTILE_OK)
            << made.error();
        EXPECT_EQ(footprint_of(instance, c.threads), c.boxes)
            << c.section << " over " << c.piece << " of " << c.whole << " by " << c.threads;
        pti_instance_free(instance);
    }
}

TEST(Edges, ThreadsWithinThemAreABox) {
    struct Case {
        const char *sections, *array, *domain, *within;
    };
    const Case cases[] = {
        {"A[wrap(i-1:i+1), j]", "100x50", "100x50", "[1:98, 0:49]"},
        {"A[wrap(i-1:i+1), j], A[i, wrap(j-2:j+1)]", "100x50", "100x50", "[1:98, 2:48]"},
        {"A[clamp(i-1:i+1), clamp(j)]", "100x50", "100x50", "[1:98, 0:49]"},
        {"A[wrap(i-1), wrap(j+3)]", "5:104, 0:49", "5:104, 0:49", "[6:104, 0:46]"},
        {"A[wrap(2*i), j]", "100x50", "100x50", "[0:49, 0:49]"},
        {"A[wrap(-3*i+20), j]", "100x50", "100x50", "[0:6, 0:49]"},
        {"A[wrap(i+40), j]", "100x50", "100x50", "[0:59, 0:49]"},
        {"A[wrap(i+j), 0]", "100x50", "10x50", "[0:9, 0:49]"},
        {"A[wrap(i+250), j]", "100x50", "100x50", ""},
        {"A[wrap(i-60:i+60), j]", "100x50", "100x50", ""},
        {"A[wrap(i+j), 0]", "100x50", "100x50", ""},
        {"A[wrap(i-1), 0]", "1x50", "1x50", ""},
    };
    for (const Case &c : cases) {
        const Launch launch("k[i, j]: in " + std::string(c.sections) + "; out B[i, j]", c.domain,
                            {{"A", c.array}, {"B", c.domain}});
        ASSERT_EQ(launch.status(), POLYTILE_OK) << launch.error();
        const polytile_domain within =
            pti_instance_within_edges(launch.instance(), &launch.instance()->threads);
        if (c.within[0] == 0)
            EXPECT_TRUE(pti_box_is_empty(&within)) << c.sections << " " << text_of(within);
        else
            EXPECT_EQ(text_of(within), c.within) << c.sections;
    }
}

TEST(Edges, WhatLiesOutsideBesideThemIsFoundHoweverManyRoundsTheyTake) {
    struct Case {
        const char *section, *array, *domain, *touches; /* "": none lies outside */
    };
    const Case cases[] = {
        {"A[wrap(i-1), i]", "0:9, 0:9", "20", "thread [10] touches A[9, 10]"},
        {"A[wrap(i-1), i]", "0:0, 0:98", "100", "thread [99] touches A[98, 99]"},
        {"A[wrap(i-1), i]", "0:0, 0:99", "100", ""},
        {"A[wrap(i:i+1), i-1]", "0:1, 0:99", "100", "thread [0] touches A[0, -1]"},
        {"A[wrap(40:i), i]", "0:1, 0:39", "60", "thread [40] touches A[40, 40]"},
        {"A[wrap(i:39), i]", "0:1, 0:39", "60", ""},
        {"A[clamp(i-5:4), i-10]", "0:1, 0:9", "10", "thread [0] touches A[-5, -10]"},
        {"A[clamp(i-5:-1), i+5]", "0:1, 0:9", "10", ""},
    };
    for (const Case &c : cases) {
        const Launch launch("k[i]: in " + std::string(c.section) + "; out B[i]", c.domain,
                            {{"A", c.array}, {"B", "100"}});
        EXPECT_EQ(launch.status(), c.touches[0] == 0 ? POLYTILE_OK : POLYTILE_DECLARATION)
            << c.section << " over " << c.array << ": " << launch.error();
        EXPECT_NE(launch.error().find(c.touches), std::string::npos) << launch.error();
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
    EXPECT_GE(tally.n_exact, least_count(tally.n_exact + tally.n_inexact, 0.9));
    polytile_context_destroy(ctx);
}

/** Whether a thread names something beyond an end that has an edge; *is_sure: and whether closed
 * forms know it, too, which take sections that are empty for what they are. */
bool goes_beyond(const RandomLaunch &launch, const Point &thread, bool *is_sure) {
    bool does = false;
    *is_sure = true;
    for (const pti_access &access : launch.accesses()) {
        const polytile_domain named = launch.section_of(access, thread);
        const polytile_domain &array = launch.array_domains()[static_cast<size_t>(access.array)];
        const bool is_empty = pti_box_is_empty(&named);
        for (int d = 0; d < named.n_dims; d++) {
            const bool has_edge = access.subscript[d].edge != POLYTILE_EDGE_CLIP;
            *is_sure = *is_sure && !(has_edge && (is_empty || access.subscript[d].step != 1));
            does =
                does ||
                (has_edge && !is_empty &&
                 (named.range[d].lo < array.range[d].lo || named.range[d].hi > array.range[d].hi));
        }
    }
    return does;
}

/** Whether each subscript with an edge names one index at most, and some section of its access is
 * as declared. */
bool are_edges_simple(const pti_instance &instance) {
    bool are = true;
    for (int s = 0; s < instance.n_sections; s++) {
        const pti_section &section = instance.section[s];
        bool has_plain = false;
        for (int t = 0; t < instance.n_sections; t++)
            has_plain = has_plain || (instance.section[t].access == section.access &&
                                      !instance.section[t].is_moved);
        are = are && (section.edges == 0 || has_plain);
        for (int d = 0; d < section.n_dims; d++) {
            int n_lo = 0, n_hi = 0;
            for (int k = 0; k < instance.n_indices; k++) {
                n_lo += section.subscript[d].lo.index[k] != 0;
                n_hi += section.subscript[d].hi.index[k] != 0;
            }
            are = are && ((section.edges >> d & 1) == 0 || (n_lo < 2 && n_hi < 2));
        }
    }
    return are;
}

TEST(EdgesRandom, ThreadsWithinThemAreThoseOfAnEnumeration) {
    Random random(test_seed("EdgesRandom.ThreadsWithinThemAreThoseOfAnEnumeration"));
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    RandomShape shape;
    shape.inexact_percent = 0;
    shape.edge_percent = 60;
    shape.most_indices = 3;
    shape.most_dims = 3;
    int64_t n_within = 0, n_all = 0;
    for (int64_t round = scaled(4000); round > 0 && !HasFailure();) {
        RandomLaunch launch(ctx, &random, shape);
        if (random.chance(50))
            launch.grow_arrays();
        const pti_instance *instance = nullptr;
        if (!launch.is_small() || !has_edges(launch) ||
            launch.instantiate(&instance) != POLYTILE_OK)
            continue;
        SCOPED_TRACE(launch.declaration_text() + " " + text_of(*instance));
        const polytile_domain threads = draw_threads(&random, launch.threads());
        const polytile_domain within = pti_instance_within_edges(instance, &threads);
        EXPECT_TRUE(pti_box_contains(&threads, &within));
        bool is_all = are_edges_simple(*instance);
        int64_t n_missing = 0;
        for_each_point(threads, [&](const Point &thread) {
            bool is_sure, is_in = true;
            const bool is_beyond = goes_beyond(launch, thread, &is_sure);
            for (size_t k = 0; k < thread.size(); k++)
                is_in = is_in && pti_range_has(within.range[k], thread[k]);
            EXPECT_FALSE(is_in && is_beyond) << testing::PrintToString(thread);
            is_all = is_all && is_sure;
            n_missing += !is_in && !is_beyond;
        });
        const bool may_lack = !is_all || pti_box_count(&threads) == 0;
        EXPECT_TRUE(may_lack || n_missing == 0);
        n_within += !pti_box_is_empty(&within);
        n_all += !may_lack;
        round--;
    }
    EXPECT_GE(n_within, least_count(scaled(4000), 0.25));
    EXPECT_GE(n_all, least_count(scaled(4000), 0.13));
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
