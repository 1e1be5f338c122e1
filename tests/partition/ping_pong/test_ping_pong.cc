#include "support/launch.h"

#include <gtest/gtest.h>

#include <memory>

extern "C" {
#include "partition/ping_pong/ping_pong.h"
#include "partition/ping_pong/tile_cost.h"
}

namespace {

std::unique_ptr<Launch> launch_of(const std::string &declaration,
                                  const std::string &threads = "1:38,1:24",
                                  const std::string &domain = "40x26") {
    auto launch = std::make_unique<Launch>(
        declaration, threads,
        std::map<std::string, std::string>{{"x", domain}, {"y", domain}, {"z", domain}});
    EXPECT_EQ(launch->status(), POLYTILE_OK) << declaration << launch->error();
    return launch;
}

const char *const five = "five[i, j]: in x[i-1:i+1, j], x[i, j-1:j+1]; out y[i, j]";
const int there[] = {0, 1}, back[] = {1, 0}, elsewhere[] = {1, 2};

TEST(PingPong, BeginsWhereAThreadWritesTheElementOfItsIndicesAndNothingElse) {
    const struct {
        const char *declaration;
        bool may_begin;
        const char *threads = "1:24,1:24";
    } rows[] = {
        {five, true},
        {"copy[i, j]: in x[i, j]; out y[i, j]", true},
        {"both[i, j]: out y[i, j]; in z[i, j], x[i-1:i+1, j]", true},
        {"two[i, j]: in x[i, j]; out y[i, j], z[i, j]", false},
        {"move[i, j]: in x[i, j]; out y[i-1, j]", false},
        {"turn[i, j]: in x[i, j]; out y[j, i]", false},
        {"pair[i, j]: in x[i, j]; out y[i:i+1, j]", false},
        {"add[i, j]: in x[i, j]; inout y[i, j]", false},
        {"sums[i, j]: in x[i, j]; sum y[i, j]", false},
        {"part[i, j]: in x[wrap(i-2), j]; out y[i, j]", false},
        {"round[i, j]: in x[wrap(i-2), j]; out y[i, j]", true, "0:39,0:25"},
        {"torus[i, j]: in x[wrap(i-1:i+1), wrap(j+2)]; out y[i, j]", true, "0:39,0:25"},
        {"edge[i, j]: in x[clamp(i-2), j]; out y[i, j]", false, "0:39,0:25"},
        {"mixed[i, j]: in x[wrap(i-1), j], x[clamp(i+1), j]; out y[i, j]", false, "0:39,0:25"},
    };
    for (const auto &row : rows)
        EXPECT_EQ(pti_ping_pong_may_begin(launch_of(row.declaration, row.threads)->instance()),
                  row.may_begin)
            << row.declaration;
}

TEST(PingPong, GoesOnWithTheSameKernelFromTheArrayThatWasWritten) {
    const auto whole = launch_of(five);
    const auto other = launch_of("copy[i, j]: in x[i, j]; out y[i, j]");
    const pti_call before = {whole->instance(), there};
    const struct {
        pti_call call;
        bool follows;
    } rows[] = {
        {{whole->instance(), back}, true},
        {{whole->instance(), there}, false},
        {{whole->instance(), elsewhere}, false},
        {{other->instance(), back}, false},
    };
    for (const auto &row : rows) {
        pti_role_change change;
        EXPECT_EQ(pti_role_change_find(&row.call, &before, &change), row.follows);
    }
}

TEST(PingPong, FindsBetweenWhichArraysLaunchesGo) {
    const auto launch = launch_of("both[i, j]: out y[i, j]; in z[i, j], x[i-1:i+1, j]");
    const int first[] = {4, 5, 6}, written = launch->operand("y");
    const pti_call before = {launch->instance(), first};
    const struct {
        int arrays[3];
        int from; /* the operand by which the launch before has what is written; -1: no ping-pong */
    } rows[] = {
        {{6, 5, 4}, 2},  {{5, 4, 6}, 1},  {{4, 5, 6}, -1}, {{6, 4, 5}, -1},
        {{5, 6, 4}, -1}, {{6, 7, 4}, -1}, {{6, 4, 4}, -1}, {{7, 5, 4}, -1},
    };
    for (const auto &row : rows) {
        const pti_call call = {launch->instance(), row.arrays};
        pti_role_change change;
        const bool is_ping_pong =
            pti_role_change_find(&call, &before, &change) && change.n_phases == 2;
        EXPECT_EQ(is_ping_pong, row.from >= 0) << row.arrays[0] << row.arrays[1] << row.arrays[2];
        EXPECT_FALSE(is_ping_pong && change.before[written] != row.from)
            << row.arrays[0] << row.arrays[1] << row.arrays[2];
    }
}

TEST(PingPong, KnowsArraysThatChangeRolesInAnotherWay) {
    const auto wave = launch_of("wave[i, j]: out y[i, j]; in z[i, j], x[i-1:i+1, j]");
    const auto leap = launch_of("leap[i, j]: inout y[i, j]; in x[i-1:i+1, j]");
    const auto jacobi = launch_of(five);
    const auto ring = launch_of("ring[i, j]: in x[wrap(i-1), j]; out y[i, j]");
    const int first[] = {4, 5, 6}, next[] = {5, 6, 4}, swapped[] = {6, 5, 4}, apart[] = {7, 5, 6};
    const int other_two[] = {1, 2}, last_two[] = {2, 1};
    const struct {
        const pti_instance *instance;
        const int *before, *after;
        bool takes;
    } rows[] = {
        {wave->instance(), first, next, false},     {wave->instance(), first, swapped, false},
        {wave->instance(), first, apart, false},    {leap->instance(), other_two, last_two, false},
        {leap->instance(), other_two, there, true}, {leap->instance(), other_two, apart, false},
        {jacobi->instance(), there, back, false},   {jacobi->instance(), there, other_two, true},
        {ring->instance(), there, back, false},     {ring->instance(), there, other_two, true},
    };
    for (const auto &row : rows) {
        const pti_call before = {row.instance, row.before}, after = {row.instance, row.after};
        EXPECT_EQ(pti_roles_change_otherwise(&after, &before), row.takes)
            << row.instance->kernel_name << row.after[0] << row.after[1];
    }
}

TEST(PingPong, FindsHowArraysChangeRoles) {
    const auto wave = launch_of("wave[i, j]: out y[i, j]; in z[i, j], x[i-1:i+1, j]");
    const auto leap = launch_of("leap[i, j]: inout y[i, j]; in z[i, j], x[i-1:i+1, j]");
    const int first[] = {4, 5, 6};
    const struct {
        const pti_instance *instance;
        int arrays[3];
        int n_phases, n_alive; /* 0: in no way */
    } rows[] = {
        {wave->instance(), {5, 6, 4}, 3, 2}, {wave->instance(), {6, 4, 5}, 3, 2},
        {wave->instance(), {6, 5, 4}, 2, 1}, {leap->instance(), {5, 6, 4}, 3, 3},
        {leap->instance(), {6, 5, 4}, 2, 2}, {leap->instance(), {5, 4, 6}, 2, 2},
        {wave->instance(), {4, 5, 6}, 0, 0}, {wave->instance(), {4, 6, 5}, 0, 0},
        {wave->instance(), {5, 6, 7}, 0, 0}, {wave->instance(), {5, 5, 4}, 0, 0},
    };
    const pti_call before = {wave->instance(), first}, leap_before = {leap->instance(), first};
    for (const auto &row : rows) {
        const pti_call call = {row.instance, row.arrays};
        pti_role_change found;
        const bool is_found = pti_role_change_find(
            &call, row.instance == wave->instance() ? &before : &leap_before, &found);
        EXPECT_EQ(is_found, row.n_phases > 0) << row.arrays[0] << row.arrays[1] << row.arrays[2];
        EXPECT_FALSE(is_found && found.n_phases != row.n_phases) << found.n_phases;
        EXPECT_FALSE(is_found && found.n_alive != row.n_alive) << found.n_alive;
    }
    EXPECT_TRUE(pti_role_change_may_begin(leap->instance()));
    EXPECT_FALSE(pti_ping_pong_may_begin(leap->instance()));
}

/** What the launch after wave(5, 4, 6) reads and launches have written. */
TEST(PingPong, ListsTheArraysThatLaterLaunchesRead) {
    const auto wave = launch_of("wave[i, j]: out y[i, j]; in z[i, j], x[i-1:i+1, j]");
    const int first[] = {4, 5, 6}, next[] = {5, 6, 4};
    const pti_call before = {wave->instance(), first}, call = {wave->instance(), next};
    pti_role_change change;
    ASSERT_TRUE(pti_role_change_find(&call, &before, &change));
    int alive[2] = {};
    pti_role_change_list_alive(&change, &before, alive);
    EXPECT_EQ(alive[0], 6);
    EXPECT_EQ(alive[1], 4);
}

TEST(PingPong, FindsByHowMuchEachLaunchNeedsMoreThanTheNext) {
    const auto launch =
        launch_of("wide[i, j]: in x[i-2:i+1, j], x[i, j-1:j+3]; out y[i, j]", "2:38,1:22");
    const pti_call calls[] = {{launch->instance(), there}, {launch->instance(), back}};
    pti_ping_pong found = {};
    bool is_found = false;
    pti_text why = {};
    ASSERT_EQ(pti_ping_pong_find_margin(&found, calls, 2, &is_found, &why), POLYTILE_OK);
    EXPECT_EQ(why.length, 0);
    ASSERT_TRUE(is_found);
    EXPECT_EQ(found.margin_per_launch.before[0], 2);
    EXPECT_EQ(found.margin_per_launch.after[0], 1);
    EXPECT_EQ(found.margin_per_launch.before[1], 1);
    EXPECT_EQ(found.margin_per_launch.after[1], 3);
    const auto whole_rows = launch_of("rows[i, j]: in x[:, j]; out y[i, j]");
    const pti_call all[] = {{whole_rows->instance(), there}, {whole_rows->instance(), back}};
    ASSERT_EQ(pti_ping_pong_find_margin(&found, all, 2, &is_found, &why), POLYTILE_OK);
    EXPECT_FALSE(is_found);
    EXPECT_STREQ(why.data, "rows does not go as launches before through x");
    pti_text_free(&why);
}

/** The tile with its border fits the room, and eight rows more do not. */
TEST(PingPong, TilesAreAsLargeAsTheirRoomAllows) {
    const auto launch = launch_of(five);
    const pti_tile_room room = {48 * 40 * 4 + 100, 40, 4};
    pti_ping_pong of = {};
    of.instance = launch->instance();
    of.room = &room;
    of.n_stored = 1;
    of.margin_per_launch = {{1, 1}, {1, 1}};
    for (int n = 1; n < 30; n++) {
        int64_t tile[2];
        const bool is_found = pti_ping_pong_find_tile(&of, n, tile);
        EXPECT_EQ(is_found, n < 20) << n;
        if (!is_found)
            continue;
        EXPECT_EQ(tile[0] + 2 * n, 48) << n;
        EXPECT_EQ(tile[1] + 2 * n, 40) << n;
        EXPECT_GT(pti_ping_pong_cost(&of, n, tile[0]), 0) << n;
        EXPECT_LT(pti_ping_pong_cost(&of, n, tile[0]), pti_ping_pong_cost(&of, n, 1)) << n;
    }
    EXPECT_EQ(pti_ping_pong_choose(&of) % 2, 1);
}

TEST(PingPong, LaunchesAreCutIntoTheFewestOddGroupsThatDifferByTwo) {
    for (int most = 3; most <= 15; most += 2)
        for (int n = 1; n <= 70; n++) {
            const pti_ping_pong_groups groups = pti_ping_pong_cut(n, most);
            const int fewest = (n + most - 1) / most;
            EXPECT_EQ(groups.n_groups, fewest + (n - fewest) % 2) << n << " by " << most;
            int sum = 0, longest = 0;
            for (int g = 0; g < groups.n_groups; g++) {
                const int n_launches = pti_ping_pong_group(&groups, g);
                EXPECT_EQ(n_launches % 2, 1) << n << " by " << most;
                EXPECT_LE(n_launches, most) << n << " by " << most;
                EXPECT_GE(n_launches, longest) << "the longer ones are the last";
                EXPECT_LE(n_launches, pti_ping_pong_group(&groups, 0) + 2) << n << " by " << most;
                longest = n_launches;
                sum += n_launches;
            }
            EXPECT_EQ(sum, n) << n << " by " << most;
        }
}

} // namespace
