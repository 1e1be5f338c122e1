#include "partition/skew/random_skew.h"
#include "partition/skew/skewed.h"

#include "support/scale.h"

#include <functional>

extern "C" {
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
    Both(pti_skew_request request, const pti_skew_shape &shape) {
        flat = pti_skew_build(&request, &shape);
        request.turn_kernels = 1;
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
    for (int64_t k = 0; k < n && !::testing::Test::HasFailure(); k++) {
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
        const Both both(chain.Request(ArenaOf(chain.chain(), shape)), shape);
        SCOPED_TRACE("slabs of " + std::to_string(shape.slab) + ", laps of " +
                     std::to_string(shape.n_per_lap) + ", " +
                     std::to_string(chain.chain().n_launches) + " launches");
        ASSERT_NO_FATAL_FAILURE(ExpectRight(both));
        n_folded += both.HasPeriod();
    }
    EXPECT_GE(n_folded, n / 2);
}

/** Chains of any kind: most have no rows enough for a period; all are right. */
TEST(SkewPeriodRandom, AnyChainsScheduleIsThatOfTheFlatList) {
    Random random(test_seed("SkewPeriodRandom.AnyChainsScheduleIsThatOfTheFlatList"));
    for (int64_t k = 0; k < scaled(400) && !::testing::Test::HasFailure(); k++) {
        RandomSkew skew(&random);
        if (skew.chain().n_launches < 2)
            continue;
        const pti_skew_shape shape = OnePass(skew.chain(), &random);
        SCOPED_TRACE(skew.text());
        const Both both(skew.Request(ArenaOf(skew.chain(), shape)), shape);
        ASSERT_NO_FATAL_FAILURE(ExpectRight(both));
    }
}

} // namespace
