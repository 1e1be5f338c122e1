#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "support/launch.h"
#include "support/random.h"
#include "support/scale.h"

extern "C" {
#include "access/footprint/footprint.h"
#include "base/text.h"
#include "partition/arena/build.h"
#include "partition/cost/predict.h"
#include "partition/cut/family.h"
#include "partition/prove/check.h"
#include "partition/schedule/stretch.h"
}

namespace {

/** A launch, and how it is cut into equal superblocks. */
struct Cut {
    std::string declaration, threads;
    std::map<std::string, std::string> arrays;
    std::vector<int64_t> block, shape;
    std::vector<int> order; /* slowest index first */
    int n_buffers;
    bool for_time;
};

/** The schedules of a cut, with all operations in the list and with a period. */
class Both {
  public:
    explicit Both(const Cut &cut) : launch(cut.declaration, cut.threads, cut.arrays) {
        if (launch.status() != POLYTILE_OK)
            return;
        const pti_problem problem = pti_problem_of(launch.instance(), &polytile_link_default,
                                                   cut.block.data(), INT64_MAX / 4);
        pti_candidate candidate = {};
        candidate.variant = pti_variant_of(&pti_family_plain, cut.n_buffers);
        for (size_t d = 0; d < cut.shape.size(); d++) {
            candidate.shape[d] = cut.shape[d];
            candidate.order[d] = cut.order[d];
        }
        candidate.n_kernels = pti_grid_n_superblocks(&problem.grid, candidate.shape);
        n_kernels = candidate.n_kernels;
        pti_partition partition;
        EXPECT_TRUE(pti_partition_uniform(&problem, &candidate, &partition));
        Build(partition, cut, &flat);
        pti_partition_free(&partition);
        EXPECT_TRUE(pti_partition_repeated(&problem, &candidate, &partition));
        if (partition.n_superblocks > 0)
            Build(partition, cut, &folded);
        pti_partition_free(&partition);
    }
    ~Both() {
        pti_schedule_free(flat);
        pti_schedule_free(folded);
    }

    Launch launch;
    int64_t n_kernels = 0;
    pti_schedule *flat = nullptr, *folded = nullptr;

  private:
    void Build(const pti_partition &partition, const Cut &cut, pti_schedule **made) {
        int64_t need_bytes = 0;
        const polytile_status status = pti_schedule_build(
            launch.instance(), &partition, cut.for_time ? &polytile_link_default : nullptr,
            INT64_MAX / 4, &need_bytes, made);
        EXPECT_TRUE(status == POLYTILE_OK || (made == &folded && status == POLYTILE_UNSUPPORTED));
    }
};

std::string Refusal(const pti_schedule *schedule) {
    pti_text why = {};
    std::string text = pti_schedule_check(schedule, &why) ? ""
                       : why.data == nullptr              ? "?"
                                                          : why.data;
    pti_text_free(&why);
    return text;
}

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
    const double seconds = pti_schedule_predict(&flat, &polytile_link_default);
    EXPECT_NEAR(pti_schedule_predict(&folded, &polytile_link_default) / seconds, 1, 1e-6);
    for (int64_t k = 0; k < flat.n_superblocks; k++) {
        const polytile_domain threads = pti_schedule_asked_kernel(&folded, nullptr, k);
        ASSERT_TRUE(pti_box_equals(&threads, &flat.superblock[k])) << k;
    }
    ExpectSame(flat, folded);
    EXPECT_EQ(Refusal(&folded), "");
}

std::string Text(int64_t n) {
    return std::to_string(n);
}

/** A launch along one index, of a few thousand superblocks. */
Cut DrawLine(Random *random) {
    const std::string before = Text(random->number(0, 5)), after = Text(random->number(0, 5));
    const std::string factor = Text(random->number(1, 3));
    const std::string declarations[] = {
        "k[i]: in x[i], u[i]; out z[i]",
        "k[i]: in x[i]; inout z[i]",
        "k[i]: in x[i-" + before + ":i+" + after + "]; out z[i]",
        "k[i]: in x[i-" + before + "], x[i+" + after + "], y[:]; out z[i]",
        "k[i]: in x[" + factor + "*i:" + factor + "*i+" + after + "]; out z[i]",
        "k[i]: in x[i]; out z[" + factor + "*i:" + factor + "*i+" + factor + "-1]",
        "k[i]: in w[i, :], y[:]; out z[i]",
    };
    const int64_t block = random->number(1, 4), shape = random->number(1, 4);
    const int64_t n = random->number(2048, 6000) * block * shape + random->number(0, block * shape);
    const std::string extent = Text(4 * n);
    const int64_t drawn = random->number(0, 6), first = drawn == 3 ? 5 : random->number(0, 3);
    return {declarations[drawn],
            Text(first) + ":" + Text(n - 1 - random->number(0, 3)),
            {{"x", extent}, {"y", "37"}, {"u", extent}, {"z", extent}, {"w", Text(n) + "x3"}},
            {block},
            {shape},
            {0},
            static_cast<int>(random->number(1, 3)),
            random->number(0, 1) == 1};
}

/** A launch along two indices, cut along both or one, whichever is slow. */
Cut DrawPlane(Random *random) {
    const std::string r = Text(random->number(0, 2));
    const std::string declarations[] = {
        "k[i, j]: in A[i-" + r + ":i+" + r + ", j], A[i, j-" + r + ":j+" + r + "]; out B[i, j]",
        "k[i, j]: in A[j, i]; out B[i, j]",
        "k[i, j]: in A[i, j], v[j]; inout B[i, j]",
        "k[i, j]: in A[i, :], v[j]; out B[i, j]",
    };
    const int64_t n_fast = random->number(1, 9), n_slow = 2048 / n_fast + random->number(40, 400);
    const bool rows_are_slow = random->number(0, 3) > 0;
    const std::vector<int64_t> block = {random->number(1, 2), random->number(1, 2)};
    const std::vector<int64_t> shape = {random->number(1, 3), random->number(1, 3)};
    const int64_t rows = block[0] * shape[0] * (rows_are_slow ? n_slow : n_fast);
    const int64_t columns = block[1] * shape[1] * (rows_are_slow ? n_fast : n_slow);
    const std::string square = Text(std::max(rows, columns));
    return {declarations[random->number(0, 3)],
            Text(rows) + "x" + Text(columns),
            {{"A", square + "x" + square}, {"B", Text(rows) + "x" + Text(columns)}, {"v", square}},
            block,
            shape,
            rows_are_slow ? std::vector<int>{0, 1} : std::vector<int>{1, 0},
            static_cast<int>(random->number(1, 3)),
            random->number(0, 1) == 1};
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
    EXPECT_GE(n_folded, n / 2);
}

/** A copy of a schedule, to be changed. */
class Mutant {
  public:
    explicit Mutant(const pti_schedule *right) : schedule(pti_schedule_copy(right)) {}
    ~Mutant() { pti_schedule_free(schedule); }
    Mutant(const Mutant &) = delete;
    Mutant &operator=(const Mutant &) = delete;
    pti_period &period() { return schedule->period; }

    /** Drop an operation, and all waits for it. */
    void Drop(int64_t dropped) {
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            pti_op &op = schedule->op[k];
            int n_kept = 0;
            for (int w = 0; w < op.n_waits; w++) {
                const int64_t wait = schedule->wait[op.first_wait + w];
                if (wait != dropped)
                    schedule->wait[op.first_wait + n_kept++] = wait - (wait > dropped ? 1 : 0);
            }
            op.n_waits = n_kept;
        }
        for (int64_t k = dropped; k + 1 < schedule->n_ops; k++)
            schedule->op[k] = schedule->op[k + 1];
        schedule->n_ops--;
        if (dropped < period().first_op)
            period().first_op--;
        else if (dropped < period().first_op + period().n_ops)
            period().n_ops--;
    }

    pti_schedule *schedule;
};

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

/** Arrays of numbers, and a device's memory of as many as fit, through which a schedule is run
 * operation by operation. Elements are of 4 bytes. */
class Interpreter {
  public:
    explicit Interpreter(const pti_instance *instance) : instance_(instance) {
        for (int o = 0; o < instance->n_operands; o++) {
            host.emplace_back(static_cast<size_t>(pti_box_count(&instance->operand[o].domain)));
            for (size_t k = 0; k < host.back().size(); k++)
                host.back()[k] = static_cast<uint32_t>(k * 2654435761U + static_cast<size_t>(o));
        }
    }

    /** Threads one after the other on the arrays themselves. */
    void RunPlain() {
        ForEach(instance_->threads, [&](const int64_t *thread) {
            RunThread(thread, [&](int o, const int64_t *at) { return &host[Of(o)][Index(o, at)]; });
        });
    }

    /** The stretches of a schedule; false where it leaves the memory of what it names. */
    bool Run(const pti_schedule *schedule) {
        memory_.assign(static_cast<size_t>(schedule->arena_bytes / 4 + 1), 0);
        pti_stretch_walk walk = pti_stretch_walk_begin(schedule);
        while (const pti_schedule *stretch = pti_stretch_walk_next(&walk))
            for (int64_t k = 0; k < stretch->n_ops; k++)
                RunOp(*stretch, stretch->op[k]);
        pti_stretch_walk_end(&walk);
        return is_inside_;
    }

    std::vector<std::vector<uint32_t>> host;

  private:
    using Point = std::function<void(const int64_t *)>;

    static size_t Of(int o) { return static_cast<size_t>(o); }

    static void ForEach(const polytile_domain &box, const Point &visit) {
        int64_t point[POLYTILE_MAX_DIMS];
        if (pti_box_is_empty(&box))
            return;
        pti_box_first_point(&box, point);
        do
            visit(point);
        while (pti_box_next_point(&box, point));
    }

    size_t Index(int o, const int64_t *at) const {
        const polytile_domain &all = instance_->operand[o].domain;
        int64_t index = 0;
        for (int d = 0; d < all.n_dims; d++)
            index = index * pti_range_count(all.range[d]) + at[d] - all.range[d].lo;
        return static_cast<size_t>(index);
    }

    uint32_t *Find(const pti_placement &placement, const int64_t *at) {
        for (int d = 0; d < placement.layout.hull.n_dims; d++)
            is_inside_ &= at[d] >= placement.layout.hull.range[d].lo &&
                          at[d] <= placement.layout.hull.range[d].hi;
        const int64_t offset =
            placement.offset_bytes + pti_memory_layout_offset(&placement.layout, at);
        return is_inside_ ? &memory_[static_cast<size_t>(offset / 4)] : &nowhere_;
    }

    void RunThread(const int64_t *at,
                   const std::function<uint32_t *(int o, const int64_t *at)> &find) {
        polytile_domain thread = instance_->threads;
        uint32_t value = 17;
        for (int d = 0; d < thread.n_dims; d++) {
            thread.range[d] = {at[d], at[d], 1};
            value = value * 31 + static_cast<uint32_t>(at[d]);
        }
        polytile_domain hull;
        for (int o = 0; o < instance_->n_operands; o++) {
            pti_boxes read = {};
            if (instance_->operand[o].reads)
                pti_footprint_boxes(instance_, o, PTI_READS, &thread, 16, &read);
            for (int b = 0; b < read.n_boxes; b++)
                ForEach(read.box[b], [&](const int64_t *p) { value = value * 31 + *find(o, p); });
            pti_boxes_free(&read);
        }
        for (int o = 0; o < instance_->n_operands; o++)
            if (instance_->operand[o].writes &&
                pti_footprint_find_hull(instance_, o, PTI_WRITES, &thread, &hull))
                ForEach(hull, [&](const int64_t *p) { *find(o, p) = value++; });
    }

    void RunOp(const pti_schedule &stretch, const pti_op &op) {
        if (op.kind == PTI_LAUNCH) {
            ForEach(op.box, [&](const int64_t *thread) {
                RunThread(thread, [&](int o, const int64_t *at) {
                    const pti_placement *placement =
                        pti_schedule_placement(&stretch, 0, op.superblock, o);
                    return placement == nullptr ? &nowhere_ : Find(*placement, at);
                });
            });
            return;
        }
        const pti_placement &to = stretch.placement[op.placement];
        std::vector<uint32_t> moved;
        ForEach(op.box, [&](const int64_t *p) {
            moved.push_back(op.kind == PTI_UPLOAD ? host[Of(to.operand)][Index(to.operand, p)]
                            : op.kind == PTI_COPY ? *Find(stretch.placement[op.source_placement], p)
                                                  : *Find(to, p));
        });
        size_t k = 0;
        ForEach(op.box, [&](const int64_t *p) {
            (op.kind == PTI_DOWNLOAD ? host[Of(to.operand)][Index(to.operand, p)] : *Find(to, p)) =
                moved[k++];
        });
    }

    const pti_instance *instance_;
    std::vector<uint32_t> memory_;
    uint32_t nowhere_ = 0;
    bool is_inside_ = true;
};

/** Change something of a schedule's period, or near it, by chance. */
void Change(Random *random, Mutant *mutant) {
    pti_schedule *schedule = mutant->schedule;
    pti_period &period = mutant->period();
    pti_op &op = schedule->op[random->number(0, schedule->n_ops - 1)];
    const int o = static_cast<int>(random->number(0, schedule->instance->n_operands - 1));
    const int d = static_cast<int>(random->number(0, op.box.n_dims - 1));
    const int64_t by = random->one_of({-3, -2, -1, 1, 2, 3});
    switch (random->number(0, 9)) {
    case 0:
        mutant->Drop(&op - schedule->op);
        break;
    case 1:
        op.box.range[d].lo += by;
        break;
    case 2:
        op.box.range[d].hi += by;
        break;
    case 3:
        op.box = pti_box_moved(&op.box, &period.launch[0].threads, by);
        break;
    case 4:
        op.placement += by;
        break;
    case 5:
        op.superblock += by;
        break;
    case 6:
        period.times = std::max<int64_t>(1, period.times + by);
        break;
    case 7:
        period.array[o].by[0] += by;
        break;
    case 8:
        schedule->launch_placement[random->number(0, schedule->n_launch_placements - 1)] += by;
        break;
    default:
        schedule->placement[random->number(0, schedule->n_placements - 1)].offset_bytes += 4 * by;
    }
}

/** Mutants that the checker accepts give the right results, which an interpreter finds. */
TEST(PeriodRandom, MutantsThatAreAcceptedAreRight) {
    Random random(test_seed("PeriodRandom.MutantsThatAreAcceptedAreRight"));
    const int64_t n = std::max<int64_t>(1, scaled(10)), most_draws = 50 * n;
    int64_t n_rejected = 0, n_accepted = 0, n_changed = 0;
    for (int64_t k = 0; k < most_draws && n_changed < n && !HasFailure(); k++) {
        const Cut cut = random.chance(50) ? DrawLine(&random) : DrawPlane(&random);
        SCOPED_TRACE(cut.declaration + " over " + cut.threads);
        const Both both(cut);
        if (both.folded == nullptr || pti_box_count(&both.launch.instance()->threads) > 20000)
            continue;
        n_changed++;
        Interpreter wanted(both.launch.instance()), got(both.launch.instance());
        wanted.RunPlain();
        EXPECT_TRUE(got.Run(both.folded));
        EXPECT_TRUE(got.host == wanted.host);
        for (int m = 0; m < 20; m++) {
            Mutant mutant(both.folded);
            Change(&random, &mutant);
            if (Refusal(mutant.schedule) != "") {
                n_rejected++;
                continue;
            }
            n_accepted++;
            Interpreter run(both.launch.instance());
            EXPECT_TRUE(run.Run(mutant.schedule));
            EXPECT_TRUE(run.host == wanted.host);
        }
    }
    std::printf("%lld accepted, %lld rejected\n", static_cast<long long>(n_accepted),
                static_cast<long long>(n_rejected));
    EXPECT_EQ(n_changed, n) << "of so many draws few have a period";
    EXPECT_GT(n_rejected, n_accepted);
}

} // namespace
