#include "partition/prove/handmade_launches.h"

/* The checker on the data of several launches: on the device before and after them, written, lost,
 * filled and reduced. */

namespace {

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
        {"memory taken over before it went to the host", Evict,
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

/** w, which nobody wrote, is filled for two launches; what came to the host between them is sent
 * again. */
Handmade FilledAgain(bool comes_home) {
    Handmade made;
    Arrays(made, {"y", "w"});
    const int64_t y = made.Place(0, 0, all), w = made.Place(1, 64, all),
                  next = made.Place(1, 64, all);
    made.before = {{y, {all}, {}}};
    made.unwritten = {{}, {all}};
    made.Begin(hand_kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    const int64_t zero = made.Move(PTI_FILL, 0, w, all);
    made.Launch(all, {y, w});
    const int64_t home = made.Move(PTI_DOWNLOAD, 0, w, comes_home ? all : lower, {zero});
    made.Begin(hand_kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    made.Move(PTI_FILL, 1, w, all, {home});
    const int64_t launch = made.Launch(all, {y, w});
    made.Begin(hand_kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
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

} // namespace
