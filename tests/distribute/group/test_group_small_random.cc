#include "queue/small_program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

namespace {

std::string draw_member(Random *random) {
    const std::string threads = "threads=" + std::to_string(random->number(1, 2));
    const int64_t memory_kib = random->one_of({4, 8, 16, 24, 64, 1024});
    return random->chance(50)
               ? "host(" + threads + ")"
               : "host(memory=" + std::to_string(memory_kib) + "KiB," + threads + ")";
}

/** In place, or with memory for a few pieces of 256 bytes. */
std::string draw_tight_member(Random *random) {
    const int64_t memory_bytes = 256 * random->number(2, 12) + random->number(0, 30);
    return random->chance(30) ? "host(threads=1)"
                              : "host(memory=" + std::to_string(memory_bytes) + "B,threads=1)";
}

std::string draw_members(int n_members, bool may_be_tight, Random *random) {
    const int64_t kind = random->number(0, may_be_tight ? 7 : 3);
    std::string text;
    for (int m = 0; m < n_members; m++)
        text += (m == 0 ? "" : ",") + (kind == 0   ? "host(threads=1)"
                                       : kind == 1 ? "host(memory=1MiB,threads=1)"
                                       : kind >= 4 ? draw_tight_member(random)
                                                   : draw_member(random));
    return text;
}

std::string draw_weights(int n_members, Random *random) {
    const int64_t heavy = random->number(0, n_members - 1);
    std::string text = "weighted(";
    for (int m = 0; m < n_members; m++)
        text += (m == 0 ? "" : ",") +
                std::to_string(m == heavy ? random->number(1, 9) : random->one_of({0, 1, 2, 5}));
    return text + ")";
}

std::string draw_layout(const std::string &kind, int n_members, Random *random) {
    if (kind == "cyclic")
        return "cyclic(" + std::to_string(random->number(1, 5)) + ")";
    if (kind == "block(dim)")
        return "block(dim=" + std::to_string(random->number(0, 2)) + ")";
    return kind == "weighted(...)" ? draw_weights(n_members, random) : kind;
}

struct SmallGroup {
    const char *layout;
    int64_t n_rounds;
};

void PrintTo(const SmallGroup &of, std::ostream *out) {
    *out << of.layout;
}

class GroupSmallRandom : public testing::TestWithParam<SmallGroup> {};

INSTANTIATE_TEST_SUITE_P(Layouts, GroupSmallRandom,
                         testing::Values(SmallGroup{"block", 80}, SmallGroup{"block(dim)", 50},
                                         SmallGroup{"cyclic", 50}, SmallGroup{"weighted(...)", 50},
                                         SmallGroup{"weighted", 4}, SmallGroup{"pool", 50}));

int64_t run_one(const char *layout_kind, uint64_t seed, bool may_be_long) {
    Random random(seed);
    const int n_members = static_cast<int>(random.number(1, 6));
    const bool is_by_speed =
        std::string(layout_kind) == "weighted" || std::string(layout_kind) == "pool";
    const bool may_be_tight = may_be_long && !is_by_speed;
    const std::string devices = draw_members(n_members, may_be_tight, &random);
    const std::string layout = draw_layout(layout_kind, n_members, &random);
    const int64_t launches_per_exchange = random.one_of({0, 0, 1, 3});
    Delays delays(300);
    TwinPlace place;
    place.create_queue = [&](polytile_context *ctx, const char *text, polytile_queue **queue) {
        polytile_share_options share = {};
        share.layout = layout.c_str();
        share.launches_per_exchange = launches_per_exchange;
        return polytile_queue_create_shared(ctx, text, &share, queue);
    };
    delays.add_to(&place);
    SCOPED_TRACE(devices + " " + layout + " seed " + std::to_string(seed));
    SmallProgram program(&random, may_be_long ? SmallProgram::Options::draw(&random)
                                              : SmallProgram::Options());
    return program.run(devices, place);
}

/** A column that three members reduce into, each on its own: one of them found what another had
 * brought home, in half of the runs. */
TEST(GroupSmall, WhatSeveralReduceIntoFromWhatIsThereIsReducedOnce) {
    for (int64_t round = 0; round < 16 && !testing::Test::HasFailure(); round++)
        run_one("block", 37116101956841530, false);
}

TEST_P(GroupSmallRandom, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("GroupSmallRandom"));
    const int64_t n_rounds = scaled(GetParam().n_rounds);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++)
        n_run += run_one(GetParam().layout,
                         static_cast<uint64_t>(random.number(0, int64_t{1} << 62)), true) > 0;
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

} // namespace
