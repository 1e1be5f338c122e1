#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" {
#include "launch/device/lanes.h"
}

/* How many lanes a launch is dealt to, by what it took so far. */

namespace {

/** Numbers of lanes that are chosen one after the other, where they take so many seconds. */
std::vector<int> choices(const std::vector<double> &seconds, int n_launches) {
    pti_lane_times times = {};
    std::vector<int> made;
    for (int k = 0; k < n_launches; k++) {
        made.push_back(pti_lane_times_choose(&times));
        const auto trial = static_cast<size_t>(std::lround(std::log2(made.back())));
        pti_lane_times_note(&times, made.back(), seconds[trial]);
    }
    return made;
}

TEST(Lanes, AreTriedTwiceEachAndThenTheFastest) {
    const std::vector<int> made = choices({16, 9, 7, 4, 3, 2}, 20);
    EXPECT_EQ(std::vector<int>(made.begin(), made.begin() + 12),
              (std::vector<int>{1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32}));
    EXPECT_EQ(std::vector<int>(made.begin() + 12, made.end()), std::vector<int>(8, 32));
}

TEST(Lanes, AreNotIncreasedOnceThatTakesMuchLonger) {
    const std::vector<int> made = choices({1.0, 0.9, 1.5, 9, 9, 9}, 20);
    EXPECT_EQ(std::vector<int>(made.begin(), made.begin() + 6),
              (std::vector<int>{1, 1, 2, 2, 4, 4}));
    EXPECT_EQ(std::vector<int>(made.begin() + 6, made.end()), std::vector<int>(14, 2));
}

/** As in docs/policies.md: one superblock in one lane, and several a lane in more. */
TEST(Lanes, AreIncreasedWhereTwoTakeMuchLongerThanOneAndMoreTakeLess) {
    EXPECT_EQ(choices({8.0, 23.6, 13.2, 7.3, 7.4, 7.5}, 30).back(), 8);
    EXPECT_EQ(choices({9.4, 12.2, 7.6, 5.1, 5.2, 5.1}, 30).back(), 8);
    const std::vector<int> made = choices({0.26, 0.69, 0.60, 0.55, 0.56, 0.55}, 30);
    EXPECT_EQ(made.back(), 1);
    EXPECT_EQ(std::count(made.begin(), made.end(), 32), 0);
    const std::vector<int> rising = choices({1, 2, 3, 4, 5, 6}, 30);
    EXPECT_EQ(std::count(rising.begin(), rising.end(), 8), 0);
}

TEST(Lanes, ThatAreNearlyTheFastestAreMeasuredAgain) {
    const std::vector<int> made = choices({1.0, 0.98, 1.05, 1.2, 1.3, 9}, 24);
    EXPECT_EQ(std::count(made.begin(), made.end(), 1), 4);
    EXPECT_EQ(std::count(made.begin(), made.end(), 4), 4);
    EXPECT_EQ(std::count(made.begin(), made.end(), 8), 2);
    EXPECT_EQ(std::count(made.begin(), made.end(), 32), 0);
    EXPECT_EQ(made.back(), 2);
}

TEST(Lanes, AreIgnoredThatAreNotTried) {
    pti_lane_times times = {};
    pti_lane_times_note(&times, 3, 1e-9);
    pti_lane_times_note(&times, 64, 1e-9);
    for (const int n_runs : times.n_runs)
        EXPECT_EQ(n_runs, 0);
}

TEST(Lanes, AreNotToldByLaunchesInPlaceOrInOneLaneOfSeveral) {
    const struct {
        bool in_place;
        int n_lanes;
        int64_t n_chosen;
        bool are_told;
    } cases[] = {{false, 0, 1, true}, {false, 1, 1, true},  {false, 4, 4, true},
                 {false, 4, 8, true}, {false, 1, 4, false}, {false, 0, 2, false},
                 {true, 0, 1, false}, {true, 0, 4, false}};
    for (const auto &c : cases) {
        pti_schedule schedule = {};
        schedule.in_place = c.in_place;
        schedule.n_lanes = c.n_lanes;
        EXPECT_EQ(pti_lanes_are_told(&schedule, c.n_chosen), c.are_told)
            << c.n_lanes << " of " << c.n_chosen << (c.in_place ? " in place" : "");
    }
}

TEST(Lanes, DependOnHowManyThreadsThereAre) {
    const int64_t n = 32, m = 33;
    const polytile_domain one = polytile_domain_from_extents(1, &n);
    const polytile_domain other = polytile_domain_from_extents(1, &m);
    EXPECT_EQ(pti_lanes_key(7, &one), pti_lanes_key(7, &one));
    EXPECT_NE(pti_lanes_key(7, &one), pti_lanes_key(7, &other));
    EXPECT_NE(pti_lanes_key(7, &one), pti_lanes_key(8, &one));
}

} /* namespace */
