#ifndef POLYTILE_TESTS_PARTITION_PROVE_HANDMADE_LAUNCHES_H
#define POLYTILE_TESTS_PARTITION_PROVE_HANDMADE_LAUNCHES_H

#include "partition/prove/handmade.h"

#include <gtest/gtest.h>

/* Right schedules of several launches, with data on the device before and after them, and what
 * makes them wrong. */

const polytile_domain all = Box({{0, 15}}), lower = Box({{0, 7}}), upper = Box({{8, 15}});

inline void Arrays(Handmade &made, const std::vector<std::string> &names) {
    for (const auto &name : names)
        made.Operand(name, 4, all);
}

/** Over 0 .. 15: each operand [i] in its role. */
inline HandKernel hand_kernel(const std::vector<polytile_role> &roles) {
    HandKernel kernel;
    kernel.threads = all;
    for (const polytile_role role : roles) {
        kernel.Operand("operand" + std::to_string(kernel.operands.size()), 4, all);
        kernel.Section(role, false, {Sub(0, 0, {1})});
    }
    return kernel;
}

/** total[i]: in x[i]; out sum s[0] */
inline HandKernel Total(polytile_role reduction = POLYTILE_SUM) {
    HandKernel kernel = hand_kernel({POLYTILE_IN});
    kernel.Operand("s", 4, Box({{0, 3}}));
    kernel.Section(reduction, true, {Sub(0, 0, {})});
    return kernel;
}

/** y = x in two superblocks, then z = y in one; z stays on the device, y and x do too. */
inline Handmade Chain() {
    Handmade made;
    Arrays(made, {"x", "y", "z"});
    const HandKernel copy = hand_kernel({POLYTILE_IN, POLYTILE_OUT});
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
inline Handmade Resume() {
    Handmade made;
    Arrays(made, {"y", "w"});
    const int64_t y = made.Place(0, 0, all), w = made.Place(1, 64, all);
    made.before = {{y, {all}, {lower}}};
    made.unwritten = {{}, {all}};
    made.Begin(hand_kernel({POLYTILE_INOUT, POLYTILE_IN}), {0, 1});
    const int64_t zero = made.Move(PTI_FILL, 0, w, all);
    const int64_t launch = made.Launch(all, {y, w}, {zero});
    made.Move(PTI_DOWNLOAD, 0, y, lower, {launch});
    made.after = {{w, {all}, {all}}, {y, {all}, {upper}}};
    return made;
}

/** s is reduced twice, the second time on top of the first, which nobody needs. */
inline Handmade Twice() {
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
inline Handmade Flush() {
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
inline Handmade SameArray() {
    Handmade made;
    Arrays(made, {"x", "z"});
    const int64_t x = made.Place(0, 0, all), z = made.Place(1, 64, all);
    const int64_t new_x = made.Place(0, 128, all);
    made.before = {{x, {all}, {all}}};
    made.Begin(hand_kernel({POLYTILE_IN, POLYTILE_IN, POLYTILE_OUT}), {0, 0, 1});
    made.Launch(all, {x, z});
    made.Begin(hand_kernel({POLYTILE_IN, POLYTILE_OUT}), {1, 0});
    made.Launch(all, {new_x, z});
    made.after = {{z, {all}, {all}}, {new_x, {all}, {all}}};
    return made;
}

/** x[i + 8] += x[i], and then z[i] = x[i + 8] - x[i], over 0 .. 7: halves of x in images of their
 * own, of which the lower one has room for all and held the upper half too. */
inline Handmade Halves() {
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
inline Handmade Evict() {
    Handmade made;
    Arrays(made, {"x", "y"});
    const int64_t x = made.Place(0, 0, all), y = made.Place(1, 0, all),
                  back = made.Place(0, 64, all);
    made.before = {{x, {all}, {}}};
    made.Begin(hand_kernel({POLYTILE_INOUT}), {0});
    const int64_t first = made.Launch(all, {x, -1});
    const int64_t home = made.Move(PTI_DOWNLOAD, 0, x, all, {first});
    made.Begin(hand_kernel({POLYTILE_IN, POLYTILE_OUT}), {0, 1});
    const int64_t in = made.Move(PTI_UPLOAD, 1, back, all, {home});
    made.Launch(all, {back, y}, {in});
    made.after = {{y, {all}, {all}}};
    return made;
}

/** Nothing needs what x = y gave, as x = z follows; its place goes to z between them. */
inline Handmade Discard() {
    Handmade made;
    Arrays(made, {"x", "y", "z"});
    const int64_t x = made.Place(0, 0, all), y = made.Place(1, 64, all), z = made.Place(2, 0, all),
                  new_x = made.Place(0, 64, all);
    made.before = {{y, {all}, {}}};
    made.Begin(hand_kernel({POLYTILE_IN, POLYTILE_OUT}), {1, 0});
    const int64_t first = made.Launch(all, {x, y, -1});
    made.Begin(hand_kernel({POLYTILE_IN, POLYTILE_OUT}), {2, 0});
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

struct Break {
    const char *what;
    Handmade (*make)();
    void (*change)(Handmade &);
    const char *says;
};

inline void ExpectRejected(const Break &row) {
    Handmade made = row.make();
    ASSERT_TRUE(made.Holds()) << row.what << ": " << made.why;
    row.change(made);
    EXPECT_FALSE(made.Holds()) << row.what;
    EXPECT_NE(made.why.find(row.says), std::string::npos) << row.what << " gave " << made.why;
}

#endif
