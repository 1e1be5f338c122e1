#include "partition/prove/handmade_launches.h"

#include <chrono>
#include <iostream>

/* The checker on schedules of several launches. */

namespace {

TEST(CheckLaunches, AcceptsRightSchedules) {
    for (const Right &row : rights) {
        Handmade made = row.make();
        EXPECT_TRUE(made.Holds()) << row.what << ": " << made.why;
    }
}

TEST(CheckLaunches, EachCoversItsOwnDomainInOrder) {
    const Break rows[] = {
        {"a superblock given to the next launch", Chain,
         [](Handmade &m) {
             m.kernels[0].n_superblocks--;
             m.kernels[1].first_superblock--;
             m.kernels[1].n_superblocks++;
             m.ops[2].launch = 1;
         },
         "hold 8 threads, the launch domain 16"},
        {"a superblock of two launches", Chain, [](Handmade &m) { m.kernels[0].n_superblocks++; },
         "launch 1 has 1 superblocks from 2, where the next of 3 is 3"},
        {"a superblock of no launch", Chain,
         [](Handmade &m) {
             m.superblocks.push_back(all);
             m.launch_placements.insert(m.launch_placements.end(), {-1, -1, -1});
         },
         "superblock 3 is of no launch"},
        {"an empty launch", Chain, [](Handmade &m) { m.Begin(hand_kernel({POLYTILE_IN}), {0}); },
         "launch 2 has 0 superblocks"},
        {"launches swapped", Chain,
         [](Handmade &m) {
             std::swap(m.ops[2], m.ops[3]);
             std::swap(m.waits[2], m.waits[3]);
         },
         "operation 3 (launch for superblock 1 of launch 0), y[8:15]: is written although launch "
         "1, "
         "which comes later, has read it before"},
        {"superblocks that overlap", Chain,
         [](Handmade &m) { m.superblocks[1] = m.ops[2].box = lower; }, "overlaps another"},
        {"another launch's superblock", Chain, [](Handmade &m) { m.ops[4].launch = 0; },
         "operation 4 is of another launch's superblock"},
        {"no such launch", Chain, [](Handmade &m) { m.ops[0].launch = 2; }, "is of no launch"},
        {"a negative launch", Chain, [](Handmade &m) { m.ops[0].launch = -1; }, "is of no launch"},
        {"a launch number without launches", Flush, [](Handmade &m) { m.ops[0].launch = 1; },
         "is of no launch"},
        {"a superblock without launches", Flush, [](Handmade &m) { m.ops[0].superblock = 1; },
         "is of no superblock"},
        {"a launch without launches", Flush,
         [](Handmade &m) {
             m.Launch(all, {0});
             m.superblocks.clear();
             m.launch_placements.clear();
             m.ops.back().superblock = 0;
         },
         "operation 2 is of no launch"},
        {"superblocks without a launch", Flush, [](Handmade &m) { m.Launch(all, {0}); },
         "superblock 0 is of no launch"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, OperandsAreArrays) {
    const Break rows[] = {
        {"no such array", Chain, [](Handmade &m) { m.kernels[1].arrays[0] = 3; },
         "launch 1: operand0 is array 3, which there is not"},
        {"a negative array", Chain, [](Handmade &m) { m.kernels[1].arrays[0] = -1; },
         "is array -1, which there is not"},
        {"other elements", Chain, [](Handmade &m) { m.kernels[0].operands[0].element_bytes = 8; },
         "launch 0: operand0 has other elements than array 0, x"},
        {"another domain", Chain, [](Handmade &m) { m.kernels[0].operands[0].domain = lower; },
         "has other elements than array 0, x"},
        {"another type", Chain, [](Handmade &m) { m.kernels[0].operands[0].type = POLYTILE_F32; },
         "has other elements than array 0, x"},
        {"one array that is written", SameArray, [](Handmade &m) { m.kernels[0].arrays[2] = 0; },
         "launch 0: operand0 and operand2 are the same array, of which [0:15] is written through "
         "one and used through the other"},
        {"another array's placement", Chain, [](Handmade &m) { m.launch_placements[0] = 1; },
         "which is none of it"},
        {"no placement", Chain, [](Handmade &m) { m.launch_placements[4] = -1; },
         "operation 3 (launch for superblock 2 of launch 1), y[0:15]: has no placement"},
        {"in place", Chain, [](Handmade &m) { m.in_place = true; },
         "in place nothing lies on a device"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, OperandsOfOneArrayHavePlacementsOfTheirOwn) {
    const Break rows[] = {
        {"the wrong image", Halves, [](Handmade &m) { m.launch_placements[1] = 1; },
         "operation 1 (launch for superblock 0 of launch 0), x[0:7]: is read but its newest "
         "version "
         "is not all there"},
        {"both in one image, which has it all", Halves,
         [](Handmade &m) {
             m.launch_placements[0] = 0;
             m.launch_placements[2] = 0;
         },
         "after the schedule, placement 1, x[8:15]: is not all there in its newest version"},
        {"written in one image, read in the other", Halves,
         [](Handmade &m) { m.launch_placements[2] = 0; },
         "operation 2 (launch for superblock 1 of launch 1), x[8:15]: is read but its newest "
         "version is not all there"},
        {"said to be valid in both", Halves, [](Handmade &m) { m.after[0].valid = {all}; },
         "x[0:15]: is not all there in its newest version"},
        {"taken to the host from where it is old", Halves,
         [](Handmade &m) {
             m.Move(PTI_DOWNLOAD, 1, 0, upper, {2});
             m.after[1].dirty = {};
         },
         "x[8:15]: is not newer than the host's"},
        {"taken to the host together with what is old", Halves,
         [](Handmade &m) {
             m.before[0].dirty = {lower};
             m.Move(PTI_DOWNLOAD, 1, 0, all, {2});
         },
         "x[0:15]: is not all in its newest version"},
        {"images that overlap in memory", Halves,
         [](Handmade &m) { m.placements[1].offset_bytes = 32; },
         "x: is used where other data has taken its place"},
        {"an operand of no image", Halves, [](Handmade &m) { m.launch_placements[1] = -1; },
         "x[0:7]: has no placement"},
        {"sections that overlap, one of them written", Halves,
         [](Handmade &m) { m.kernels[0].sections[0].subscript[0] = Sub(7, 7, {1}); },
         "launch 0: far and near are the same array, of which [7] is written through one and used "
         "through the other"},
        {"sections that are written across superblocks", Halves,
         [](Handmade &m) { m.kernels[0].sections[1].subscript[0] = Sub(0, 0, {8}); },
         "launch 0: far and near are the same array, of which"},
        {"hulls that overlap, of which only they are known", Halves,
         [](Handmade &m) {
             m.kernels[0].operands[0].partial = true;
             m.kernels[0].sections[0].subscript[0] = Sub(7, 7, {1});
         },
         "launch 0: far and near are the same array, of which"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, SectionsThatPassEachOtherAreApart) {
    Handmade made;
    Arrays(made, {"x"});
    HandKernel kernel;
    kernel.threads = lower;
    kernel.Operand("even", 4, all);
    kernel.Section(POLYTILE_OUT, false, {Sub(0, 0, {2})});
    kernel.Operand("odd", 4, all);
    kernel.Section(POLYTILE_IN, false, {Sub(1, 1, {2})});
    const int64_t even = made.Place(0, 0, all), odd = made.Place(0, 64, all);
    made.before = {{odd, {all}, {}}};
    made.Begin(kernel, {0, 0});
    made.LaunchOn(lower, {even, odd});
    made.after = {{even, {Box({{0, 14, 2}})}, {Box({{0, 14, 2}})}}, {odd, {Box({{1, 15, 2}})}, {}}};
    EXPECT_TRUE(made.Holds()) << made.why;
    std::swap(made.launch_placements[0], made.launch_placements[1]);
    EXPECT_FALSE(made.Holds()) << "odd elements are in the other image";
}

/** b = a and a = b in turn, each in two superblocks, of which one goes home. */
Handmade Relay(int n_launches) {
    Handmade made;
    Arrays(made, {"a", "b"});
    const HandKernel copy = hand_kernel({POLYTILE_IN, POLYTILE_OUT});
    std::vector<int64_t> place = {made.Place(0, 0, all), made.Place(1, 64, all)};
    made.before = {{place[0], {all}, {}}};
    std::vector<int64_t> downloads;
    for (int l = 0; l < n_launches; l++) {
        std::vector<int64_t> home;
        if (l >= 2)
            home.push_back(downloads[static_cast<size_t>(l - 2)]);
        made.Begin(copy, {l % 2, 1 - l % 2});
        made.Launch(lower, place, home);
        const int64_t launch = made.Launch(upper, place);
        downloads.push_back(made.Move(PTI_DOWNLOAD, 2 * l + 1,
                                      place[static_cast<size_t>(1 - l % 2)], lower, {launch}));
    }
    made.after = {{place[static_cast<size_t>(n_launches % 2)], {all}, {upper}},
                  {place[static_cast<size_t>(1 - n_launches % 2)], {all}, {upper}}};
    return made;
}

TEST(CheckLaunches, AcceptsThousandsOfLaunches) {
    Handmade made = Relay(5000);
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(made.Holds()) << made.why;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << made.ops.size() << " operations checked in " << took.count() * 1e3 << " ms\n";
}

} // namespace
