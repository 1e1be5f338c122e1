#include "partition/schedule/periods.h"
#include "support/scale.h"

/* Random changes of schedules with a period: what the checker accepts is run. */

namespace {

using namespace periods;

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

/** About how many elements a launch's threads read, each as many as the first one. */
int64_t CountReads(const pti_instance *instance) {
    int64_t n = 1;
    polytile_domain thread = instance->threads;
    for (int d = 0; d < thread.n_dims; d++)
        thread.range[d].hi = thread.range[d].lo;
    for (int o = 0; o < instance->n_operands; o++) {
        pti_boxes read = {};
        if (instance->operand[o].reads)
            pti_footprint_boxes(instance, o, PTI_READS, &thread, 16, &read);
        for (int b = 0; b < read.n_boxes; b++)
            n += pti_box_count(&read.box[b]);
        pti_boxes_free(&read);
    }
    return n * pti_box_count(&instance->threads);
}

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
        if (both.folded == nullptr || CountReads(both.launch.instance()) > 200000)
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
    EXPECT_GE(n_rejected, least_count(n_rejected + n_accepted, 0.6));
}

} // namespace
