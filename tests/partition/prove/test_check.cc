#include "partition/prove/handmade.h"

#include <chrono>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <iostream>
#include <limits>
#include <random>

#include "support/scale.h"

namespace {

/** A way to break a right schedule, and a part of what the checker must say. */
struct Break {
    const char *what;
    std::function<Handmade()> make;
    std::function<void(Handmade &)> change;
    const char *says;
};

Handmade Add() {
    return VectorAdd(4, 16);
}
Handmade Smooth() {
    return Stencil(4, 8);
}
Handmade Product() {
    return Matmul(3, 2);
}
Handmade Total() {
    return Sum(4, 8);
}

/** An inout vector whose two halves are resident one after the other. */
Handmade Scale() {
    Handmade made;
    made.threads = Box({{0, 15}});
    made.Operand("x", 4, made.threads);
    made.Section(POLYTILE_INOUT, false, {Sub(0, 0, {1})});
    int64_t download = -1;
    for (int64_t k = 0; k < 2; k++) {
        const polytile_domain box = Box({{8 * k, 8 * k + 7}});
        const int64_t x = made.Place(0, 0, box);
        std::vector<int64_t> used;
        if (k > 0)
            used.push_back(download);
        const int64_t ready = made.Move(PTI_UPLOAD, k, x, box, used);
        const int64_t launch = made.Launch(box, {x}, {ready});
        download = made.Move(PTI_DOWNLOAD, k, x, box, {launch});
    }
    return made;
}

/** The halo of a one-slot stencil moves within the slot. */
Handmade Shift(int64_t size) {
    Handmade made;
    made.threads = Box({{1, 2 * size}});
    made.Operand("A", 4, Box({{0, 2 * size + 1}}));
    made.Section(POLYTILE_IN, false, {Sub(-1, 1, {1})});
    made.Operand("B", 4, Box({{0, 2 * size + 1}}));
    made.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
    const int64_t b = made.Place(1, 0, Box({{1, 2 * size}}));
    const int64_t first = made.Place(0, 8 * size, Box({{0, size + 1}}));
    const int64_t second = made.Place(0, 8 * size, Box({{size, 2 * size + 1}}));
    const int64_t in = made.Move(PTI_UPLOAD, 0, first, Box({{0, size + 1}}));
    const int64_t launch = made.Launch(Box({{1, size}}), {first, b}, {in});
    made.Move(PTI_COPY, 1, second, Box({{size, size + 1}}), {launch}, first);
    const int64_t rest = made.Move(PTI_UPLOAD, 1, second, Box({{size + 2, 2 * size + 1}}));
    const int64_t last = made.Launch(Box({{size + 1, 2 * size}}), {second, b}, {rest});
    made.Move(PTI_DOWNLOAD, 1, b, Box({{1, 2 * size}}), {last});
    return made;
}

TEST(Check, AcceptsRightSchedules) {
    const struct {
        const char *what;
        Handmade made;
    } rows[] = {{"vector add", Add()},
                {"vector add, one superblock", VectorAdd(1, 5)},
                {"stencil", Smooth()},
                {"stencil of size 2", Stencil(7, 2)},
                {"matmul", Product()},
                {"sum", Total()},
                {"sum in place", SumInPlace()},
                {"inout", Scale()},
                {"a halo moved in its slot", Shift(8)}};
    for (auto row : rows)
        EXPECT_TRUE(row.made.Holds()) << row.what << ": " << row.made.why;
}

TEST(Check, LetsDataSlideAlongTheirOwnMemory) {
    Handmade made = Shift(8);
    made.placements[2].layout.hull.range[0].lo -= 7;
    made.placements[2].layout.size_bytes += 28;
    made.arena_bytes += 28;
    EXPECT_TRUE(made.Holds()) << made.why;
}

TEST(Check, RejectsWhatIsBroken) {
    const Break rows[] = {
        {"upload dropped", Add, [](Handmade &m) { m.Drop(m.Find(PTI_UPLOAD, 2)); },
         "operation 5 (launch for superblock 1), x: is read where nothing was written yet"},
        {"upload one short", Add,
         [](Handmade &m) {
             pti_op &op = m.ops[m.Find(PTI_UPLOAD, 2)];
             op.box.range[0].hi--;
             op.bytes -= 4;
         },
         "x[16:31]: is read"},
        {"bytes miscounted", Add, [](Handmade &m) { m.ops[0].bytes++; }, "counts other bytes"},
        {"slots swapped", Add,
         [](Handmade &m) { std::swap(m.placements[0].offset_bytes, m.placements[3].offset_bytes); },
         "does not wait for the last use of the memory it takes over"},
        {"placements swapped", Add,
         [](Handmade &m) { std::swap(m.launch_placements[0], m.launch_placements[3]); },
         "is read where nothing was written yet"},
        {"placement of another array", Add,
         [](Handmade &m) { std::swap(m.launch_placements[0], m.launch_placements[1]); },
         "which is none of it"},
        {"no placement", Add, [](Handmade &m) { m.launch_placements[0] = -1; },
         "x[0:15]: has no placement"},
        {"limit lowered", Add, [](Handmade &m) { m.limit_bytes--; }, "exceeds the limit"},
        {"arena too small", Add, [](Handmade &m) { m.arena_bytes--; }, "not lie in the arena"},
        {"offset shifted", Add, [](Handmade &m) { m.placements[0].offset_bytes += 4; }, ""},
        {"negative offset", Add, [](Handmade &m) { m.placements[0].offset_bytes = -4; },
         "not lie in the arena"},
        {"launch does not wait for its upload", Add,
         [](Handmade &m) { m.waits[m.Find(PTI_LAUNCH, 1)].clear(); }, "may run beside"},
        {"upload does not wait for the slot", Add,
         [](Handmade &m) { m.waits[m.Find(PTI_UPLOAD, 4)].clear(); },
         "does not wait for the last use of the memory it takes over"},
        {"launch does not wait for the download", Add,
         [](Handmade &m) {
             m.waits[m.Find(PTI_LAUNCH, 2)].erase(m.waits[m.Find(PTI_LAUNCH, 2)].begin());
         },
         "does not wait for the last use of the memory it takes over"},
        {"download does not wait", Add,
         [](Handmade &m) { m.waits[m.Find(PTI_DOWNLOAD, 0)].clear(); }, "may run beside"},
        {"download dropped", Add, [](Handmade &m) { m.Drop(m.Find(PTI_DOWNLOAD, 3)); },
         "z[48:63] is never downloaded"},
        {"early download dropped", Add, [](Handmade &m) { m.Drop(m.Find(PTI_DOWNLOAD, 0)); },
         "z[0:15] is lost: overwritten before it was downloaded, and never written again"},
        {"download one short", Add,
         [](Handmade &m) {
             pti_op &op = m.ops[m.Find(PTI_DOWNLOAD, 3)];
             op.box.range[0].lo++;
             op.bytes -= 4;
         },
         "z[48] is never downloaded"},
        {"download twice", Add,
         [](Handmade &m) {
             const pti_op op = m.ops[m.Find(PTI_DOWNLOAD, 3)];
             m.Move(PTI_DOWNLOAD, 3, op.placement, op.box);
         },
         "is not newer than the host's"},
        {"download before the launch", Add,
         [](Handmade &m) {
             std::swap(m.ops[2], m.ops[3]);
             m.waits[2].clear();
         },
         "is read where nothing was written yet"},
        {"download of an input", Add,
         [](Handmade &m) {
             m.Move(PTI_DOWNLOAD, 3, 9, Box({{48, 63}}),
                    {static_cast<int64_t>(m.Find(PTI_LAUNCH, 3))});
         },
         "is not newer than the host's"},
        {"wait for a later operation", Add, [](Handmade &m) { m.waits[0] = {5}; },
         "does not come before it"},
        {"wait for itself", Add, [](Handmade &m) { m.waits[3] = {3}; }, "does not come before it"},
        {"superblock launched twice", Add,
         [](Handmade &m) { m.ops[m.Find(PTI_LAUNCH, 1)].superblock = 0; }, "out of order or again"},
        {"superblock not launched", Add,
         [](Handmade &m) {
             m.Drop(m.Find(PTI_DOWNLOAD, 3));
             m.Drop(m.Find(PTI_LAUNCH, 3));
         },
         "4 superblocks, but 3 launches"},
        {"superblocks overlap", Add,
         [](Handmade &m) {
             m.superblocks[1].range[0] = {15, 30, 1};
             m.ops[m.Find(PTI_LAUNCH, 1)].box = m.superblocks[1];
         },
         "overlaps another"},
        {"superblock too small", Add, [](Handmade &m) { m.superblocks[1].range[0].hi--; },
         "hold 63 threads, the launch domain 64"},
        {"superblock outside", Add,
         [](Handmade &m) {
             m.superblocks[3].range[0] = {49, 64, 1};
         },
         "no box of the launch domain"},
        {"other threads launched", Add,
         [](Handmade &m) { m.ops[m.Find(PTI_LAUNCH, 1)].box.range[0].hi--; },
         "other threads than its superblock's"},
        {"halo not copied", Smooth, [](Handmade &m) { m.Drop(m.Find(PTI_COPY, 1)); }, ""},
        {"halo one short", Smooth,
         [](Handmade &m) {
             pti_op &op = m.ops[m.Find(PTI_COPY, 1)];
             op.box.range[0].lo++;
             op.bytes -= 4;
         },
         "is read"},
        {"halo from a piece that lacks it", Smooth,
         [](Handmade &m) { m.ops[m.Find(PTI_COPY, 1)].source_placement = 0; }, "not in its source"},
        {"halo from nowhere", Smooth,
         [](Handmade &m) { m.ops[m.Find(PTI_COPY, 1)].source_placement = 99; },
         "copies from no other placement"},
        {"halo taken from the upload after it", Smooth,
         [](Handmade &m) {
             std::swap(m.ops[4], m.ops[5]);
             m.Drop(1);
         },
         ""},
        {"halo moved onto itself", [] { return Shift(8); },
         [](Handmade &m) {
             m.placements[2].layout.hull.range[0].lo -= 4;
             m.placements[2].layout.stride_bytes[0] = 8;
             m.placements[2].layout.size_bytes = 14 * 8;
             m.arena_bytes += 14 * 8;
         },
         "is copied onto itself"},
        {"halo copied while it is read", [] { return Shift(8); },
         [](Handmade &m) { m.waits[m.Find(PTI_COPY)].clear(); }, "does not wait"},
        {"not filled", Product, [](Handmade &m) { m.Drop(m.Find(PTI_FILL, 1)); }, ""},
        {"filled again", Product,
         [](Handmade &m) {
             m.Move(PTI_FILL, 0, m.ops[m.Find(PTI_FILL)].placement, m.ops[m.Find(PTI_FILL)].box);
         },
         "was combined into before"},
        {"accumulator uploaded instead", Product,
         [](Handmade &m) { m.ops[m.Find(PTI_FILL)].kind = PTI_UPLOAD; },
         "starts from the identity"},
        {"input filled", Product, [](Handmade &m) { m.ops[m.Find(PTI_UPLOAD)].kind = PTI_FILL; },
         "does not start from an identity"},
        {"panel of the wrong k", Product,
         [](Handmade &m) { std::swap(m.launch_placements[1], m.launch_placements[4]); }, ""},
        {"sum downloaded too early", Total,
         [](Handmade &m) {
             m.ops[m.ops.size() - 1].superblock = 2;
             std::swap(m.ops[m.ops.size() - 1], m.ops[m.ops.size() - 2]);
             m.waits[m.ops.size() - 2] = {6};
             m.waits[m.ops.size() - 1] = {7};
         },
         ""},
        {"sum filled late", Total,
         [](Handmade &m) {
             const pti_op fill = m.ops[0];
             m.Drop(0);
             m.Move(PTI_FILL, 3, fill.placement, fill.box);
         },
         "is read"},
        {"inout piece not ordered after its download", Scale,
         [](Handmade &m) { m.waits[m.Find(PTI_UPLOAD, 1)].clear(); }, "does not wait"},
        {"inout piece uploaded when the device has newer", Scale,
         [](Handmade &m) {
             const pti_op up = m.ops[0];
             m.ops.insert(m.ops.begin() + 2, up);
             m.waits.assign(m.ops.size(), {});
             for (size_t i = 1; i < m.ops.size(); i++)
                 m.waits[i].push_back(static_cast<int64_t>(i) - 1);
         },
         "out of date"},
        {"transfer in place", SumInPlace, [](Handmade &m) { m.ops[0].kind = PTI_UPLOAD; },
         "runs in place"},
        {"part of an array in place", SumInPlace,
         [](Handmade &m) { m.placements[0].layout.hull.range[0].hi--; }, "is not the whole array"},
        {"host data filled in place that no thread writes", SumInPlace,
         [](Handmade &m) {
             m.ops[0].box = Box({{0, 1}});
             m.ops[0].bytes *= 2;
         },
         "s[1] is filled in place but never written"},
        {"not filled in place", SumInPlace, [](Handmade &m) { m.Drop(0); }, "s[0]: is read"},
    };
    for (const Break &row : rows) {
        Handmade made = row.make();
        ASSERT_TRUE(made.Holds()) << row.what << ": " << made.why;
        row.change(made);
        EXPECT_FALSE(made.Holds()) << row.what;
        EXPECT_NE(made.why.find(row.says), std::string::npos) << row.what << " gave " << made.why;
    }
}

TEST(Check, ElementsOfAPlacementShareNoBytes) {
    const struct {
        std::vector<int64_t> strides;
        int64_t size_bytes;
        bool holds;
    } rows[] = {{{16, 4}, 64, true}, {{16, 4}, 63, false},  {{12, 4}, 64, false},
                {{4, 16}, 64, true}, {{16, 3}, 64, false},  {{64, 4}, 208, true},
                {{0, 4}, 64, false}, {{16, -4}, 64, false}, {{INT64_MAX, 4}, 64, false},
                {{17, 4}, 67, true}, {{4, 4}, 64, false}};
    for (const auto &row : rows) {
        Handmade made;
        made.threads = Box({{0, 3}, {0, 3}});
        made.Operand("x", 4, made.threads);
        made.Section(POLYTILE_INOUT, false, {Sub(0, 0, {1, 0}), Sub(0, 0, {0, 1})});
        const int64_t x = made.Place(0, 0, made.threads);
        const int64_t up = made.Move(PTI_UPLOAD, 0, x, made.threads);
        const int64_t launch = made.Launch(made.threads, {x}, {up});
        made.Move(PTI_DOWNLOAD, 0, x, made.threads, {launch});
        made.placements[0].layout.stride_bytes[0] = row.strides[0];
        made.placements[0].layout.stride_bytes[1] = row.strides[1];
        made.placements[0].layout.size_bytes = row.size_bytes;
        made.arena_bytes = 1000;
        EXPECT_EQ(made.Holds(), row.holds)
            << row.strides[0] << ", " << row.strides[1] << ": " << made.why;
    }
}

TEST(Check, MemoryTakenOverInPartsWaitsForAllThatLayThere) {
    for (const bool waits : {true, false}) {
        Handmade made;
        made.threads = Box({{0, 4}});
        made.Operand("x", 4, made.threads);
        made.Section(POLYTILE_IN, false, {Sub(0, 0, {1})});
        made.Operand("z", 4, made.threads);
        made.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
        const polytile_domain box[] = {Box({{0, 1}}), Box({{2, 3}}), Box({{4}})};
        const int64_t x_offset[] = {0, 24, 0}, z_offset[] = {16, 4, 32};
        int64_t first_launch = -1;
        for (int k = 0; k < 3; k++) {
            const int64_t x = made.Place(0, x_offset[k], box[k]);
            const int64_t z = made.Place(1, z_offset[k], box[k]);
            std::vector<int64_t> used;
            if (k == 2 && waits)
                used.push_back(first_launch);
            const int64_t ready = made.Move(PTI_UPLOAD, k, x, box[k], used);
            const int64_t launch = made.Launch(box[k], {x, z}, {ready});
            if (k == 0)
                first_launch = launch;
            made.Move(PTI_DOWNLOAD, k, z, box[k], {launch});
        }
        EXPECT_EQ(made.Holds(), waits) << made.why;
    }
}

/** One superblock that uploads given boxes of A over 0 .. 63 and writes B[i]. */
Handmade ReadOnce(const polytile_domain &threads, const std::vector<pti_subscript> &subscripts,
                  const std::vector<polytile_domain> &uploads) {
    Handmade made;
    made.threads = threads;
    polytile_domain of_a = {};
    for (size_t d = 0; d < subscripts.size(); d++)
        of_a.range[of_a.n_dims++] = {0, 63, 1};
    made.Operand("A", 4, of_a);
    made.Section(POLYTILE_IN, false, subscripts);
    const int64_t a = made.Place(0, 0, of_a);
    int64_t last = -1;
    for (const auto &box : uploads)
        last = made.Move(PTI_UPLOAD, 0, a, box);
    made.Launch(threads, {a}, {last});
    return made;
}

TEST(Check, NeedsAreExactlyWhatThreadsTouch) {
    const polytile_domain line = Box({{0, 9}}), square = Box({{0, 4}, {0, 4}});
    const struct {
        const char *what;
        polytile_domain threads;
        std::vector<pti_subscript> subscripts;
        std::vector<polytile_domain> uploads;
        bool holds;
    } rows[] = {
        {"A[2*i]", line, {Sub(0, 0, {2})}, {Box({{0, 18, 2}})}, true},
        {"A[2*i], one missing", line, {Sub(0, 0, {2})}, {Box({{0, 16, 2}})}, false},
        {"A[4*i:4*i+1]", line, {Sub(0, 1, {4})}, {Box({{0, 36, 4}}), Box({{1, 37, 4}})}, true},
        {"A[4*i:4*i+1], one missing",
         line,
         {Sub(0, 1, {4})},
         {Box({{0, 36, 4}}), Box({{1, 33, 4}})},
         false},
        {"A[i, i]",
         Box({{0, 2}}),
         {Sub(0, 0, {1}), Sub(0, 0, {1})},
         {Box({{0}, {0}}), Box({{1}, {1}}), Box({{2}, {2}})},
         true},
        {"A[i, i], one missing",
         Box({{0, 2}}),
         {Sub(0, 0, {1}), Sub(0, 0, {1})},
         {Box({{0}, {0}}), Box({{2}, {2}})},
         false},
        {"A[i, 0:i]",
         Box({{0, 2}}),
         {Sub(0, 0, {1}), {Affine(0, {}), Affine(0, {1}), 1}},
         {Box({{0}, {0}}), Box({{1}, {0, 1}}), Box({{2}, {0, 2}})},
         true},
        {"A[i, 0:i], one missing",
         Box({{0, 2}}),
         {Sub(0, 0, {1}), {Affine(0, {}), Affine(0, {1}), 1}},
         {Box({{0}, {0}}), Box({{1}, {0, 1}}), Box({{2}, {1, 2}})},
         false},
        {"A[i, 0:i-1], nothing for i = 0",
         Box({{0, 1}}),
         {Sub(0, 0, {1}), {Affine(0, {}), Affine(-1, {1}), 1}},
         {Box({{1}, {0}})},
         true},
        {"A[i+j]", square, {Sub(0, 0, {1, 1})}, {Box({{0, 8}})}, true},
        {"A[i+j], one missing", square, {Sub(0, 0, {1, 1})}, {Box({{0, 7}})}, false},
        {"A[10*i+j]",
         square,
         {Sub(0, 0, {10, 1})},
         {Box({{0, 4}}), Box({{10, 14}}), Box({{20, 24}}), Box({{30, 34}}), Box({{40, 44}})},
         true},
        {"A[10*i+j], one missing",
         square,
         {Sub(0, 0, {10, 1})},
         {Box({{0, 4}}), Box({{10, 14}}), Box({{20, 23}}), Box({{30, 34}}), Box({{40, 44}})},
         false},
        {"A[9-i]", line, {Sub(9, 9, {-1})}, {Box({{0, 9}})}, true},
        {"A[9-i], one missing", line, {Sub(9, 9, {-1})}, {Box({{1, 9}})}, false},
        {"A[i-1:i+1] at the border", line, {Sub(-1, 1, {1})}, {Box({{0, 10}})}, true},
        {"A[i:2*i]", line, {{Affine(0, {1}), Affine(0, {2}), 1}}, {Box({{0, 18}})}, true},
        {"A[i:2*i], one missing",
         line,
         {{Affine(0, {1}), Affine(0, {2}), 1}},
         {Box({{0, 16}}), Box({{18}})},
         false},
        {"A[0:60:6]", line, {{Affine(0, {}), Affine(60, {}), 6}}, {Box({{0, 60, 6}})}, true},
    };
    for (const auto &row : rows) {
        Handmade made = ReadOnce(row.threads, row.subscripts, row.uploads);
        EXPECT_EQ(made.Holds(), row.holds) << row.what << ": " << made.why;
    }
}

TEST(Check, OnlyWrittenElementsReachTheHost) {
    for (const bool exact : {true, false}) {
        Handmade made;
        made.threads = Box({{0, 7}});
        made.Operand("A", 4, Box({{0, 15}}));
        made.Section(POLYTILE_OUT, false, {Sub(0, 0, {2})});
        const polytile_domain box = exact ? Box({{0, 14, 2}}) : Box({{0, 14}});
        const int64_t a = made.Place(0, 0, box);
        const int64_t launch = made.Launch(made.threads, {a});
        made.Move(PTI_DOWNLOAD, 0, a, box, {launch});
        EXPECT_EQ(made.Holds(), exact) << made.why;
    }
}

TEST(Check, APartialOperandIsReadAndWrittenWhole) {
    for (const bool uploaded : {true, false}) {
        Handmade made;
        made.threads = Box({{0, 7}});
        made.Operand("A", 4, Box({{0, 15}}));
        made.Section(POLYTILE_OUT, false, {Sub(0, 0, {2})});
        made.sections.back().exact = false;
        made.operands.back().partial = true;
        made.operands.back().reads = true;
        const polytile_domain hull = Box({{0, 14, 2}});
        const int64_t a = made.Place(0, 0, hull);
        std::vector<int64_t> ready;
        if (uploaded)
            ready.push_back(made.Move(PTI_UPLOAD, 0, a, hull));
        const int64_t launch = made.Launch(made.threads, {a}, ready);
        made.Move(PTI_DOWNLOAD, 0, a, hull, {launch});
        EXPECT_EQ(made.Holds(), uploaded) << made.why;
    }
}

uint64_t Seed() {
    const char *text = std::getenv("POLYTILE_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : std::random_device{}();
}

TEST(Check, HostileSchedulesDoNotCrash) {
    const uint64_t seed = Seed();
    SCOPED_TRACE("POLYTILE_TEST_SEED=" + std::to_string(seed));
    std::mt19937_64 random(seed);
    const Handmade rights[] = {Add(),        Smooth(), Product(), Total(),
                               SumInPlace(), Scale(),  Shift(8)};
    const int64_t values[] = {INT64_MIN, INT64_MAX,     -1,           0, 1, 2, 3, 7,
                              99,        INT64_MAX / 2, INT64_MIN / 2};
    auto value = [&] { return values[random() % std::size(values)]; };
    auto spoil_box = [&](polytile_domain &box) {
        polytile_range &range = box.range[random() % 3];
        switch (random() % 4) {
        case 0:
            range.lo = value();
            break;
        case 1:
            range.hi = value();
            break;
        case 2:
            range.step = value();
            break;
        default:
            box.n_dims = static_cast<int>(value());
        }
    };
    for (int64_t round = 0; round < scaled(20000); round++) {
        Handmade made = rights[random() % std::size(rights)];
        for (uint64_t n = random() % 3 + 1; n > 0; n--) {
            pti_op &op = made.ops[random() % made.ops.size()];
            pti_placement &placement = made.placements[random() % made.placements.size()];
            switch (random() % 14) {
            case 0:
                op.kind = static_cast<pti_op_kind>(random() % 8);
                break;
            case 1:
                op.superblock = value();
                break;
            case 2:
                op.placement = value();
                break;
            case 3:
                op.source_placement = value();
                break;
            case 4:
                spoil_box(op.box);
                break;
            case 5:
                placement.operand = static_cast<int>(value());
                break;
            case 6:
                placement.offset_bytes = value();
                break;
            case 7:
                placement.layout.stride_bytes[random() % 3] = value();
                break;
            case 8:
                placement.layout.size_bytes = value();
                break;
            case 9:
                spoil_box(placement.layout.hull);
                break;
            case 10:
                spoil_box(made.superblocks[random() % made.superblocks.size()]);
                break;
            case 11:
                made.waits[random() % made.waits.size()].push_back(value());
                break;
            case 12:
                made.launch_placements[random() % made.launch_placements.size()] = value();
                break;
            default:
                made.arena_bytes = value();
            }
        }
        const bool holds = made.Holds();
        ASSERT_EQ(holds, made.why.empty());
    }
}

/** Pieces of three elements, both outside x, with all of x between them. */
TEST(Check, WhatNoThreadTouchesNeedNotBeThere) {
    Handmade made;
    made.threads = Box({{0, 1}});
    made.Operand("x", 4, Box({{0, 5}}));
    made.Section(POLYTILE_IN, false, {Sub(-3, -1, {10})});
    made.Operand("y", 4, Box({{0, 1}}));
    made.Section(POLYTILE_OUT, false, {Sub(0, 0, {1})});
    const int64_t x = made.Place(0, 0, Box({{0, 5}})), y = made.Place(1, 24, Box({{0, 1}}));
    const int64_t launch = made.Launch(made.threads, {x, y});
    made.Move(PTI_DOWNLOAD, 0, y, made.threads, {launch});
    EXPECT_TRUE(made.Holds()) << made.why;
    made.sections[0].subscript[0] = Sub(-3, 0, {10});
    EXPECT_FALSE(made.Holds());
    EXPECT_NE(made.why.find("x: is read where nothing was written yet"), std::string::npos)
        << made.why;
}

TEST(Check, AcceptsThousandsOfSuperblocks) {
    const struct {
        const char *what;
        std::function<Handmade()> make;
    } rows[] = {{"vector add", [] { return VectorAdd(5000, 16); }},
                {"stencil", [] { return Stencil(5000, 8); }},
                {"matmul", [] { return Matmul(70, 2); }},
                {"sum", [] { return Sum(5000, 4); }}};
    for (const auto &row : rows) {
        Handmade made = row.make();
        const auto start = std::chrono::steady_clock::now();
        EXPECT_TRUE(made.Holds()) << row.what << ": " << made.why;
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::cout << row.what << ": " << made.ops.size() << " operations checked in "
                  << took.count() * 1e3 << " ms\n";
    }
}

} // namespace
