#include <gtest/gtest.h>

#include <string>
#include <vector>

extern "C" {
#include "distribute/share/load_balance.h"
}

namespace {

constexpr int64_t MiB = int64_t{1} << 20;

/** A member without enough memory has usable_bytes of less than its share; none: it is in place. */
struct Member {
    double resident, streamed;
    int64_t usable_bytes;
};

constexpr int64_t in_place = -1;

std::vector<double> weigh(const std::vector<Member> &members, const pti_load &load) {
    std::vector<pti_balanced_member> weighed;
    for (const Member &of : members)
        weighed.push_back({{of.resident, of.streamed},
                           of.usable_bytes == in_place,
                           of.usable_bytes == in_place ? 0 : of.usable_bytes});
    std::vector<double> weights(members.size());
    pti_balance_load(static_cast<int>(members.size()), weighed.data(), &load, weights.data());
    return weights;
}

using Weights = std::vector<double>;

/** 1 GiB goes up and comes down once, and is gone through so many times. */
pti_load passes(double n) {
    const double bytes = 1024 * MiB;
    return {n * bytes, n * bytes, bytes, bytes};
}

const Member gpu = {4000, 50, 1 << 30}, host = {100, 100, in_place};

TEST(Weigh, AlikeGetTheSame) {
    EXPECT_EQ(weigh({gpu, gpu, gpu}, passes(1)), (Weights{1000, 1000, 1000}));
    EXPECT_EQ(weigh({host, host}, passes(7)), (Weights{1000, 1000}));
}

TEST(Weigh, WhatIsGoneThroughOnceIsBoundByTheLink) {
    EXPECT_EQ(weigh({gpu, host}, passes(1)), (Weights{494, 1000}));
}

TEST(Weigh, WhatStaysIsBoundByTheMemory) {
    EXPECT_EQ(weigh({gpu, host}, passes(10000)), (Weights{1000, 25}));
}

TEST(Weigh, WhatDoesNotFitIsStreamedEachTime) {
    const Member small = {4000, 50, MiB}, roomy = {4000, 50, 1 << 30};
    EXPECT_EQ(weigh({small, host}, passes(10000)), (Weights{500, 1000}));
    EXPECT_EQ(weigh({small, roomy}, passes(10000)), (Weights{13, 1000}));
}

/** Two that are as fast get the same, whatever they could hold. */
TEST(Weigh, MemoryIsNoMeasure) {
    const Member small = {100, 50, MiB}, larger = {100, 50, 100 * MiB};
    EXPECT_EQ(weigh({small, larger}, passes(3)), (Weights{1000, 1000}));
}

TEST(Weigh, WhoIsOfNoUseGetsNothing) {
    EXPECT_EQ(weigh({{0, 0, 1}, host}, passes(1)), (Weights{0, 1000}));
    EXPECT_EQ(weigh({{1, 1, in_place}, {5000, 5000, in_place}}, passes(1)), (Weights{0, 1000}));
    EXPECT_EQ(weigh({{0, 0, 1}, {0, 0, 1}}, passes(1)), (Weights{1, 1}));
}

TEST(Weigh, RoundedWeightsAreStepsUpToTheLargest) {
    Weights of = {4, 1.1, 0.01, 0};
    pti_weights_round(4, 16, 1, of.data());
    EXPECT_EQ(of, (Weights{16, 4, 1, 1}));
    of = {0, 0};
    pti_weights_round(2, 16, 0, of.data());
    EXPECT_EQ(of, (Weights{1, 1}));
}

TEST(Weigh, NothingToDoIsSharedSomehow) {
    EXPECT_EQ(weigh({gpu, host}, {}), (Weights{1000, 1000}));
}

TEST(Weigh, PartsAreOfTheFirstDimensionThatIsCut) {
    const pti_member_grid grid = {3, {1, 2, 3}};
    int n_parts = 6;
    EXPECT_EQ(pti_balance_coordinate(nullptr, 4, &n_parts), 4);
    EXPECT_EQ(n_parts, 6);
    EXPECT_EQ(pti_balance_coordinate(&grid, 2, &n_parts), 0);
    EXPECT_EQ(pti_balance_coordinate(&grid, 3, &n_parts), 1);
    EXPECT_EQ(n_parts, 2);
}

} // namespace
