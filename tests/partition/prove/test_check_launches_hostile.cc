#include "partition/prove/handmade_launches.h"
#include "support/random.h"
#include "support/scale.h"

#include <cstdint>

/* The checker on schedules of several launches in which numbers are anything. */

namespace {

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

} // namespace
