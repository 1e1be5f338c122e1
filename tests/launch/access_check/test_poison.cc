#include "support/elements.h"
#include "support/random.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <set>

extern "C" {
#include "launch/access_check/blocks.h"
#include "launch/access_check/poison.h"
}

/* Poison, and the threads that a check looks at. */

namespace {

const polytile_type types[] = {POLYTILE_I8,
                               POLYTILE_I16,
                               POLYTILE_I32,
                               POLYTILE_I64,
                               POLYTILE_U8,
                               POLYTILE_U16,
                               POLYTILE_U32,
                               POLYTILE_U64,
                               POLYTILE_F16,
                               POLYTILE_F32,
                               POLYTILE_F64,
                               POLYTILE_BF16,
                               POLYTILE_C64,
                               POLYTILE_C128,
                               POLYTILE_INDEXED(POLYTILE_F32),
                               POLYTILE_INDEXED(POLYTILE_I8),
                               POLYTILE_BYTES(3),
                               POLYTILE_BYTES(8),
                               POLYTILE_BYTES(20)};

TEST(AccessPoison, FirstTwoPatternsDifferEverywhere) {
    for (polytile_type type : types) {
        const size_t n_bytes = static_cast<size_t>(polytile_type_get_bytes(type));
        std::vector<unsigned char> one(500 * n_bytes), other(500 * n_bytes);
        pti_poison_fill(PTI_PATTERN_EVEN, type, static_cast<int64_t>(n_bytes), 7, 500, one.data());
        pti_poison_fill(PTI_PATTERN_ODD, type, static_cast<int64_t>(n_bytes), 7, 500, other.data());
        for (size_t k = 0; k < 500; k++)
            EXPECT_FALSE(pti_poison_is_same(type, static_cast<int64_t>(n_bytes), &one[k * n_bytes],
                                            &other[k * n_bytes]))
                << type << " " << k;
    }
}

TEST(AccessPoison, DependsOnThePlaceAlone) {
    int32_t all[100], part[10];
    pti_poison_fill(PTI_PATTERN_NO_NUMBER, POLYTILE_I32, 4, 1000, 100,
                    reinterpret_cast<unsigned char *>(all));
    pti_poison_fill(PTI_PATTERN_NO_NUMBER, POLYTILE_I32, 4, 1040, 10,
                    reinterpret_cast<unsigned char *>(part));
    EXPECT_EQ(std::memcmp(all + 40, part, sizeof part), 0);
    EXPECT_GT(std::set<int32_t>(all, all + 100).size(), 95u);
}

TEST(AccessPoison, OfEachTypeIsZeroInOnePatternAndNotInAnother) {
    for (polytile_type type : types) {
        const int64_t n_bytes = polytile_type_get_bytes(type);
        const std::vector<unsigned char> zero(static_cast<size_t>(n_bytes));
        std::vector<unsigned char> element(zero.size());
        for (int64_t place = 0; place < 500; place++) {
            pti_poison_fill(PTI_PATTERN_ZERO, type, n_bytes, place, 1, element.data());
            EXPECT_EQ(element, zero) << type << " " << place;
            for (pti_pattern pattern : {PTI_PATTERN_EVEN, PTI_PATTERN_ODD}) {
                pti_poison_fill(pattern, type, n_bytes, place, 1, element.data());
                EXPECT_NE(element, zero) << type << " " << place;
            }
        }
    }
}

TEST(AccessPoison, OfFractionsHasEitherSignAndWhatIsNoNumber) {
    float pattern[PTI_N_PATTERNS][50];
    for (int p = 0; p < PTI_N_PATTERNS; p++)
        pti_poison_fill(static_cast<pti_pattern>(p), POLYTILE_F32, 4, 0, 50,
                        reinterpret_cast<unsigned char *>(pattern[p]));
    for (int k = 0; k < 50; k++) {
        for (pti_pattern p : {PTI_PATTERN_EVEN, PTI_PATTERN_OWN, PTI_PATTERN_DRAWN})
            EXPECT_TRUE(pattern[p][k] >= 1 && pattern[p][k] < 2);
        EXPECT_TRUE(pattern[PTI_PATTERN_ODD][k] <= -2 && pattern[PTI_PATTERN_ODD][k] > -4);
        EXPECT_TRUE(pattern[PTI_PATTERN_LARGEST][k] > 1e36f);
        EXPECT_TRUE(std::isfinite(pattern[PTI_PATTERN_LARGEST][k]));
        EXPECT_TRUE(pattern[PTI_PATTERN_SMALLEST][k] < -1e36f);
        EXPECT_TRUE(std::isfinite(pattern[PTI_PATTERN_SMALLEST][k]));
        EXPECT_TRUE(std::isnan(pattern[PTI_PATTERN_NO_NUMBER][k]));
        EXPECT_TRUE(std::fabs(pattern[PTI_PATTERN_FRACTIONS][k]) < 1);
    }
}

TEST(AccessPoison, WhatIsNoNumberIsTheSameHoweverItIsWritten) {
    const float one = std::nanf("1"), other = -std::nanf("2"), number = 1;
    const auto bytes = [](const float &value) {
        return reinterpret_cast<const unsigned char *>(&value);
    };
    EXPECT_TRUE(pti_poison_is_same(POLYTILE_F32, 4, bytes(one), bytes(other)));
    EXPECT_FALSE(pti_poison_is_same(POLYTILE_F32, 4, bytes(one), bytes(number)));
    EXPECT_FALSE(pti_poison_is_same(POLYTILE_U32, 4, bytes(one), bytes(other)));
}

polytile_domain random_domain(Random *random, int64_t *block) {
    polytile_domain domain = {};
    domain.n_dims = static_cast<int>(random->number(1, 3));
    for (int d = 0; d < domain.n_dims; d++) {
        const int64_t lo = random->number(-5, 5);
        domain.range[d] = {lo, lo + random->number(0, 12), 1};
        block[d] = random->number(1, 5);
    }
    return domain;
}

void add_halves(const pti_grid &grid, const polytile_domain &box, Elements *threads,
                int64_t *n_blocks) {
    polytile_domain halves[2];
    if (pti_check_halve(&grid, &box, halves)) {
        add_halves(grid, halves[0], threads, n_blocks);
        add_halves(grid, halves[1], threads, n_blocks);
        return;
    }
    for_each_point(box, [&](const Point &thread) {
        EXPECT_FALSE(threads->has(thread));
        threads->add(thread);
    });
    ++*n_blocks;
}

TEST(AccessCover, BlocksAndHalvesAreTheLaunch) {
    Random random(test_seed("AccessCover.BlocksAndHalvesAreTheLaunch"));
    for (int round = 0; round < 100; round++) {
        int64_t block[POLYTILE_MAX_DIMS];
        const polytile_domain domain = random_domain(&random, block);
        const pti_grid grid = pti_check_grid_of(&domain, random.chance(50) ? block : nullptr);
        Elements by_blocks(domain), by_halves(domain);
        for (int64_t k = 0; k < pti_grid_n_superblocks(&grid, pti_one_block); k++)
            by_blocks.add(
                pti_check_draw_block(&grid, pti_grid_n_superblocks(&grid, pti_one_block), k));
        EXPECT_EQ(by_blocks.count(), pti_box_count(&domain));
        int64_t n_blocks = 0;
        add_halves(grid, domain, &by_halves, &n_blocks);
        EXPECT_EQ(by_halves.count(), pti_box_count(&domain));
        EXPECT_EQ(n_blocks, pti_grid_n_superblocks(&grid, pti_one_block));
    }
}

TEST(AccessCover, OfManyBlocksTheCornersComeFirst) {
    const polytile_domain domain = *POLYTILE_EXTENTS(1000, 1000);
    const pti_grid grid = pti_check_grid_of(&domain, nullptr);
    std::set<std::pair<int64_t, int64_t>> drawn;
    for (int64_t k = 0; k < pti_check_count_drawn(&grid, 64); k++) {
        const polytile_domain thread = pti_check_draw_block(&grid, 64, k);
        EXPECT_EQ(pti_box_count(&thread), 1);
        EXPECT_TRUE(pti_box_contains(&domain, &thread));
        drawn.insert({thread.range[0].lo, thread.range[1].lo});
    }
    for (int64_t i : {0, 999})
        for (int64_t j : {0, 999})
            EXPECT_EQ(drawn.count({i, j}), 1u);
    EXPECT_GT(drawn.size(), 60u);
}

} // namespace
