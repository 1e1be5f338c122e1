#include "partition/prove/handmade.h"
#include "partition/prove/interpreter.h"

#include <algorithm>
#include <chrono>
#include <gtest/gtest.h>
#include <iostream>
#include <numeric>

#include "support/random.h"
#include "support/scale.h"

/* The checker on schedules whose launches are interleaved, in place and in an arena. */

namespace {

struct Access {
    polytile_role role;
    int array;
    int64_t lo, hi; /* threads i touch i + lo .. i + hi */
};

struct Step {
    std::vector<Access> accesses;
    int64_t offset; /* slab k: threads with k * size <= i + offset < (k + 1) * size */
};

HandKernel KernelOf(const Step &step, const polytile_domain &threads, const Handmade &made,
                    std::vector<int> *arrays) {
    HandKernel kernel;
    kernel.threads = threads;
    for (const Access &access : step.accesses) {
        kernel.Operand("operand" + std::to_string(kernel.operands.size()), 4,
                       made.operands[static_cast<size_t>(access.array)].domain);
        kernel.Section(access.role, access.role >= POLYTILE_SUM, {Sub(access.lo, access.hi, {1})});
        arrays->push_back(access.array);
    }
    return kernel;
}

/** The n-th operation of the new list is the order[n]-th of the old; waits that would point
 * forwards are dropped. */
Handmade Permuted(const Handmade &made, const std::vector<size_t> &order) {
    std::vector<size_t> position(order.size());
    for (size_t n = 0; n < order.size(); n++)
        position[order[n]] = n;
    Handmade permuted = made;
    for (size_t n = 0; n < order.size(); n++) {
        permuted.ops[n] = made.ops[order[n]];
        permuted.waits[n].clear();
        for (int64_t w : made.waits[order[n]])
            if (position[static_cast<size_t>(w)] < n)
                permuted.waits[n].push_back(static_cast<int64_t>(position[static_cast<size_t>(w)]));
    }
    return permuted;
}

/** Swap two operations. */
Handmade Swapped(const Handmade &made, size_t a, size_t b) {
    std::vector<size_t> order(made.ops.size());
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[a], order[b]);
    return Permuted(made, order);
}

/** Threads 0 .. n - 1 of every step, in slabs, each step offset by its own; the slabs run one
 * after the other, in each the steps. Without operations that move anything. */
Handmade Slabs(const std::vector<Step> &steps, int n_arrays, int64_t n, int64_t size) {
    Handmade made;
    const polytile_domain all = Box({{0, n - 1}});
    std::vector<int64_t> placed;
    for (int a = 0; a < n_arrays; a++) {
        made.Operand(std::string(1, static_cast<char>('A' + a)), 4, all);
        placed.push_back(a);
    }
    made.in_place = true;
    for (int a = 0; a < n_arrays; a++)
        made.Place(a, 0, all);
    std::vector<int64_t> slab_of;
    for (const Step &step : steps) {
        std::vector<int> arrays;
        const HandKernel kernel = KernelOf(step, all, made, &arrays);
        made.Begin(kernel, arrays);
        for (int64_t k = 0; k * size < n + step.offset; k++) {
            const int64_t lo = std::max<int64_t>(k * size - step.offset, 0);
            const int64_t hi = std::min((k + 1) * size - step.offset, n) - 1;
            if (lo > hi)
                continue;
            made.Launch(Box({{lo, hi}}), placed);
            slab_of.push_back(k);
        }
    }
    std::vector<size_t> order(made.ops.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return slab_of[a] < slab_of[b]; });
    return Permuted(made, order);
}

/** B = smooth(A), A = smooth(B), ... to and fro, each step offset by so much more. */
std::vector<Step> ToAndFro(int n_steps, int64_t offset) {
    std::vector<Step> steps;
    for (int t = 0; t < n_steps; t++)
        steps.push_back(
            {{{POLYTILE_IN, t % 2, -1, 1}, {POLYTILE_OUT, 1 - t % 2, 0, 0}}, offset * t});
    return steps;
}

/** The same in an arena that both arrays fit: A comes before, and both go to the host after. */
Handmade InArena(const Handmade &in_place) {
    Handmade made = in_place;
    made.in_place = false;
    made.placements.clear();
    const polytile_domain all = made.operands[0].domain;
    const int64_t a = made.Place(0, 0, all);
    const int64_t b = made.Place(1, 4 * pti_box_count(&all), all);
    const int64_t in = made.Move(PTI_UPLOAD, 0, a, all);
    made.ops.back().launch = 0;
    std::vector<size_t> order(made.ops.size());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + in, order.end());
    made = Permuted(made, order);
    made.waits[1].push_back(0);
    const int64_t last = static_cast<int64_t>(made.ops.size()) - 1;
    const int64_t superblock = static_cast<int64_t>(made.superblocks.size()) - 1;
    made.Move(PTI_DOWNLOAD, superblock, a, all, {last});
    made.Move(PTI_DOWNLOAD, superblock, b, all, {last});
    return made;
}

/** To and fro in an arena: rows of A come in with the first slab that needs them, and rows of both
 * arrays go to the host after the last that touches them. */
Handmade Streamed(int n_steps, int64_t n, int64_t size) {
    const Handmade in_place = Slabs(ToAndFro(n_steps, 1), 2, n, size);
    Handmade made = InArena(in_place);
    made.ops.clear();
    made.waits.clear();
    const auto slab_of = [&](const pti_op &op) { return (op.box.range[0].lo + op.launch) / size; };
    std::vector<int64_t> slab_end; /* the last launch of each slab */
    size_t next = 0;
    for (int64_t k = 0, n_in = 0, n_out = 0; next < in_place.ops.size(); k++) {
        std::vector<int64_t> ready;
        if (n_in < n) {
            const int64_t end = std::min(n, (k + 1) * size + 1);
            ready.push_back(made.Move(PTI_UPLOAD, 0, 0, Box({{n_in, end - 1}})));
            if (k >= 2)
                made.waits.back().push_back(slab_end[static_cast<size_t>(k) - 2]);
            made.ops.back().launch = 0;
            n_in = end;
        }
        for (; next < in_place.ops.size() && slab_of(in_place.ops[next]) == k; next++) {
            made.ops.push_back(in_place.ops[next]);
            made.waits.push_back(ready);
        }
        slab_end.push_back(static_cast<int64_t>(made.ops.size()) - 1);
        const int64_t end = std::min(n, (k + 1) * size - n_steps + 1);
        for (int64_t a = 0; a < 2 && end > n_out; a++)
            made.Move(PTI_DOWNLOAD, made.kernels.back().first_superblock, a,
                      Box({{n_out, end - 1}}), {slab_end.back()});
        n_out = std::max(n_out, end);
    }
    return made;
}

void ExpectRejected(Handmade made, const std::string &expected) {
    EXPECT_FALSE(made.Holds());
    EXPECT_NE(made.why.find(expected), std::string::npos) << made.why << "\nnot " << expected;
    EXPECT_FALSE(Interpreter(made).IsRight()) << expected;
}

TEST(CheckOrder, AcceptsSlabsThatAreSkewedByTheReachOfAStencil) {
    for (const int64_t size : {1, 3, 4, 16, 40})
        for (const int n_steps : {2, 3, 8}) {
            Handmade made = Slabs(ToAndFro(n_steps, 1), 2, 16, size);
            EXPECT_TRUE(made.Holds()) << made.why;
            EXPECT_TRUE(Interpreter(made).IsRight());
            Handmade moved = InArena(made);
            EXPECT_TRUE(moved.Holds()) << moved.why;
            EXPECT_TRUE(Interpreter(moved).IsRight());
            Handmade streamed = Streamed(n_steps, 16, size);
            EXPECT_TRUE(streamed.Holds()) << streamed.why;
            EXPECT_TRUE(Interpreter(streamed).IsRight());
        }
}

TEST(CheckOrder, AcceptsAnyOrderOfLaunchesThatShareNothingWritten) {
    const std::vector<Step> steps = {{{{POLYTILE_IN, 0, -1, 1}, {POLYTILE_OUT, 1, 0, 0}}, 5},
                                     {{{POLYTILE_IN, 0, -1, 1}, {POLYTILE_OUT, 2, 0, 0}}, 0}};
    Handmade made = Slabs(steps, 3, 16, 4);
    EXPECT_TRUE(made.Holds()) << made.why;
    EXPECT_TRUE(Interpreter(made).IsRight());
}

TEST(CheckOrder, RejectsOffsetsThatAreTooSmall) {
    const struct {
        const char *dependence;
        std::vector<Step> steps;
        const char *why;
    } rows[] = {
        {"flow",
         {{{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_OUT, 1, 0, 0}}, 0},
          {{{POLYTILE_IN, 1, -1, 1}, {POLYTILE_OUT, 2, 0, 0}}, 0}},
         "operation 2 (launch for superblock 1 of launch 0), B[4]: is written although launch 1, "
         "which comes later, has read it before"},
        {"anti",
         {{{{POLYTILE_IN, 0, -1, 1}, {POLYTILE_OUT, 1, 0, 0}}, 0},
          {{{POLYTILE_IN, 2, 0, 0}, {POLYTILE_OUT, 0, 0, 0}}, 0}},
         "operation 2 (launch for superblock 1 of launch 0), A[3]: is read although launch 1, "
         "which "
         "comes later, has written it before"},
        {"output",
         {{{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_OUT, 1, 0, 0}}, 0},
          {{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_OUT, 1, 1, 1}}, 0}},
         "operation 2 (launch for superblock 1 of launch 0), B[4]: is written although launch 1, "
         "which comes later, has written it before"},
        {"to and fro", ToAndFro(2, 0), "of launch 0), A[3]: is read although launch 1, "},
    };
    for (const auto &row : rows) {
        SCOPED_TRACE(row.dependence);
        std::vector<Step> steps = row.steps;
        ExpectRejected(Slabs(steps, 3, 16, 4), row.why);
        steps[1].offset = 1;
        Handmade made = Slabs(steps, 3, 16, 4);
        EXPECT_TRUE(made.Holds()) << made.why;
        EXPECT_TRUE(Interpreter(made).IsRight());
    }
    ExpectRejected(InArena(Slabs(ToAndFro(2, 0), 2, 16, 4)),
                   "of launch 0), A[3]: is read although launch 1, ");
}

TEST(CheckOrder, RejectsSuperblocksTwiceMissingOrOutOfOrder) {
    const Handmade right = Slabs(ToAndFro(2, 1), 2, 16, 4);
    ASSERT_EQ(right.ops.size(), 9u);

    Handmade twice = right;
    twice.ops[2].superblock = 0;
    twice.ops[2].box = twice.superblocks[0];
    ExpectRejected(twice, "operation 2 launches a superblock out of order or again: 0 of launch 0, "
                          "whose next is 1");
    Handmade missing = right;
    missing.Drop(8);
    ExpectRejected(missing, "launch 1 has 5 superblocks, but 4 launches");

    Handmade out_of_order = Swapped(right, 0, 2);
    EXPECT_FALSE(out_of_order.Holds());
    EXPECT_NE(out_of_order.why.find("operation 0 launches a superblock out of order or again: 1 of "
                                    "launch 0, whose next is 0"),
              std::string::npos)
        << out_of_order.why;
}

/** Launches that nobody waits for count as one; those before and after one that somebody does must
 * not. */
TEST(CheckOrder, UsesBehindTheOneThatIsWaitedForAreNotDone) {
    const Step copy = {{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_OUT, 1, 0, 0}}, 0};
    Handmade right = InArena(Slabs({copy}, 2, 16, 2));
    ASSERT_EQ(right.ops[8].kind, PTI_LAUNCH);
    ASSERT_EQ(right.ops[9].kind, PTI_DOWNLOAD);
    right.Drop(9);
    for (int64_t waited = 1; waited <= 8; waited++) {
        Handmade made = right;
        made.Move(PTI_UPLOAD, 7, 0, made.operands[0].domain, {waited});
        if (waited == 8)
            EXPECT_TRUE(made.Holds()) << made.why;
        else
            ExpectRejected(made, "A[" + std::to_string(2 * waited) + ":" +
                                     std::to_string(2 * waited + 1) +
                                     "]: may run beside operation " + std::to_string(waited + 1) +
                                     " (launch), which reads it");
    }
}

/** Each slab goes to the host by itself, so that all launches are waited for; then slabs come
 * again. */
TEST(CheckOrder, ARaceIsFoundHoweverManyUsesLieBetween) {
    constexpr int64_t n_slabs = 100, n_done = 20;
    const Step copy = {{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_OUT, 1, 0, 0}}, 0};
    Handmade right = InArena(Slabs({copy}, 2, 3 * n_slabs, 3));
    right.Drop(static_cast<size_t>(n_slabs) + 2);
    right.Drop(static_cast<size_t>(n_slabs) + 1);
    for (int64_t k = 0; k < n_slabs; k++)
        right.Move(PTI_DOWNLOAD, k, 1, Box({{3 * k, 3 * k + 2}}), {k + 1});
    for (int64_t k = 0; k < n_slabs; k++) {
        Handmade made = right;
        made.Move(PTI_UPLOAD, n_slabs - 1, 0, Box({{3 * k + 1}}), {n_done});
        if (k < n_done)
            EXPECT_TRUE(made.Holds()) << made.why;
        else
            ExpectRejected(made, "A[" + std::to_string(3 * k) + ":" + std::to_string(3 * k + 2) +
                                     "]: may run beside operation " + std::to_string(k + 1));
    }
}

/** sums of x into A, beside each other. */
Handmade Sums(const std::vector<Step> &steps) {
    Handmade made = Slabs(steps, 2, 16, 4);
    const int n_launches = static_cast<int>(made.kernels.size());
    for (int l = n_launches - 1; l >= 0; l--) {
        made.Move(PTI_FILL, made.kernels[static_cast<size_t>(l)].first_superblock, 1,
                  made.operands[1].domain);
        made.ops.back().launch = l;
    }
    return made;
}

/** Launch 0 sums threads 8 .. 15 into the lower half of B, launch 1 the others into the upper. */
TEST(CheckOrder, ReductionsFromTheIdentityAreNotInterleavedInOneArray) {
    Handmade made = Slabs({{{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_SUM, 1, -8, -8}}, 0},
                           {{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_SUM, 1, 8, 8}}, 0}},
                          2, 16, 8);
    const int64_t lower = made.Move(PTI_FILL, 0, 1, Box({{0, 7}}));
    made.ops.back().launch = 0;
    const int64_t upper = made.Move(PTI_FILL, 2, 1, Box({{8, 15}}));
    std::vector<size_t> order = {
        static_cast<size_t>(lower), static_cast<size_t>(upper), 0, 2, 1, 3};
    Handmade in_turn = Permuted(made, order);
    in_turn.waits[2] = {0, 1};
    EXPECT_TRUE(in_turn.Holds()) << in_turn.why;
    EXPECT_TRUE(Interpreter(in_turn).IsRight());

    Handmade interleaved = Swapped(in_turn, 3, 4);
    EXPECT_FALSE(interleaved.Holds());
    EXPECT_NE(interleaved.why.find("B: starts from the identity in launches 0 and 1, which must "
                                   "not be interleaved"),
              std::string::npos)
        << interleaved.why;
}

TEST(CheckOrder, InPlaceSeveralLaunchesMayStartFromTheIdentityInTurn) {
    const Step sum = {{{POLYTILE_IN, 0, 0, 0}, {POLYTILE_SUM, 1, 0, 0}}, 0};
    Handmade made = Sums({sum, sum});
    made = Permuted(made, {9, 0, 2, 4, 6, 8, 1, 3, 5, 7});
    made.waits[1] = {0};
    made.waits[5] = {4};
    made.waits[6] = {5};
    EXPECT_TRUE(made.Holds()) << made.why;
    EXPECT_TRUE(Interpreter(made).IsRight());

    Handmade never_combined = made;
    never_combined.Drop(9);
    EXPECT_FALSE(never_combined.Holds());
}

/** What an element is used for by the launches of a schedule in place. */
bool Conflict(const Handmade &made, const pti_op &a, const pti_op &b) {
    const HandKernel &of_a = made.kernels[static_cast<size_t>(a.launch)];
    const HandKernel &of_b = made.kernels[static_cast<size_t>(b.launch)];
    std::set<std::pair<int, Element>> written, read;
    const auto collect = [&](const HandKernel &kernel, const pti_op &op, bool writes, auto visit) {
        ForEachElement(op.box, [&](const Element &thread) {
            for (const pti_section &section : kernel.sections)
                if ((section.role != POLYTILE_IN) == writes)
                    ForEachTouched(
                        section, made.operands[0].domain, thread, [&](const Element &element) {
                            visit(std::make_pair(
                                kernel.arrays[static_cast<size_t>(section.operand)], element));
                        });
        });
    };
    bool found = false;
    collect(of_a, a, true, [&](const auto &element) { written.insert(element); });
    collect(of_a, a, false, [&](const auto &element) { read.insert(element); });
    collect(of_b, b, true, [&](const auto &element) {
        found |= written.count(element) + read.count(element) > 0;
    });
    collect(of_b, b, false, [&](const auto &element) { found |= written.count(element) > 0; });
    return found;
}

/** By every pair of superblocks, element by element. */
bool KeepsOrder(const Handmade &made) {
    for (size_t i = 0; i < made.ops.size(); i++)
        for (size_t j = i + 1; j < made.ops.size(); j++) {
            const pti_op &first = made.ops[i], &second = made.ops[j];
            if (first.launch == second.launch
                    ? first.superblock > second.superblock
                    : first.launch > second.launch && Conflict(made, first, second))
                return false;
        }
    return true;
}

Step DrawStep(Random &random, int n_arrays) {
    Step step;
    const int written = static_cast<int>(random.number(0, n_arrays - 1));
    const int64_t at = random.number(-1, 1);
    step.accesses.push_back({POLYTILE_OUT, written, at, at});
    for (int64_t k = random.number(0, 2); k > 0; k--) {
        const int64_t lo = random.number(-2, 1);
        const int read = static_cast<int>(random.number(0, n_arrays - 1));
        if (read != written)
            step.accesses.push_back({POLYTILE_IN, read, lo, lo + random.number(0, 2)});
    }
    step.offset = random.number(0, 6);
    return step;
}

TEST(CheckOrder, AcceptsExactlyTheOrdersInWhichNoConflictIsTurnedRound) {
    const uint64_t seed = test_seed("CheckOrder.AcceptsExactlyTheOrders");
    SCOPED_TRACE("POLYTILE_TEST_SEED=" + std::to_string(seed));
    Random random(seed);
    int64_t n_accepted = 0, n_rejected = 0;
    const int64_t n_rounds = scaled(1500);
    for (int64_t round = 0; round < n_rounds; round++) {
        std::vector<Step> steps;
        for (int64_t k = random.number(2, 6); k > 0; k--)
            steps.push_back(DrawStep(random, 3));
        Handmade made = Slabs(steps, 3, random.number(4, 16), random.number(1, 5));
        for (int n = 0; n < 6; n++) {
            const bool keeps = KeepsOrder(made);
            ASSERT_EQ(made.Holds(), keeps) << "round " << round << ": " << made.why;
            (keeps ? n_accepted : n_rejected)++;
            const size_t a =
                static_cast<size_t>(random.number(0, static_cast<int64_t>(made.ops.size()) - 2));
            Handmade mutant = Swapped(made, a, a + 1);
            if (KeepsOrder(mutant) || random.chance(30))
                made = mutant;
        }
    }
    std::cout << n_accepted << " accepted, " << n_rejected << " rejected\n";
    EXPECT_GE(n_accepted, least_count(n_rounds, 0.5));
    EXPECT_GE(n_rejected, least_count(n_rounds, 0.5));
}

void Report(Handmade &made) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(made.Holds()) << made.why.substr(0, 500);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    std::cout << made.ops.size() << " operations checked in " << took.count() * 1e3 << " ms\n";
}

TEST(CheckOrder, IsQuickForManyLaunchesInManySlabs) {
    const int n_steps = static_cast<int>(std::max<int64_t>(scaled(256), 16));
    Handmade made = Slabs(ToAndFro(n_steps, 1), 2, 500 * 64, 64);
    Report(made);
    made = Streamed(n_steps, 500 * 64, 64);
    Report(made);
}

} // namespace
