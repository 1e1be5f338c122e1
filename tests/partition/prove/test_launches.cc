#include "partition/prove/handmade.h"

#include <chrono>
#include <cstdint>
#include <gtest/gtest.h>
#include <iostream>

#include "support/random.h"
#include "support/scale.h"

/* The checker on schedules of several launches, with data on the device before and after them. */

namespace {

const polytile_domain all = Box({{0, 15}}), lower = Box({{0, 7}}), upper = Box({{8, 15}});

void Arrays(Handmade &made, const std::vector<std::string> &names) {
    for (const auto &name : names)
        made.Operand(name, 4, all);
}

/** Over 0 .. 15: each operand [i] in its role. */
HandKernel Kernel(const std::vector<polytile_role> &roles) {
    HandKernel kernel;
    kernel.threads = all;
    for (const polytile_role role : roles) {
        kernel.Operand("operand" + std::to_string(kernel.operands.size()), 4, all);
        kernel.Section(role, false, {Sub(0, 0, {1})});
    }
    return kernel;
}

/** total[i]: in x[i]; out sum s[0] */
HandKernel Total(polytile_role reduction = POLYTILE_SUM) {
    HandKernel kernel = Kernel({POLYTILE_IN});
    kernel.Operand("s", 4, Box({{0, 3}}));
    kernel.Section(reduction, true, {Sub(0, 0, {})});
    return kernel;
}

/** y = x in two superblocks, then z = y in one; z stays on the device, y and x do too. */
Handmade Chain() {
    Handmade made;
    Arrays(made, {"x", "y", "z"});
    const HandKernel copy = Kernel({POLYTILE_IN, POLYTILE_OUT});
    const int64_t x = made.Place(0, 0, all), y = made.Place(1, 64, all),
                  z = made.Place(2, 128, all);
    made.Begin(copy, {0, 1});
    const int64_t in = made.Move(PTI_UPLOAD, 0, x, all);
    made.Launch(lower, {x, y, -1}, {in});
    made.Launch(upper, {x, y, -1});
    made.Begin(copy, {1, 2});
    const int64_t last = made.Launch(all, {-1, y, z});
    made.Move(PTI_DOWNLOAD, 2, y, all, {last});
    made.after = {{x, {all}, {}}, {y, {all}, {}}, {z, {lower, upper}, {all}}};
    return made;
}

/** y, half of it newer than the host's, is combined with w, which nobody wrote; half goes home. */
Handmade Resume() {
    Handmade made;
    Arrays(made, {"y", "w"});
    const int64_t y = made.Place(0, 0, all), w = made.Place(1, 64, all);
    made.before = {{y, {all}, {lower}}};
    made.unwritten = {{}, {all}};
    made.Begin(Kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    const int64_t zero = made.Move(PTI_FILL, 0, w, all);
    const int64_t launch = made.Launch(all, {y, w}, {zero});
    made.Move(PTI_DOWNLOAD, 0, y, lower, {launch});
    made.after = {{w, {all}, {all}}, {y, {all}, {upper}}};
    return made;
}

/** s is reduced twice, the second time on top of the first, which nobody needs. */
Handmade Twice() {
    Handmade made;
    Arrays(made, {"x"});
    made.Operand("s", 4, Box({{0, 3}}));
    const int64_t x = made.Place(0, 0, all), s = made.Place(1, 64, Box({{0, 3}}));
    made.before = {{x, {all}, {}}};
    made.Begin(Total(), {0, 1});
    const int64_t first = made.Launch(all, {x, s}, {made.Move(PTI_FILL, 0, s, Box({{0}}))});
    made.Begin(Total(POLYTILE_MAX), {0, 1});
    const int64_t again = made.Move(PTI_FILL, 1, s, Box({{0, 1}}), {first});
    made.Launch(lower, {x, s}, {again});
    made.Launch(upper, {x, s});
    made.after = {{s, {Box({{0}})}, {Box({{0}})}}, {x, {all}, {}}};
    return made;
}

/** Nothing runs: what is newer on the device goes home. */
Handmade Flush() {
    Handmade made;
    Arrays(made, {"x"});
    const int64_t x = made.Place(0, 0, all), piece = made.Place(0, 64, upper);
    made.before = {{x, {all}, {lower}}, {piece, {upper}, {upper}}};
    made.Move(PTI_DOWNLOAD, 0, x, lower);
    made.Move(PTI_DOWNLOAD, 0, x, upper);
    made.after = {{x, {all}, {}}};
    return made;
}

/** z = x + x, and x = z in memory where nothing lay. */
Handmade SameArray() {
    Handmade made;
    Arrays(made, {"x", "z"});
    const int64_t x = made.Place(0, 0, all), z = made.Place(1, 64, all);
    const int64_t new_x = made.Place(0, 128, all);
    made.before = {{x, {all}, {all}}};
    made.Begin(Kernel({POLYTILE_IN, POLYTILE_IN, POLYTILE_OUT}), {0, 0, 1});
    made.Launch(all, {x, z});
    made.Begin(Kernel({POLYTILE_IN, POLYTILE_OUT}), {1, 0});
    made.Launch(all, {new_x, z});
    made.after = {{z, {all}, {all}}, {new_x, {all}, {all}}};
    return made;
}

/** x[i + 8] += x[i], and then z[i] = x[i + 8] - x[i], over 0 .. 7: halves of x in images of their
 * own, of which the lower one has room for all and held the upper half too. */
Handmade Halves() {
    Handmade made;
    Arrays(made, {"x", "z"});
    HandKernel add, difference;
    add.threads = difference.threads = lower;
    for (HandKernel *kernel : {&add, &difference}) {
        kernel->Operand("far", 4, all);
        kernel->Section(kernel == &add ? POLYTILE_INOUT : POLYTILE_IN, false, {Sub(8, 8, {1})});
        kernel->Operand("near", 4, all);
        kernel->Section(POLYTILE_IN, false, {Sub(0, 0, {1})});
    }
    difference.Operand("z", 4, all);
    difference.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
    const int64_t whole = made.Place(0, 0, all), half = made.Place(0, 64, upper),
                  z = made.Place(1, 128, all);
    made.before = {{whole, {all}, {}}};
    made.Begin(add, {0, 0});
    const int64_t in = made.Move(PTI_UPLOAD, 0, half, upper);
    made.LaunchOn(lower, {half, whole}, {in});
    made.Begin(difference, {0, 0, 1});
    made.LaunchOn(lower, {half, whole, z});
    made.after = {{whole, {lower}, {}}, {half, {upper}, {upper}}, {z, {lower}, {lower}}};
    return made;
}

/** x makes room for y, goes home, and comes back changed. */
Handmade Evict() {
    Handmade made;
    Arrays(made, {"x", "y"});
    const int64_t x = made.Place(0, 0, all), y = made.Place(1, 0, all),
                  back = made.Place(0, 64, all);
    made.before = {{x, {all}, {}}};
    made.Begin(Kernel({POLYTILE_INOUT}), {0});
    const int64_t first = made.Launch(all, {x, -1});
    const int64_t home = made.Move(PTI_DOWNLOAD, 0, x, all, {first});
    made.Begin(Kernel({POLYTILE_IN, POLYTILE_OUT}), {0, 1});
    const int64_t in = made.Move(PTI_UPLOAD, 1, back, all, {home});
    made.Launch(all, {back, y}, {in});
    made.after = {{y, {all}, {all}}};
    return made;
}

/** Nothing needs what x = y gave, as x = z follows; its place goes to z between them. */
Handmade Discard() {
    Handmade made;
    Arrays(made, {"x", "y", "z"});
    const int64_t x = made.Place(0, 0, all), y = made.Place(1, 64, all), z = made.Place(2, 0, all),
                  new_x = made.Place(0, 64, all);
    made.before = {{y, {all}, {}}};
    made.Begin(Kernel({POLYTILE_IN, POLYTILE_OUT}), {1, 0});
    const int64_t first = made.Launch(all, {x, y, -1});
    made.Begin(Kernel({POLYTILE_IN, POLYTILE_OUT}), {2, 0});
    const int64_t in = made.Move(PTI_UPLOAD, 1, z, all, {first});
    made.Launch(all, {new_x, -1, z}, {in});
    made.after = {{z, {all}, {}}, {new_x, {all}, {all}}};
    return made;
}

const struct Right {
    const char *what;
    Handmade (*make)();
} rights[] = {{"two launches", Chain},        {"goes on from what is there", Resume},
              {"two reductions", Twice},      {"no launch", Flush},
              {"one array twice", SameArray}, {"one array twice, in two images", Halves},
              {"memory taken over", Evict},   {"a version that nobody needs", Discard}};

TEST(CheckLaunches, AcceptsRightSchedules) {
    for (const Right &row : rights) {
        Handmade made = row.make();
        EXPECT_TRUE(made.Holds()) << row.what << ": " << made.why;
    }
}

struct Break {
    const char *what;
    Handmade (*make)();
    void (*change)(Handmade &);
    const char *says;
};

void ExpectRejected(const Break &row) {
    Handmade made = row.make();
    ASSERT_TRUE(made.Holds()) << row.what << ": " << made.why;
    row.change(made);
    EXPECT_FALSE(made.Holds()) << row.what;
    EXPECT_NE(made.why.find(row.says), std::string::npos) << row.what << " gave " << made.why;
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
        {"an empty launch", Chain, [](Handmade &m) { m.Begin(Kernel({POLYTILE_IN}), {0}); },
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
        {"taken home from where it is old", Halves,
         [](Handmade &m) {
             m.Move(PTI_DOWNLOAD, 1, 0, upper, {2});
             m.after[1].dirty = {};
         },
         "x[8:15]: is not newer than the host's"},
        {"taken home together with what is old", Halves,
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

TEST(CheckLaunches, FindWhatEarlierOnesWrote) {
    const Break rows[] = {
        {"the host's old version", SameArray,
         [](Handmade &m) {
             m.ops.insert(m.ops.begin() + 1, m.ops[0]);
             m.waits.insert(m.waits.begin() + 1, std::vector<int64_t>{0});
             m.ops[1].kind = PTI_UPLOAD;
             m.ops[1].placement = 1;
             m.ops[1].bytes = 64;
         },
         "z[0:15]: the host's version is out of date"},
        {"a copy made before it was written", Evict,
         [](Handmade &m) {
             m.ops[2].kind = PTI_COPY;
             m.ops[2].source_placement = 0;
             m.waits[2].clear();
             std::swap(m.ops[0], m.ops[2]);
             std::swap(m.ops[1], m.ops[2]);
             m.waits = {{}, {0}, {1}, {2}};
         },
         "its newest version is not all there"},
        {"no upload after the download", Evict,
         [](Handmade &m) {
             m.Drop(2);
             m.waits[2] = {1};
         },
         "x: is read where nothing was written yet"},
        {"an upload that does not wait for the download", Evict,
         [](Handmade &m) { m.waits[2].clear(); }, "may run beside operation 1 (download)"},
        {"memory taken over before it went home", Evict,
         [](Handmade &m) {
             m.Drop(2);
             m.Drop(1);
         },
         "operation 1 (launch for superblock 1 of launch 1), x: is read where nothing was written "
         "yet"},
        {"part of the input missing", Resume, [](Handmade &m) { m.before[0].valid = {lower}; },
         "y[0:15]: is read but its newest version is not all there"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, WhatIsThereBeforeIsConsistent) {
    const Break rows[] = {
        {"no such placement", Resume, [](Handmade &m) { m.before[0].placement = 2; },
         "before the schedule, placement 2 of 2 holds something, which there is not"},
        {"held twice", Resume, [](Handmade &m) { m.before.push_back(m.before[0]); },
         "before the schedule, placement 0, y: is held twice"},
        {"shared memory", Flush, [](Handmade &m) { m.placements[1].offset_bytes = 60; },
         "placement 1, x: lies in memory that another holds"},
        {"valid outside", Flush, [](Handmade &m) { m.before[1].valid = {all}; },
         "is said to hold a box that is not in it"},
        {"dirty outside", Flush, [](Handmade &m) { m.before[1].dirty = {all}; },
         "is said to hold a box that is not in it"},
        {"dirty, not valid", Flush,
         [](Handmade &m) {
             m.before[0].valid = {Box({{2, 15}})};
         },
         "x[0:7]: is dirty but not valid"},
        {"nobody wrote it", Resume, [](Handmade &m) { m.unwritten[0] = {Box({{9}})}; },
         "placement 0, y[0:15]: is there although nobody wrote it"},
        {"unwritten outside", Resume,
         [](Handmade &m) {
             m.unwritten[1] = {Box({{9, 16}})};
         },
         "box 0 of what nobody wrote of w is not in the array"},
        {"taken over when dirty", Flush,
         [](Handmade &m) {
             m.Drop(0);
             m.Drop(0);
             m.before.pop_back();
             m.placements[1].offset_bytes = 32;
             m.Move(PTI_UPLOAD, 0, 1, upper);
             m.after.clear();
         },
         "x[0:7] is lost: overwritten before it was downloaded, and never written again"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, WhatIsThereAfterIsTrue) {
    const Break rows[] = {
        {"no such placement", Resume, [](Handmade &m) { m.after[0].placement = -1; },
         "after the schedule, placement -1 of 2 holds something"},
        {"held twice", Resume, [](Handmade &m) { m.after.push_back(m.after[0]); }, "is held twice"},
        {"overwritten", Evict,
         [](Handmade &m) {
             m.after.push_back({0, {}, {}});
         },
         "placement 0, x: is not there any more"},
        {"never there", Chain,
         [](Handmade &m) {
             m.after.push_back({m.Place(0, 192, all), {}, {}});
         },
         "is not there any more"},
        {"not valid", Twice, [](Handmade &m) { m.after[0].valid.push_back(Box({{2}})); },
         "after the schedule, placement 1, s[2]: is not all there in its newest version"},
        {"an identity is no version", Twice,
         [](Handmade &m) { m.after[0].valid.push_back(Box({{1}})); },
         "s[1]: is not all there in its newest version"},
        {"an old version", SameArray,
         [](Handmade &m) {
             m.after.push_back({0, {all}, {}});
         },
         "placement 0, x[0:15]: is not all there in its newest version"},
        {"not newer than the host's", Resume, [](Handmade &m) { m.after[1].dirty = {all}; },
         "y[0:15]: is not all newer than the host's"},
        {"dirty, not valid", Resume, [](Handmade &m) { m.after[1].valid = {lower}; },
         "y[8:15]: is dirty but not valid"},
        {"dirty not said", Resume,
         [](Handmade &m) {
             m.after[1].dirty = {Box({{9, 15}})};
         },
         "y[8] is never downloaded, and not said to be dirty afterwards"},
        {"filled with zero, not said", Resume, [](Handmade &m) { m.after.erase(m.after.begin()); },
         "w[0:15] is never downloaded"},
        {"nothing said", Resume, [](Handmade &m) { m.after.clear(); }, "is never downloaded"},
        {"dirty before, dropped", Flush, [](Handmade &m) { m.Drop(0); },
         "x[0:7] is never downloaded"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, WhatIsLostIsWrittenAgainBeforeAnyUse) {
    const Break rows[] = {
        {"uploaded", Discard,
         [](Handmade &m) {
             m.ops[m.Find(PTI_LAUNCH, 1)].superblock = 1;
             m.ops.insert(m.ops.begin() + 2, m.ops[1]);
             m.waits.insert(m.waits.begin() + 2, std::vector<int64_t>{0});
             m.waits[3] = {2};
             m.ops[2].placement = 3;
         },
         "operation 2 (upload for superblock 1 of launch 1), x[0:15]: was lost: nothing holds its "
         "newest version any more"},
        {"read", Discard,
         [](Handmade &m) {
             m.kernels[1].sections[1].role = POLYTILE_INOUT;
             m.kernels[1].operands[1].reads = true;
         },
         "x[0:15]: is read but was lost: nothing holds its newest version any more"},
        {"downloaded", Discard,
         [](Handmade &m) {
             m.ops.insert(m.ops.begin() + 2, m.ops[1]);
             m.waits.insert(m.waits.begin() + 2, std::vector<int64_t>{0});
             m.waits[3] = {1};
             m.ops[2].kind = PTI_DOWNLOAD;
             m.ops[2].placement = 0;
         },
         "x: is used where other data has taken its place"},
        {"written in part", Discard,
         [](Handmade &m) {
             m.kernels[1].threads = m.superblocks[1] = m.ops[2].box = lower;
             m.after[1].valid = m.after[1].dirty = {lower};
         },
         "x[8:15] is lost: overwritten before it was downloaded, and never written again"},
        {"lost by the last launch", Discard,
         [](Handmade &m) {
             m.Drop(2);
             m.kernels.pop_back();
             m.superblocks.pop_back();
             m.launch_placements.resize(2);
             m.ops[1].launch = 0;
             m.ops[1].superblock = 0;
             m.after.pop_back();
         },
         "x[0:15] is lost: overwritten before it was downloaded, and never written again"},
        {"kept", Discard,
         [](Handmade &m) {
             m.after.push_back({0, {all}, {}});
         },
         "placement 0, x: is not there any more"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, WhatIsDroppedMayBeLost) {
    const struct {
        const char *what;
        Handmade (*make)();
        int array;
        void (*change)(Handmade &);
    } rows[] = {
        {"still there", Flush, 0, [](Handmade &m) { m.Drop(0); }},
        {"not said to be dirty", Resume, 1, [](Handmade &m) { m.after.erase(m.after.begin()); }},
        {"its place taken", Discard, 0,
         [](Handmade &m) {
             m.kernels[1].threads = m.superblocks[1] = m.ops[2].box = lower;
             m.after.pop_back();
         }},
    };
    for (const auto &row : rows) {
        Handmade made = row.make();
        row.change(made);
        EXPECT_FALSE(made.Holds()) << row.what;
        made.dropped = {row.array};
        EXPECT_TRUE(made.Holds()) << row.what << ": " << made.why;
    }
}

TEST(CheckLaunches, UnwrittenElementsAreFilled) {
    const Break rows[] = {
        {"uploaded", Resume, [](Handmade &m) { m.ops[0].kind = PTI_UPLOAD; },
         "w[0:15]: was not written by anyone"},
        {"downloaded", Resume,
         [](Handmade &m) {
             m.Drop(0);
             m.Move(PTI_DOWNLOAD, 0, 1, lower);
         },
         "w: is read where nothing was written yet"},
        {"not filled", Resume, [](Handmade &m) { m.Drop(0); },
         "w: is read where nothing was written yet"},
        {"not all filled", Resume,
         [](Handmade &m) {
             m.ops[0].box = upper;
             m.ops[0].bytes = 32;
         },
         "w[0:15]: is read but its newest version is not all there"},
        {"filled though written", Resume, [](Handmade &m) { m.unwritten[1] = {lower}; },
         "w[0:15]: is read but its newest version is not all there"},
        {"an array that was written", Chain, [](Handmade &m) { m.ops[0].kind = PTI_FILL; },
         "does not start from an identity, nor is any of it unwritten"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, ZerosThatNoLaunchWroteMayBeFilledAgain) {
    Handmade made = Resume();
    made.Move(PTI_FILL, 0, 1, lower, {1});
    EXPECT_TRUE(made.Holds()) << made.why;
}

TEST(CheckLaunches, ReductionsStartOnceALaunch) {
    const Break rows[] = {
        {"not filled again", Twice, [](Handmade &m) { m.Drop(m.Find(PTI_FILL, 1)); },
         "s[0]: starts from the identity, not from what was there"},
        {"filled for the launch before", Twice,
         [](Handmade &m) {
             m.ops[m.Find(PTI_FILL, 1)].launch = 0;
             m.ops[m.Find(PTI_FILL, 1)].superblock = 0;
         },
         "s[0:1]: was combined into before"},
        {"filled between its superblocks", Twice,
         [](Handmade &m) {
             m.Move(PTI_FILL, 2, 1, Box({{0}}), {3});
             std::swap(m.ops[4], m.ops[5]);
             m.waits[5] = {4};
             m.waits[4] = {3};
         },
         "operation 4 (fill for superblock 2 of launch 1), s[0]: was combined into before"},
        {"overwritten by an identity that stays", Twice,
         [](Handmade &m) {
             m.kernels[1].sections[1].subscript[0] = Sub(1, 1, {});
             m.after[0].valid = m.after[0].dirty = {Box({{1}})};
         },
         "s[0] is lost: overwritten before it was downloaded, and never written again"},
        {"uploaded", Twice, [](Handmade &m) { m.ops[m.Find(PTI_FILL)].kind = PTI_UPLOAD; },
         "starts from the identity, not from what the host holds"},
    };
    for (const Break &row : rows)
        ExpectRejected(row);
}

TEST(CheckLaunches, AnIdentityOfAnotherReductionIsNone) {
    Handmade made = Twice();
    const pti_op fill = made.ops[2];
    made.ops[2].launch = 0;
    made.ops[2].superblock = 0;
    made.ops[2].box = Box({{1}});
    made.ops[2].bytes = 4;
    made.kernels[1].sections[1].subscript[0] = Sub(1, 1, {});
    made.after[0].valid = made.after[0].dirty = {Box({{0, 1}})};
    EXPECT_FALSE(made.Holds());
    EXPECT_NE(made.why.find("s[1]: is read but its newest version is not all there"),
              std::string::npos)
        << made.why;
    made.ops[2].launch = fill.launch;
    made.ops[2].superblock = fill.superblock;
    EXPECT_TRUE(made.Holds()) << made.why;
}

/** w, which nobody wrote, is filled for two launches; what came home between them is sent again. */
Handmade FilledAgain(bool comes_home) {
    Handmade made;
    Arrays(made, {"y", "w"});
    const int64_t y = made.Place(0, 0, all), w = made.Place(1, 64, all),
                  next = made.Place(1, 64, all);
    made.before = {{y, {all}, {}}};
    made.unwritten = {{}, {all}};
    made.Begin(Kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    const int64_t zero = made.Move(PTI_FILL, 0, w, all);
    made.Launch(all, {y, w});
    const int64_t home = made.Move(PTI_DOWNLOAD, 0, w, comes_home ? all : lower, {zero});
    made.Begin(Kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    made.Move(PTI_FILL, 1, w, all, {home});
    const int64_t launch = made.Launch(all, {y, w});
    made.Begin(Kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    const int64_t sent = made.Move(PTI_UPLOAD, 2, next, all, {launch, home});
    made.Launch(all, {y, next}, {sent});
    made.after = {{next, {all}, {}}, {y, {all}, {all}}};
    return made;
}

TEST(CheckLaunches, ZerosThatCameHomeAreThereAlthoughTheyAreFilledAgain) {
    Handmade right = FilledAgain(true), wrong = FilledAgain(false);
    EXPECT_TRUE(right.Holds()) << right.why;
    EXPECT_FALSE(wrong.Holds());
    EXPECT_NE(wrong.why.find("nothing holds its newest version any more"), std::string::npos)
        << wrong.why;
}

TEST(CheckLaunches, AnElementDirtyInOneHoldingIsNewerThanTheHostsInAll) {
    for (const bool downloaded : {true, false}) {
        Handmade made;
        Arrays(made, {"x", "y"});
        const int64_t x = made.Place(0, 0, all), piece = made.Place(0, 64, upper);
        made.before = {{x, {all}, {}}, {piece, {upper}, {upper}}};
        if (downloaded)
            made.Move(PTI_DOWNLOAD, 0, x, upper);
        made.after = {{x, {all}, {}}};
        EXPECT_EQ(made.Holds(), downloaded) << made.why;
        made.after[0].dirty = {upper};
        EXPECT_EQ(made.Holds(), !downloaded) << made.why;
    }
}

/** A box list with something wrong in it. */
void Spoil(Random &random, std::vector<polytile_domain> &boxes, int64_t value) {
    if (boxes.empty() || random.chance(20)) {
        boxes.push_back(polytile_domain{});
        return;
    }
    polytile_domain &box = boxes[static_cast<size_t>(random.number(0, 9)) % boxes.size()];
    polytile_range &range = box.range[random.number(0, 1)];
    int64_t *const fields[] = {&range.lo, &range.hi, &range.step};
    const int64_t field = random.number(0, 3);
    if (field == 3)
        box.n_dims = static_cast<int>(value);
    else
        *fields[field] = value;
}

void SpoilHolding(Random &random, std::vector<HandHolding> &holdings, int64_t value) {
    if (holdings.empty())
        return;
    HandHolding &holding = holdings[static_cast<size_t>(random.number(0, 9)) % holdings.size()];
    if (random.chance(30))
        holding.placement = value;
    else
        Spoil(random, random.chance(50) ? holding.valid : holding.dirty, value);
}

void SpoilKernel(Random &random, Handmade &made, int64_t value) {
    if (made.kernels.empty())
        return;
    HandKernel &kernel =
        made.kernels[static_cast<size_t>(random.number(0, 9)) % made.kernels.size()];
    int64_t *const fields[] = {&kernel.first_superblock, &kernel.n_superblocks};
    if (random.chance(50))
        *fields[random.number(0, 1)] = value;
    else
        kernel.arrays[0] = static_cast<int>(value);
}

TEST(CheckLaunches, HostileSchedulesDoNotCrash) {
    const uint64_t seed = test_seed("CheckLaunches.HostileSchedulesDoNotCrash");
    Random random(seed);
    for (int64_t round = 0; round < scaled(20000); round++) {
        Handmade made = rights[random.number(0, std::size(rights) - 1)].make();
        for (int64_t n = random.number(1, 3); n > 0; n--) {
            const int64_t value = random.one_of({INT64_MIN, INT64_MAX, INT64_MAX / 2, -1, 0, 1, 2,
                                                 3, 7, 16, INT64_MIN / 2, 1 << 20});
            pti_op &op = made.ops[static_cast<size_t>(random.number(0, 9)) % made.ops.size()];
            switch (random.number(0, 6)) {
            case 0:
                SpoilHolding(random, made.before, value);
                break;
            case 1:
                SpoilHolding(random, made.after, value);
                break;
            case 2:
                SpoilKernel(random, made, value);
                break;
            case 3:
                op.launch = static_cast<int>(value);
                break;
            case 4:
                op.superblock = value;
                break;
            case 5:
                made.unwritten.resize(made.operands.size());
                Spoil(random, made.unwritten[0], value);
                break;
            default:
                made.placements[0].offset_bytes = value;
            }
        }
        const bool holds = made.Holds();
        ASSERT_EQ(holds, made.why.empty()) << "POLYTILE_TEST_SEED=" << seed;
    }
}

/** b = a and a = b in turn, each in two superblocks, of which one goes home. */
Handmade Relay(int n_launches) {
    Handmade made;
    Arrays(made, {"a", "b"});
    const HandKernel copy = Kernel({POLYTILE_IN, POLYTILE_OUT});
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
