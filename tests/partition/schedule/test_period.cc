#include "partition/prove/extremes.h"
#include "partition/schedule/periods.h"
#include "support/scale.h"

/* Schedules with a period: their stretches do what the flat list does, and each wrong one is
 * rejected. */

namespace {

using namespace periods;

bool SamePlacement(const pti_placement &a, const pti_placement &b) {
    return a.operand == b.operand && a.offset_bytes == b.offset_bytes &&
           a.layout.size_bytes == b.layout.size_bytes &&
           pti_box_equals(&a.layout.hull, &b.layout.hull);
}

/** The operations of the stretches, one after the other, are those of the flat list, at the same
 * places, and wait for no others. */
void ExpectSame(const pti_schedule &flat, const pti_schedule &folded) {
    pti_stretch_walk walk = pti_stretch_walk_begin(&folded);
    int64_t first_op = 0;
    while (const pti_schedule *stretch = pti_stretch_walk_next(&walk)) {
        const int64_t first = walk.n_kernels_before;
        ASSERT_LE(first_op + stretch->n_ops, flat.n_ops);
        for (int64_t k = 0; k < stretch->n_superblocks; k++) {
            ASSERT_TRUE(pti_box_equals(&stretch->superblock[k], &flat.superblock[first + k]));
            for (int o = 0; o < flat.instance->n_operands; o++) {
                const pti_placement *a = pti_schedule_placement(stretch, 0, k, o);
                const pti_placement *b = pti_schedule_placement(&flat, 0, first + k, o);
                ASSERT_EQ(a == nullptr, b == nullptr);
                ASSERT_TRUE(a == nullptr || SamePlacement(*a, *b));
            }
        }
        for (int64_t k = 0; k < stretch->n_ops; k++) {
            const pti_op &op = stretch->op[k], &expected = flat.op[first_op + k];
            SCOPED_TRACE("operation " + std::to_string(first_op + k));
            ASSERT_EQ(op.kind, expected.kind);
            ASSERT_TRUE(pti_box_equals(&op.box, &expected.box));
            ASSERT_EQ(op.bytes, expected.bytes);
            ASSERT_EQ(op.superblock, std::max<int64_t>(0, expected.superblock - first));
            if (op.kind == PTI_LAUNCH)
                continue;
            ASSERT_TRUE(SamePlacement(stretch->placement[op.placement],
                                      flat.placement[expected.placement]));
            if (op.kind == PTI_COPY) {
                ASSERT_TRUE(SamePlacement(stretch->placement[op.source_placement],
                                          flat.placement[expected.source_placement]));
            }
            for (int w = 0; w < op.n_waits; w++) {
                bool found = false;
                for (int v = 0; v < expected.n_waits; v++)
                    found |= flat.wait[expected.first_wait + v] ==
                             first_op + stretch->wait[op.first_wait + w];
                ASSERT_TRUE(found);
            }
        }
        first_op += stretch->n_ops;
    }
    EXPECT_FALSE(walk.failed);
    pti_stretch_walk_end(&walk);
    EXPECT_EQ(first_op, flat.n_ops);
}

void ExpectRight(const Both &both) {
    const pti_schedule &flat = *both.flat, &folded = *both.folded;
    EXPECT_EQ(pti_schedule_n_kernels(&folded), flat.n_superblocks);
    EXPECT_LT(folded.n_superblocks, flat.n_superblocks);
    const pti_traffic expected = pti_schedule_traffic(&flat);
    const pti_traffic traffic = pti_schedule_traffic(&folded);
    EXPECT_EQ(traffic.h2d_bytes, expected.h2d_bytes);
    EXPECT_EQ(traffic.d2h_bytes, expected.d2h_bytes);
    EXPECT_EQ(folded.arena_bytes, flat.arena_bytes);
    EXPECT_EQ(pti_schedule_peak_bytes(&folded), pti_schedule_peak_bytes(&flat));
    const double seconds = pti_schedule_predict(&flat, &polytile_link_default, 0);
    EXPECT_NEAR(pti_schedule_predict(&folded, &polytile_link_default, 0) / seconds, 1, 1e-6);
    for (int64_t k = 0; k < flat.n_superblocks; k++) {
        const polytile_domain threads = pti_schedule_asked_kernel(&folded, nullptr, k);
        ASSERT_TRUE(pti_box_equals(&threads, &flat.superblock[k])) << k;
    }
    ExpectSame(flat, folded);
    EXPECT_EQ(Refusal(&folded), "");
}

TEST(PeriodRandom, ASchedulesStretchesDoWhatItsFlatListDoes) {
    Random random(test_seed("PeriodRandom.ASchedulesStretchesDoWhatItsFlatListDoes"));
    const int64_t n = std::max<int64_t>(8, scaled(60));
    int64_t n_folded = 0;
    for (int64_t k = 0; k < n && !::testing::Test::HasFailure(); k++) {
        const Cut cut = random.chance(50) ? DrawLine(&random) : DrawPlane(&random);
        SCOPED_TRACE(cut.declaration + " over " + cut.threads + " in superblocks of " +
                     Text(cut.shape[0]) + " blocks, " + Text(cut.n_buffers) + " buffers");
        const Both both(cut);
        ASSERT_EQ(both.launch.status(), POLYTILE_OK) << both.launch.error();
        ASSERT_NE(both.flat, nullptr);
        if (both.folded == nullptr)
            continue;
        n_folded++;
        ExpectRight(both);
    }
    EXPECT_GE(n_folded, least_count(n, 0.8));
}

/** Launches whose schedules differ in what is carried: halos that are copied, what stays, what was
 * written last, and turns of several rows. */
const Cut few_cuts[] = {
    {"k[i]: in x[i], y[i]; out z[i]",
     "8000",
     {{"x", "8000"}, {"y", "8000"}, {"z", "8000"}},
     {1},
     {3},
     {0},
     2,
     false},
    {"k[i]: in x[i-2:i+1]; out z[i]",
     "1:9000",
     {{"x", "9100"}, {"z", "9100"}},
     {1},
     {4},
     {0},
     2,
     false},
    {"k[i]: in x[i], y[:]; inout z[i]",
     "7000",
     {{"x", "7000"}, {"y", "9"}, {"z", "7000"}},
     {1},
     {3},
     {0},
     1,
     false},
    {"k[i, j]: in A[i, j], v[j]; inout B[i, j]",
     "1200x6",
     {{"A", "1200x6"}, {"B", "1200x6"}, {"v", "6"}},
     {1, 1},
     {1, 3},
     {0, 1},
     1,
     false},
    {"k[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "1:2400,1:6",
     {{"A", "2402x8"}, {"B", "2402x8"}},
     {1, 1},
     {2, 3},
     {0, 1},
     2,
     false},
};

TEST(Period, EveryWrongPeriodIsRejected) {
    using Change = std::function<void(Mutant *)>;
    for (const Cut &cut : few_cuts) {
        SCOPED_TRACE(cut.declaration);
        const Both both(cut);
        ASSERT_NE(both.folded, nullptr) << both.launch.error();
        ASSERT_EQ(Refusal(both.folded), "");
        const pti_period &period = both.folded->period;
        std::vector<std::pair<std::string, Change>> changes;
        for (int64_t k = 0; k < both.folded->n_ops; k++)
            changes.push_back({"without operation " + Text(k), [k](Mutant *m) { m->Drop(k); }});
        for (int64_t by : {-1, 1, 7}) {
            changes.push_back({"more turns", [by](Mutant *m) { m->period().times += by; }});
            changes.push_back(
                {"other threads", [by](Mutant *m) { m->period().launch[0].threads.by[0] += by; }});
            for (int o = 0; o < both.folded->instance->n_operands; o++)
                for (int d = 0; d < both.folded->instance->operand[o].domain.n_dims; d++)
                    changes.push_back({"another shift of " + Text(o), [by, o, d](Mutant *m) {
                                           m->period().array[o].by[d] += by;
                                       }});
        }
        for (int64_t k = 0; k < period.n_ops; k++) {
            const int64_t at = period.first_op + k;
            changes.push_back({"another box at " + Text(at),
                               [at](Mutant *m) { m->schedule->op[at].box.range[0].hi++; }});
            changes.push_back({"another box before " + Text(at),
                               [at](Mutant *m) { m->schedule->op[at].box.range[0].lo--; }});
        }
        for (int64_t k = 0; k < period.n_placements; k++)
            changes.push_back({"another place", [k](Mutant *m) {
                                   m->schedule->placement[m->period().first_placement + k]
                                       .layout.hull.range[0]
                                       .lo++;
                               }});
        for (int k = 0; k < period.n_carried; k++) {
            changes.push_back(
                {"found elsewhere", [k](Mutant *m) { m->period().carried[k].first += 1; }});
            if (period.carried[k].valid.n_boxes > 0)
                changes.push_back({"more is valid", [k](Mutant *m) {
                                       pti_boxes &valid = m->period().carried[k].valid;
                                       polytile_domain box = pti_boxes_hull(&valid);
                                       box.range[0].lo = box.range[0].hi + 1;
                                       box.range[0].hi = box.range[0].lo;
                                       pti_boxes_append(&valid, &box);
                                   }});
            if (period.carried[k].dirty.n_boxes > 0)
                changes.push_back({"less is dirty", [k](Mutant *m) {
                                       pti_boxes_clear(&m->period().carried[k].dirty);
                                   }});
        }
        for (int64_t by : {-1, 1}) {
            changes.push_back(
                {"moved in the list", [by](Mutant *m) { m->period().first_op += by; }});
            changes.push_back({"longer", [by](Mutant *m) { m->period().n_ops += by; }});
            changes.push_back({"of other superblocks",
                               [by](Mutant *m) { m->period().launch[0].first_superblock += by; }});
            changes.push_back({"of more superblocks",
                               [by](Mutant *m) { m->period().launch[0].n_superblocks += by; }});
            changes.push_back(
                {"of other placements", [by](Mutant *m) { m->period().first_placement += by; }});
            changes.push_back(
                {"of more placements", [by](Mutant *m) { m->period().n_placements += by; }});
        }
        for (const auto &change : changes) {
            Mutant mutant(both.folded);
            change.second(&mutant);
            EXPECT_NE(Refusal(mutant.schedule), "") << change.first;
        }
    }
}

/** Without any of its waits a turn races with the one before it, or with itself. */
TEST(Period, TurnsThatWaitForNothingAreRejected) {
    for (const Cut &cut : few_cuts) {
        SCOPED_TRACE(cut.declaration);
        const Both both(cut);
        ASSERT_NE(both.folded, nullptr);
        const pti_period &period = both.folded->period;
        int n_rejected = 0;
        for (const bool of_others : {false, true}) {
            Mutant mutant(both.folded);
            for (int64_t k = period.first_op; k < period.first_op + period.n_ops; k++) {
                pti_op &op = mutant.schedule->op[k];
                int n_kept = 0;
                for (int w = 0; w < op.n_waits; w++) {
                    const int64_t wait = mutant.schedule->wait[op.first_wait + w];
                    if ((wait < period.first_op) == of_others)
                        mutant.schedule->wait[op.first_wait + n_kept++] = wait;
                }
                op.n_waits = n_kept;
            }
            n_rejected += Refusal(mutant.schedule) != "";
        }
        EXPECT_EQ(n_rejected, 2);
    }
}

/** Launches find arrays by their superblock, and only copies have a source: whoever goes through
 * the operations of a stretch may take any other number for a placement. */
TEST(Period, LaunchesNameNoPlacementAndOnlyCopiesASource) {
    for (const Cut &cut : few_cuts) {
        SCOPED_TRACE(cut.declaration);
        const Both both(cut);
        ASSERT_NE(both.folded, nullptr);
        for (int64_t k = 0; k < both.folded->n_ops; k++) {
            Mutant mutant(both.folded);
            pti_op &op = mutant.schedule->op[k];
            const pti_op right = op;
            for (const int64_t wrong : {int64_t{0}, int64_t{1}, right.placement - 1,
                                        both.folded->n_placements, INT64_MAX, INT64_MIN}) {
                op.placement = op.kind == PTI_LAUNCH ? wrong : right.placement;
                op.source_placement = op.kind == PTI_COPY ? right.source_placement : wrong;
                if (op.placement == right.placement &&
                    op.source_placement == right.source_placement)
                    continue;
                EXPECT_NE(Refusal(mutant.schedule), "") << "operation " << k << ", " << wrong;
            }
        }
    }
}

TEST(Period, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("Period.NumbersThatAreAnythingAreRefused"));
    for (const Cut &cut : few_cuts) {
        SCOPED_TRACE(cut.declaration);
        const Both both(cut);
        ASSERT_NE(both.folded, nullptr);
        const Mutant mutant(both.folded);
        ExpectExtremesRefused(NumbersOf(mutant.schedule), scaled(1000), &random,
                              [&mutant] { return Refusal(mutant.schedule); });
    }
}

/** As a schedule without a period, which it would be to whoever asks for more turns than none. */
TEST(Period, LessThanNoTurnsAreRefused) {
    const Both both(few_cuts[0]);
    ASSERT_NE(both.folded, nullptr);
    Mutant mutant(both.flat);
    EXPECT_EQ(Refusal(mutant.schedule), "");
    mutant.period().times = -1;
    EXPECT_NE(Refusal(mutant.schedule), "");
    mutant.period().times = 0;
}

TEST(Period, ACopyIsTheSame) {
    const Both both(few_cuts[1]);
    ASSERT_NE(both.folded, nullptr);
    pti_schedule *copy = pti_schedule_copy(both.folded);
    ASSERT_NE(copy, nullptr);
    ExpectSame(*both.flat, *copy);
    pti_schedule_free(copy);
}

/** Arrays that clip what is touched in the middle, and launches that combine, have no period. */
TEST(Period, WhatDoesNotMoveOnIsFlat) {
    const Cut cuts[] = {
        {"k[i]: in x[0:i]; out z[i]",
         "5000",
         {{"x", "5000"}, {"z", "5000"}},
         {1},
         {2},
         {0},
         1,
         false},
        {"k[i]: in x[i]; sum s[0]", "5000", {{"x", "5000"}, {"s", "1"}}, {1}, {2}, {0}, 1, false},
        {"k[i]: in x[i], y[2500-3*i:2500+3*i]; out z[i]",
         "5000",
         {{"x", "5000"}, {"y", "5000"}, {"z", "5000"}},
         {1},
         {2},
         {0},
         1,
         false},
        {"k[i]: in x[wrap(i+1)]; out z[i]",
         "5000",
         {{"x", "5000"}, {"z", "5000"}},
         {1},
         {2},
         {0},
         1,
         false},
    };
    for (const Cut &cut : cuts) {
        SCOPED_TRACE(cut.declaration);
        const Both both(cut);
        ASSERT_EQ(both.launch.status(), POLYTILE_OK) << both.launch.error();
        EXPECT_EQ(both.folded, nullptr);
    }
}

} // namespace
