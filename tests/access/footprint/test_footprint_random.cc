#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/elements.h"
#include "support/launch.h"
#include "support/random.h"
#include "support/random_instance.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "access/footprint/section_boxes.h"
}

namespace {

/** What a box of threads touches of an operand, by enumeration; of a partial one, all sections. */
Elements truth_of(const pti_instance &instance, int p, pti_touch touch,
                  const polytile_domain &threads, bool by_role) {
    const pti_operand &operand = instance.operand[p];
    Elements truth(operand.domain);
    for (int s = 0; s < operand.n_sections; s++) {
        const pti_section &section = instance.section[operand.first_section + s];
        if ((operand.partial && !by_role) || pti_section_counts(&section, touch))
            add_touched(section, threads, &truth);
    }
    return truth;
}

polytile_domain draw_threads(Random *random, const polytile_domain &all) {
    polytile_domain threads = all;
    if (random->chance(25))
        return threads;
    for (int k = 0; k < all.n_dims; k++) {
        const int64_t lo = random->number(all.range[k].lo, all.range[k].hi);
        threads.range[k] = {lo, random->number(lo, all.range[k].hi), 1};
    }
    return threads;
}

bool is_certain(const pti_instance &instance, const pti_operand &operand, pti_touch touch) {
    for (int s = 0; s < operand.n_sections; s++) {
        const pti_section &section = instance.section[operand.first_section + s];
        if (pti_section_counts(&section, touch) && !section.exact)
            return false;
    }
    return !operand.partial;
}

class FootprintRandom : public ::testing::Test {
  protected:
    void SetUp() override { ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK); }
    void TearDown() override {
        pti_boxes_free(&boxes_);
        polytile_context_destroy(ctx_);
    }

    /** A launch that can be made into an instance; its arrays grow if a thread missed them. */
    const pti_instance *make(RandomLaunch *launch) {
        const pti_instance *instance = nullptr;
        polytile_status status = launch->instantiate(&instance);
        if (status == POLYTILE_DECLARATION) {
            launch->grow_arrays();
            status = launch->is_small() ? launch->instantiate(&instance) : POLYTILE_OK;
        }
        EXPECT_TRUE(status == POLYTILE_OK || status == POLYTILE_UNSUPPORTED)
            << polytile_last_error(ctx_) << "\n"
            << launch->declaration_text();
        return instance;
    }

    polytile_context *ctx_ = nullptr;
    pti_boxes boxes_ = {};
};

class FootprintAgainstEnumeration : public FootprintRandom {
  protected:
    void check_section_hull(const pti_instance &instance, const pti_section &section,
                            const polytile_domain &threads) {
        const polytile_domain &array = instance.operand[section.operand].domain;
        Elements truth(array), in_hull(array);
        add_touched(section, threads, &truth);
        const polytile_domain hull = pti_section_hull(&instance, &section, &threads);
        in_hull.add(hull);
        ASSERT_TRUE(in_hull.contains(truth));
        ASSERT_TRUE(pti_box_is_empty(&hull) || !is_never_there(section, threads));
        if (is_rigid_and_inside(section, threads, array)) {
            const polytile_domain tight = truth.hull();
            ASSERT_TRUE(pti_box_equals(&hull, &tight)) << text_of(hull) << text_of(tight);
        }
    }

    /** Whether one dimension is empty for all threads. */
    bool is_never_there(const pti_section &section, const polytile_domain &threads) {
        std::vector<bool> is_there(static_cast<size_t>(section.n_dims));
        for_each_point(threads, [&](const Point &thread) {
            const polytile_domain box = section_of_thread(section, thread);
            for (int d = 0; d < box.n_dims; d++)
                if (!pti_range_is_empty(box.range[d]))
                    is_there[static_cast<size_t>(d)] = true;
        });
        return std::find(is_there.begin(), is_there.end(), false) != is_there.end();
    }

    /** Sections of fixed, non-empty size that are not clipped must have tight hulls. */
    bool is_rigid_and_inside(const pti_section &section, const polytile_domain &threads,
                             const polytile_domain &array) {
        bool holds = true;
        for (int d = 0; d < section.n_dims; d++)
            for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
                holds =
                    holds && section.subscript[d].lo.index[k] == section.subscript[d].hi.index[k];
        for_each_point(threads, [&](const Point &thread) {
            polytile_domain box = section_of_thread(section, thread);
            for (int d = 0; d < box.n_dims; d++)
                holds = holds && !pti_range_is_empty(box.range[d]) &&
                        box.range[d].lo >= array.range[d].lo &&
                        box.range[d].hi <= array.range[d].hi;
        });
        return holds;
    }

    /** If an operand is said to be touched everywhere, it is by each thread alone. */
    void check_everywhere(const pti_instance &instance, int p, const polytile_domain &threads) {
        if (!pti_footprint_is_everywhere(&instance, p, &threads))
            return;
        n_everywhere_++;
        for_each_point(threads, [&](const Point &thread) {
            polytile_domain alone = threads, hull;
            for (int k = 0; k < alone.n_dims; k++)
                alone.range[k] = {thread[static_cast<size_t>(k)], thread[static_cast<size_t>(k)],
                                  1};
            EXPECT_TRUE(pti_footprint_find_hull(&instance, p, PTI_TOUCHES, &alone, &hull));
        });
    }

    void check_boxes(const pti_instance &instance, int p, pti_touch touch,
                     const polytile_domain &threads, int max_boxes) {
        const pti_operand &operand = instance.operand[p];
        const Elements truth = truth_of(instance, p, touch, threads, false);
        Elements in_hull(operand.domain), in_boxes(operand.domain);
        in_hull.add(pti_footprint_hull(&instance, p, touch, &threads));
        ASSERT_TRUE(in_hull.contains(truth));
        const bool exact = pti_footprint_boxes(&instance, p, touch, &threads, max_boxes, &boxes_);
        in_boxes.add(boxes_);
        ASSERT_FALSE(boxes_.failed);
        ASSERT_EQ(pti_boxes_count(&boxes_), in_boxes.count()) << "boxes overlap";
        ASSERT_TRUE(in_hull.contains(in_boxes));
        ASSERT_TRUE(in_boxes.contains(truth));
        if (exact) {
            ASSERT_TRUE(in_boxes == truth);
            ASSERT_TRUE(is_certain(instance, operand, touch));
        }
        if (operand.partial) {
            ASSERT_TRUE(in_boxes == in_hull);
            ASSERT_TRUE(operand.reads && operand.writes);
        }
        if (is_certain(instance, operand, touch) && (touch == PTI_WRITES || max_boxes > 10000)) {
            ASSERT_TRUE(exact);
            n_exact_++;
        }
    }

    void check_least_count(const pti_instance &instance, int p, pti_touch touch) {
        bool failed = false;
        const int64_t bound = pti_operand_least_count(&instance, p, touch, &failed);
        EXPECT_FALSE(failed);
        const int64_t count = truth_of(instance, p, touch, instance.threads, true).count();
        ASSERT_LE(bound, count);
        n_counts_++;
        n_exact_counts_ += bound == count;
    }

    void check(Random *random, const pti_instance &instance) {
        const pti_touch touches[] = {PTI_READS, PTI_WRITES, PTI_TOUCHES};
        const polytile_domain threads = draw_threads(random, instance.threads);
        for (int s = 0; s < instance.n_sections; s++)
            ASSERT_NO_FATAL_FAILURE(check_section_hull(instance, instance.section[s], threads));
        for (int p = 0; p < instance.n_operands; p++) {
            const pti_touch touch = touches[random->number(0, 2)];
            const int max_boxes = static_cast<int>(random->one_of({1, 2, 4, 16, 64, 1000000}));
            ASSERT_NO_FATAL_FAILURE(check_boxes(instance, p, touch, threads, max_boxes))
                << "touch " << touch << " of " << p << " by " << text_of(threads) << " in at most "
                << max_boxes;
            ASSERT_NO_FATAL_FAILURE(check_least_count(instance, p, touch)) << "touch " << touch;
            ASSERT_NO_FATAL_FAILURE(check_everywhere(instance, p, threads));
        }
    }

    int64_t n_exact_ = 0;
    int64_t n_counts_ = 0;
    int64_t n_exact_counts_ = 0;
    int64_t n_everywhere_ = 0;
};

TEST_F(FootprintAgainstEnumeration, HullsBoxesAndCountsHoldForRandomInstances) {
    Random random(test_seed("FootprintAgainstEnumeration"));
    for (int64_t left = scaled(100000); left > 0;) {
        RandomShape shape;
        shape.most_threads = random.one_of({10, 30, 60});
        shape.most_elements = random.one_of({200, 600, 2000});
        RandomLaunch launch(ctx_, &random, shape);
        const pti_instance *instance = launch.is_small() ? make(&launch) : nullptr;
        if (instance == nullptr)
            continue;
        ASSERT_NO_FATAL_FAILURE(check(&random, *instance)) << text_of(*instance);
        left--;
    }
    EXPECT_GT(n_exact_counts_, n_counts_ * 8 / 10);
    EXPECT_GT(n_exact_, 0);
    EXPECT_GT(n_everywhere_, 0);
}

/** Of a section that moves with i, an interval whose ends move as they like with i, and together
 * with j: slices that are boxes, which are counted without being made. */
TEST(FootprintCounts, OfSlicesThatAreBoxesAreThoseByEnumeration) {
    Random random(test_seed("FootprintCounts"));
    int64_t n_compared = 0;
    const int64_t least = scaled(300);
    for (int64_t k = 0; k < scaled(1000) || (n_compared < least && k < 100 * least); k++) {
        const int64_t n = random.number(66, 90), m = random.number(1, 4);
        const int64_t speed = random.one_of({-1, 1, 2}), shift = random.number(-1, 1);
        const int64_t lo[] = {random.number(-2, 2), random.number(-40, 40)};
        const int64_t hi[] = {random.number(-2, 2), lo[1] + random.number(-20, 60)};
        const int64_t first = speed < 0 ? n - 1 : 0;
        const std::string along = std::to_string(shift) + "*j";
        const std::string declaration =
            "k[i, j]: in A[" + std::to_string(first) + "+" + std::to_string(speed) + "*i, " +
            std::to_string(lo[0]) + "*i+" + along + "+" + std::to_string(lo[1]) + ":" +
            std::to_string(hi[0]) + "*i+" + along + "+" + std::to_string(hi[1]) + "]; out y[i, j]";
        const int64_t n_columns = random.number(20, 120);
        const Launch launch(declaration, std::to_string(n) + "x" + std::to_string(m),
                            {{"A", std::to_string(2 * n) + "x" + std::to_string(n_columns)},
                             {"y", std::to_string(n) + "x" + std::to_string(m)}});
        if (launch.status() != POLYTILE_OK)
            continue;
        std::set<std::pair<int64_t, int64_t>> touched;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                for (int64_t e = std::max<int64_t>(0, lo[0] * i + shift * j + lo[1]);
                     e <= std::min(n_columns - 1, hi[0] * i + shift * j + hi[1]); e++)
                    touched.insert({first + speed * i, e});
        bool failed = false;
        EXPECT_EQ(pti_operand_least_count(launch.instance(), 0, PTI_READS, &failed),
                  static_cast<int64_t>(touched.size()))
            << declaration;
        n_compared++;
    }
    EXPECT_GE(n_compared, least);
}

TEST_F(FootprintAgainstEnumeration, HoldForManySlicesOfOneIndex) {
    Random random(test_seed("FootprintAgainstEnumeration.ManySlices"));
    for (int64_t left = scaled(1500); left > 0;) {
        RandomShape shape;
        shape.most_indices = 1;
        shape.most_threads = shape.most_extent_alone = 150;
        shape.most_dims = 2;
        shape.most_elements = 100000;
        RandomLaunch launch(ctx_, &random, shape);
        const pti_instance *instance = launch.is_small() ? make(&launch) : nullptr;
        if (instance == nullptr)
            continue;
        ASSERT_NO_FATAL_FAILURE(check(&random, *instance)) << text_of(*instance);
        left--;
    }
}

class WritesRandom : public FootprintRandom {};

TEST_F(WritesRandom, AreKnownExactlyForEveryBoxUnlessPartial) {
    Random random(test_seed("WritesRandom"));
    for (int64_t left = scaled(5000); left > 0; left--) {
        RandomShape shape;
        shape.roomy = true;
        shape.most_indices = 3;
        shape.most_dims = 3;
        shape.most_threads = 1000000;
        shape.most_extent = shape.most_extent_alone = random.one_of({10, 40, 100, 1000});
        shape.inexact_percent = 0;
        RandomLaunch launch(ctx_, &random, shape);
        const pti_instance *instance = make(&launch);
        for (int p = 0; instance != nullptr && p < instance->n_operands; p++) {
            if (instance->operand[p].partial)
                continue;
            for (int box = 0; box < 4; box++) {
                const polytile_domain threads = draw_threads(&random, instance->threads);
                ASSERT_TRUE(pti_footprint_boxes(instance, p, PTI_WRITES, &threads, 1, &boxes_))
                    << p << " by " << text_of(threads) << ": " << text_of(*instance);
            }
        }
    }
}

class InstanceRandom : public FootprintRandom {};

TEST_F(InstanceRandom, AThreadOutsideIsFoundExactlyWhenThereIsOne) {
    Random random(test_seed("InstanceRandom.Outside"));
    int64_t n_outside = 0;
    for (int64_t left = scaled(20000); left > 0;) {
        RandomShape shape;
        shape.most_dims = 2;
        shape.edge_percent = random.chance(50) ? 60 : 0;
        RandomLaunch launch(ctx_, &random, shape);
        if (!launch.is_small())
            continue;
        const pti_instance *instance = nullptr;
        const polytile_status status = launch.instantiate(&instance);
        bool is_dense = true;
        for (const pti_access &access : launch.accesses())
            for (int d = 0; d < access.n_dims; d++)
                is_dense = is_dense && access.subscript[d].step == 1;
        if (status == POLYTILE_DECLARATION) {
            ASSERT_TRUE(launch.touches_outside())
                << polytile_last_error(ctx_) << "\n"
                << launch.declaration_text() << text_of(launch.threads());
            n_outside++;
        } else if (status == POLYTILE_OK && is_dense) {
            ASSERT_FALSE(launch.touches_outside())
                << launch.declaration_text() << text_of(launch.threads());
        }
        left--;
    }
    EXPECT_GE(n_outside, least_count(scaled(20000), 0.3));
}

class PatternRandom : public FootprintRandom {
  protected:
    /** Whether every section of a thread moved up by one along index k moves along dimension k, or
     * along none, as it does for all other threads and sections. */
    bool moves_rigidly(const pti_instance &instance, const pti_operand &operand) {
        bool rigid = true;
        for (int d = 0; d < operand.domain.n_dims; d++)
            rigid =
                rigid && (moves(instance, operand, d, false) || moves(instance, operand, d, true));
        return rigid;
    }

    bool moves(const pti_instance &instance, const pti_operand &operand, int d, bool follows) {
        bool holds = true;
        for (int s = 0; s < operand.n_sections; s++) {
            const pti_section &section = instance.section[operand.first_section + s];
            for_each_point(instance.threads, [&](const Point &thread) {
                const polytile_domain here = section_of_thread(section, thread);
                for (int k = 0; k < instance.n_indices; k++) {
                    Point next = thread;
                    next[static_cast<size_t>(k)]++;
                    const polytile_domain there = section_of_thread(section, next);
                    const int64_t shift = follows && k == d ? 1 : 0;
                    holds = holds && there.range[d].lo == here.range[d].lo + shift &&
                            there.range[d].hi == here.range[d].hi + shift;
                }
            });
        }
        return holds;
    }

    bool is_plain(const pti_instance &instance) {
        bool plain = true;
        for (int s = 0; s < instance.n_sections; s++)
            for_each_point(instance.threads, [&](const Point &thread) {
                const polytile_domain box = section_of_thread(instance.section[s], thread);
                for (int d = 0; d < box.n_dims; d++)
                    plain = plain && instance.section[s].subscript[d].step == 1 &&
                            box.range[d].hi > box.range[d].lo;
            });
        return plain;
    }

    void check_trend(Random *random, const pti_instance &instance, int p, int k) {
        polytile_domain threads = draw_threads(random, instance.threads);
        const int64_t extent = threads.range[k].hi - threads.range[k].lo;
        const pti_trend trend = pti_operand_trend(&instance, p, k);
        int64_t before = -1;
        for (int64_t lo = instance.threads.range[k].lo; lo + extent <= instance.threads.range[k].hi;
             lo++) {
            threads.range[k] = {lo, lo + extent, 1};
            const polytile_domain hull = pti_footprint_hull(&instance, p, PTI_TOUCHES, &threads);
            const int64_t count = pti_box_count(&hull);
            if (before >= 0) {
                ASSERT_TRUE(trend != PTI_CONSTANT || count == before);
                ASSERT_TRUE(trend != PTI_RISING || count >= before);
                ASSERT_TRUE(trend != PTI_FALLING || count <= before);
            }
            before = count;
        }
        n_trends_[trend]++;
    }

    int64_t n_regular_ = 0;
    int64_t n_trends_[4] = {};
};

TEST_F(PatternRandom, RegularAndTrendsAgreeWithEnumeration) {
    Random random(test_seed("PatternRandom"));
    for (int64_t left = scaled(20000); left > 0; left--) {
        RandomShape shape;
        shape.roomy = true;
        shape.most_dims = 2;
        shape.most_indices = 3;
        shape.inexact_percent = 0;
        RandomLaunch launch(ctx_, &random, shape);
        const pti_instance *instance = make(&launch);
        if (instance == nullptr)
            continue;
        for (int p = 0; p < instance->n_operands; p++) {
            const bool rigid = moves_rigidly(*instance, instance->operand[p]);
            const bool regular = pti_operand_is_regular(instance, p);
            n_regular_ += regular;
            if (regular) {
                ASSERT_TRUE(rigid || !is_plain(*instance)) << text_of(*instance);
            } else if (is_plain(*instance)) {
                ASSERT_FALSE(rigid) << text_of(*instance);
            }
            for (int k = 0; k < instance->n_indices; k++)
                ASSERT_NO_FATAL_FAILURE(check_trend(&random, *instance, p, k))
                    << "index " << k << " of " << p << ": " << text_of(*instance) << " trend "
                    << pti_operand_trend(instance, p, k);
        }
    }
    EXPECT_GT(n_regular_, 0);
    for (int64_t n : n_trends_)
        EXPECT_GE(n, least_count(scaled(20000), 0.08));
}

class ConflictFree : public FootprintRandom {};

TEST_F(ConflictFree, LaunchesDrawnSoHaveNoTwoThreadsWritingOneElement) {
    Random random(test_seed("ConflictFree"));
    for (int64_t left = scaled(3000); left > 0; left--) {
        RandomShape shape;
        shape.conflict_free = true;
        RandomLaunch launch(ctx_, &random, shape);
        const pti_instance *instance = launch.is_small() ? make(&launch) : nullptr;
        for (int p = 0; instance != nullptr && p < instance->n_operands; p++) {
            const pti_operand &operand = instance->operand[p];
            const pti_section &section = instance->section[operand.first_section];
            if (!operand.writes || operand.reduces)
                continue;
            ASSERT_EQ(operand.n_sections, 1);
            Elements written(operand.domain);
            for_each_point(instance->threads, [&](const Point &thread) {
                const polytile_domain one =
                    polytile_domain_from_bounds(instance->n_indices, &thread[0], &thread[0]);
                Elements mine(operand.domain);
                add_touched(section, one, &mine);
                const int64_t before = written.count();
                add_touched(section, one, &written);
                ASSERT_EQ(written.count(), before + mine.count()) << text_of(*instance);
            });
        }
    }
}

} // namespace
