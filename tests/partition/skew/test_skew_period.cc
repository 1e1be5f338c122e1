#include "partition/prove/extremes.h"
#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include "support/scale.h"

#include <algorithm>
#include <cstdio>
#include <map>

extern "C" {
#include "partition/cost/predict.h"
#include "partition/schedule/stretch.h"
}

/* Chains of launches whose slabs repeat themselves: their schedules have a period, and do what the
 * flat lists do, operation by operation. */

namespace {

bool SamePlacement(const pti_placement &a, const pti_placement &b) {
    return a.operand == b.operand && a.offset_bytes == b.offset_bytes &&
           a.layout.size_bytes == b.layout.size_bytes &&
           pti_box_equals(&a.layout.hull, &b.layout.hull);
}

void ExpectSamePlaces(const pti_schedule &stretch, const pti_op &op, const pti_schedule &flat,
                      const pti_op &expected) {
    const int n_operands = stretch.launch[op.launch].call.instance->n_operands;
    for (int o = 0; op.kind == PTI_LAUNCH && o < n_operands; o++) {
        const pti_placement *a = pti_schedule_placement(&stretch, op.launch, op.superblock, o);
        const pti_placement *b =
            pti_schedule_placement(&flat, expected.launch, expected.superblock, o);
        ASSERT_EQ(a == nullptr, b == nullptr);
        ASSERT_TRUE(a == nullptr || SamePlacement(*a, *b));
    }
    if (op.kind == PTI_LAUNCH)
        return;
    ASSERT_TRUE(SamePlacement(stretch.placement[op.placement], flat.placement[expected.placement]));
    if (op.kind == PTI_COPY) {
        ASSERT_TRUE(SamePlacement(stretch.placement[op.source_placement],
                                  flat.placement[expected.source_placement]));
    }
}

/** The operations of the stretches, one after the other, are those of the flat list, at the same
 * places, in the same lanes. */
void ExpectSame(const pti_schedule &flat, const pti_schedule &folded) {
    pti_stretch_walk walk = pti_stretch_walk_begin(&folded);
    int64_t k = 0;
    while (const pti_schedule *stretch = pti_stretch_walk_next(&walk)) {
        ASSERT_LE(k + stretch->n_ops, flat.n_ops);
        for (const pti_op *op = stretch->op; op < stretch->op + stretch->n_ops; op++, k++) {
            SCOPED_TRACE("operation " + std::to_string(k));
            ASSERT_EQ(op->kind, flat.op[k].kind);
            ASSERT_EQ(op->launch, flat.op[k].launch);
            ASSERT_EQ(op->lane, flat.op[k].lane);
            ASSERT_EQ(op->bytes, flat.op[k].bytes);
            ASSERT_TRUE(pti_box_equals(&op->box, &flat.op[k].box));
            ASSERT_NO_FATAL_FAILURE(ExpectSamePlaces(*stretch, *op, flat, flat.op[k]));
        }
    }
    EXPECT_FALSE(walk.failed);
    pti_stretch_walk_end(&walk);
    EXPECT_EQ(k, flat.n_ops);
}

/** The schedules of a chain in a shape, with all operations in the list and with a period. */
class Both {
  public:
    Both(pti_skew_request request, const pti_skew_shape &shape, int64_t turn_slabs = 0) {
        flat = pti_skew_build(&request, &shape);
        request.turn_kernels = 1;
        request.turn_slabs = turn_slabs;
        folded = pti_skew_build(&request, &shape);
    }
    ~Both() {
        pti_schedule_free(flat);
        pti_schedule_free(folded);
    }
    bool HasPeriod() const { return folded != nullptr && folded->period.times > 0; }

    pti_schedule *flat, *folded;
};

void ExpectRight(const Both &both) {
    ASSERT_NE(both.flat, nullptr);
    ASSERT_NE(both.folded, nullptr);
    EXPECT_EQ(pti_schedule_n_kernels(both.folded), both.flat->n_superblocks);
    const pti_traffic traffic = pti_schedule_traffic(both.folded),
                      expected = pti_schedule_traffic(both.flat);
    EXPECT_EQ(traffic.h2d_bytes, expected.h2d_bytes);
    EXPECT_EQ(traffic.d2h_bytes, expected.d2h_bytes);
    EXPECT_EQ(Objection(both.folded), "");
    EXPECT_GE(pti_schedule_predict(both.folded, &polytile_link_default, 0),
              (1 - 1e-9) * pti_schedule_predict(both.flat, &polytile_link_default, 0));
    ExpectSame(*both.flat, *both.folded);
}

/** A shape in one pass whose images slide. */
pti_skew_shape OnePass(const pti_chain &chain, Random *random) {
    pti_skew_shape shape = {};
    shape.n_per_pass = chain.n_launches;
    shape.n_passes = 1;
    shape.slab = random->number(1, 2);
    shape.n_per_lap = random->number(1, 3);
    shape.concurrent = random->chance(50);
    return shape;
}

/** Steps to and fro and others, over arrays of a few columns and many rows. */
const std::vector<std::string> long_domains = {"0:299,0:5", "0:299,0:5", "0:299,0:5", "0:5"};
const std::vector<Kernel> long_kernels = {
    {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "0:299,0:5",
     {{"A", 0}, {"B", 1}}},
    {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "0:299,0:5",
     {{"A", 1}, {"B", 0}}},
    {"inner[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]", "1:298,1:4", {{"A", 0}, {"B", 1}}},
    {"inner[i, j]: in A[i-1:i+1, j-1:j+1]; out B[i, j]", "1:298,1:4", {{"A", 1}, {"B", 0}}},
    {"add[i, j]: in A[i, j], v[j]; inout B[i, j]", "0:299,0:5", {{"A", 0}, {"v", 3}, {"B", 2}}},
    {"ahead[i, j]: in A[i:i+2, j]; out B[i, j]", "0:297,0:5", {{"A", 2}, {"B", 0}}},
};

void AddLaunches(Skewed *chain, Random *random) {
    const int64_t n = random->number(2, 9), first = random->number(0, 2) * 2;
    for (int64_t k = 0; k < n; k++)
        chain->Add(static_cast<int>(
            random->chance(80) ? (first + k % 2) : random->number(0, static_cast<int64_t>(5))));
}

TEST(SkewPeriodRandom, ItsStretchesDoWhatTheFlatListDoes) {
    Random random(test_seed("SkewPeriodRandom.ItsStretchesDoWhatTheFlatListDoes"));
    const int64_t n = std::max<int64_t>(20, scaled(300));
    int64_t n_folded = 0;
    for (int64_t k = 0; k < n && !HasFailure(); k++) {
        Skewed chain(long_domains, long_kernels);
        AddLaunches(&chain, &random);
        for (int a = 0; a < 3; a++) {
            if (random.chance(30))
                chain.Drop(a);
            if (random.chance(30))
                chain.LeaveUnwritten(a);
        }
        chain.Find();
        if (chain.chain().n_launches < 2)
            continue;
        const pti_skew_shape shape = OnePass(chain.chain(), &random);
        const int64_t turn_slabs = random.number(0, 8);
        const Both both(chain.Request(ArenaOf(chain.chain(), shape)), shape, turn_slabs);
        SCOPED_TRACE("slabs of " + std::to_string(shape.slab) + ", laps of " +
                     std::to_string(shape.n_per_lap) + ", " +
                     std::to_string(chain.chain().n_launches) + " launches");
        ASSERT_NO_FATAL_FAILURE(ExpectRight(both));
        n_folded += both.HasPeriod();
        if (both.HasPeriod()) {
            EXPECT_GE(both.folded->period.launch[0].n_superblocks, turn_slabs);
        }
    }
    EXPECT_GE(n_folded, least_count(n, 0.8));
}

/** Chains of any kind, now and then of many rows: a quarter of them has a period; all are right. */
TEST(SkewPeriodRandom, AnyChainsScheduleIsThatOfTheFlatList) {
    Random random(test_seed("SkewPeriodRandom.AnyChainsScheduleIsThatOfTheFlatList"));
    RandomChainShape longer;
    longer.times_longer = 8;
    longer.most_along[0] = 30;
    longer.most_along[1] = 12;
    longer.most_along[2] = 9;
    int64_t n_chains = 0, n_folded = 0;
    for (int64_t k = 0; k < scaled(400) && !HasFailure(); k++) {
        RandomSkew skew(&random, longer);
        if (skew.chain().n_launches < 2)
            continue;
        const pti_skew_shape shape = OnePass(skew.chain(), &random);
        SCOPED_TRACE(skew.text());
        const Both both(skew.Request(ArenaOf(skew.chain(), shape)), shape);
        ASSERT_NO_FATAL_FAILURE(ExpectRight(both));
        n_chains++;
        n_folded += both.HasPeriod();
    }
    printf("%lld of %lld chains have a period\n", static_cast<long long>(n_folded),
           static_cast<long long>(n_chains));
    EXPECT_GE(n_folded, least_count(n_chains, 0.1));
}

/* Mutants. */

/** The list with all turns that a schedule with a period stands for: each stretch waits for all of
 * the one before it. */
class Unfolded {
  public:
    explicit Unfolded(const pti_schedule &folded) {
        pti_stretch_walk walk = pti_stretch_walk_begin(&folded);
        boxes_.resize(static_cast<size_t>(folded.n_launches));
        placed_.resize(boxes_.size());
        while (const pti_schedule *stretch = pti_stretch_walk_next(&walk))
            Append(*stretch);
        pti_stretch_walk_end(&walk);
        Finish(folded);
    }

    std::string objection() const { return Objection(&flat_); }

  private:
    /** Placements of a stretch; what is carried has those of the stretch before. */
    std::vector<int64_t> PlacementsOf(const pti_schedule &stretch) {
        std::vector<int64_t> number(static_cast<size_t>(stretch.n_placements), -1);
        for (int k = 0; k < stretch.n_before; k++)
            number[static_cast<size_t>(stretch.before[k].placement)] =
                carried_[static_cast<size_t>(k)];
        for (int64_t p = 0; p < stretch.n_placements; p++)
            if (number[static_cast<size_t>(p)] < 0) {
                number[static_cast<size_t>(p)] = static_cast<int64_t>(placements_.size());
                placements_.push_back(stretch.placement[p]);
            }
        carried_.clear();
        for (int k = 0; k < stretch.n_after; k++)
            carried_.push_back(number[static_cast<size_t>(stretch.after[k].placement)]);
        return number;
    }

    void Append(const pti_schedule &stretch) {
        const std::vector<int64_t> number = PlacementsOf(stretch);
        const int64_t first_op = static_cast<int64_t>(ops_.size());
        const std::map<int, int64_t> before = last_;
        for (const pti_op *op = stretch.op; op < stretch.op + stretch.n_ops; op++) {
            const size_t l = static_cast<size_t>(op->launch);
            pti_op made = *op;
            made.superblock = static_cast<int64_t>(boxes_[l].size()) -
                              (op->kind != PTI_LAUNCH && !boxes_[l].empty());
            if (op->kind == PTI_LAUNCH) {
                const int64_t *of = pti_schedule_placements(&stretch, op->launch, op->superblock);
                boxes_[l].push_back(stretch.superblock[op->superblock]);
                for (int o = 0; o < stretch.launch[l].call.instance->n_operands; o++)
                    placed_[l].push_back(of[o] < 0 ? -1 : number[static_cast<size_t>(of[o])]);
            } else {
                made.placement = number[static_cast<size_t>(op->placement)];
            }
            if (op->kind == PTI_COPY)
                made.source_placement = number[static_cast<size_t>(op->source_placement)];
            made.first_wait = static_cast<int64_t>(waits_.size());
            for (int w = 0; w < op->n_waits; w++)
                waits_.push_back(first_op + stretch.wait[op->first_wait + w]);
            for (const auto &on_stream : before)
                waits_.push_back(on_stream.second);
            made.n_waits = static_cast<int>(static_cast<int64_t>(waits_.size()) - made.first_wait);
            last_[pti_op_stream(op)] = static_cast<int64_t>(ops_.size());
            ops_.push_back(made);
        }
    }

    void Finish(const pti_schedule &folded) {
        launches_.assign(folded.launch, folded.launch + folded.n_launches);
        for (size_t l = 0; l < boxes_.size(); l++) {
            launches_[l].first_superblock = static_cast<int64_t>(all_boxes_.size());
            launches_[l].n_superblocks = static_cast<int64_t>(boxes_[l].size());
            launches_[l].first_placement = static_cast<int64_t>(all_placed_.size());
            all_boxes_.insert(all_boxes_.end(), boxes_[l].begin(), boxes_[l].end());
            all_placed_.insert(all_placed_.end(), placed_[l].begin(), placed_[l].end());
        }
        for (pti_op &op : ops_) {
            const pti_schedule_launch &launch = launches_[static_cast<size_t>(op.launch)];
            op.superblock = launch.first_superblock +
                            std::min(op.superblock, std::max<int64_t>(0, launch.n_superblocks - 1));
        }
        flat_ = folded;
        flat_.period = {};
        flat_.launch = launches_.data();
        flat_.op = ops_.data();
        flat_.n_ops = static_cast<int64_t>(ops_.size());
        flat_.wait = waits_.data();
        flat_.n_waits = static_cast<int64_t>(waits_.size());
        flat_.superblock = all_boxes_.data();
        flat_.n_superblocks = static_cast<int64_t>(all_boxes_.size());
        flat_.placement = placements_.data();
        flat_.n_placements = static_cast<int64_t>(placements_.size());
        flat_.launch_placement = all_placed_.data();
        flat_.n_launch_placements = static_cast<int64_t>(all_placed_.size());
    }

    pti_schedule flat_ = {}; /* of the lists below, and borrowed from the other */
    std::vector<pti_schedule_launch> launches_;
    std::vector<pti_op> ops_;
    std::vector<int64_t> waits_, carried_;
    std::vector<pti_placement> placements_;
    std::map<int, int64_t> last_; /* operation of each stream so far */
    std::vector<std::vector<polytile_domain>> boxes_;
    std::vector<std::vector<int64_t>> placed_;
    std::vector<polytile_domain> all_boxes_;
    std::vector<int64_t> all_placed_;
};

/** Change one number of a schedule. */
void Mutate(pti_schedule *schedule, Random *random) {
    pti_period *period = &schedule->period;
    const int64_t by = random->chance(50) ? 1 : -1;
    const auto any = [random](int64_t n) { return random->number(0, n - 1); };
    pti_op *op = &schedule->op[any(schedule->n_ops)];
    pti_carried *carried = &period->carried[any(std::max(1, period->n_carried))];
    pti_boxes *held = random->chance(50) ? &carried->valid : &carried->dirty;
    polytile_range *ends = &op->box.range[any(op->box.n_dims)];
    const auto copy_box = [schedule, op] {
        if (op->kind == PTI_LAUNCH)
            schedule->superblock[op->superblock] = op->box;
    };
    switch (random->number(0, period->n_carried > 0 ? 13 : 9)) {
    case 0:
        period->times = std::max<int64_t>(1, period->times + by);
        break;
    case 1:
        period->launch[any(schedule->n_launches)].threads.by[0] += by;
        break;
    case 2:
        period->array[any(schedule->instance->n_operands)].by[0] += by;
        break;
    case 3:
        period->first_op += by;
        break;
    case 4:
        period->n_ops += by;
        break;
    case 5:
        period->launch[any(schedule->n_launches)].first_superblock += by;
        break;
    case 6:
        ends->lo += by, copy_box();
        break;
    case 7:
        ends->hi += by, copy_box();
        break;
    case 8:
        op->n_waits = op->n_waits > 0 ? op->n_waits - 1 : 0;
        break;
    case 9:
        schedule->placement[any(schedule->n_placements)].offset_bytes += 8 * by;
        break;
    case 10:
        carried->first += by;
        break;
    case 11:
        carried->left += by;
        break;
    case 12:
        if (held->n_boxes > 0)
            held->box[0].range[any(2)].hi += by;
        break;
    case 13:
        pti_boxes_clear(held);
        break;
    }
}

TEST(SkewPeriodRandom, NumbersThatAreAnythingAreRefused) {
    Random random(test_seed("SkewPeriodRandom.NumbersThatAreAnythingAreRefused"));
    for (int64_t k = 0; k < scaled(40) && !HasFailure(); k++) {
        Skewed chain(long_domains, long_kernels);
        AddLaunches(&chain, &random);
        chain.Find();
        if (chain.chain().n_launches < 2)
            continue;
        const pti_skew_shape shape = OnePass(chain.chain(), &random);
        const Both both(chain.Request(ArenaOf(chain.chain(), shape)), shape);
        ASSERT_NE(both.folded, nullptr);
        ExpectExtremesRefused(NumbersOf(both.folded), 30, &random,
                              [&both] { return Objection(both.folded); });
    }
}

/** What the checker accepts is right as a list of all turns, as the checker of lists has it. */
TEST(SkewPeriodRandom, MutantsThatAreAcceptedAreRight) {
    Random random(test_seed("SkewPeriodRandom.MutantsThatAreAcceptedAreRight"));
    const int64_t n = std::max<int64_t>(1, scaled(150)), most_draws = 50 * n;
    int64_t n_accepted = 0, n_rejected = 0, n_changed = 0;
    for (int64_t k = 0; k < most_draws && n_changed < n && !HasFailure(); k++) {
        Skewed chain(long_domains, long_kernels);
        AddLaunches(&chain, &random);
        for (int a = 0; a < 3; a++)
            if (random.chance(50))
                chain.MakeScratch(a);
        chain.Find();
        if (chain.chain().n_launches < 2)
            continue;
        const pti_skew_shape shape = OnePass(chain.chain(), &random);
        const Both both(chain.Request(ArenaOf(chain.chain(), shape)), shape);
        if (!both.HasPeriod())
            continue;
        n_changed++;
        ASSERT_EQ(Unfolded(*both.folded).objection(), "");
        for (int m = 0; m < 20; m++) {
            pti_schedule *mutant = pti_schedule_copy(both.folded);
            Mutate(mutant, &random);
            const bool is_accepted = Objection(mutant).empty();
            (is_accepted ? n_accepted : n_rejected)++;
            if (is_accepted) {
                EXPECT_EQ(Unfolded(*mutant).objection(), "");
            }
            pti_schedule_free(mutant);
        }
    }
    printf("%lld accepted, %lld rejected\n", static_cast<long long>(n_accepted),
           static_cast<long long>(n_rejected));
    EXPECT_EQ(n_changed, n) << "of so many draws few have a period";
    EXPECT_GE(n_rejected, least_count(n_rejected + n_accepted, 0.6));
}

} // namespace
