#include "queue/program.h"
#include "support/environment.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>
#include <string>

namespace {

struct RandomGroup {
    const char *devices;
    int64_t n_rounds;
    const char *layout;           /* "drawn": another one each round; or as the options take it */
    const char *policy = nullptr; /* likewise */
};

void PrintTo(const RandomGroup &of, std::ostream *out) {
    *out << of.devices << " " << (of.layout == nullptr ? "" : of.layout) << " "
         << (of.policy == nullptr ? "" : of.policy);
}

class GroupRandom : public testing::TestWithParam<RandomGroup> {};

INSTANTIATE_TEST_SUITE_P(
    Devices, GroupRandom,
    testing::Values(RandomGroup{"host,host", 40, "block"},
                    RandomGroup{"host(threads=1),host,host(threads=2)", 40, "block"},
                    RandomGroup{"host(memory=1MiB),host(memory=1MiB)", 60, "block"},
                    RandomGroup{"host(memory=6KiB),host(memory=14KiB)", 60, "block"},
                    RandomGroup{"host(memory=9KiB),host(memory=9KiB),host(memory=1MiB)", 60,
                                "block"},
                    RandomGroup{"host,host(memory=6KiB)", 60, "block"},
                    RandomGroup{"host,host", 40, "drawn"},
                    RandomGroup{"host(memory=1MiB),host(memory=1MiB)", 60, "drawn"},
                    RandomGroup{"host(memory=9KiB),host,host(memory=1MiB)", 60, "drawn"},
                    RandomGroup{"host,host", 40, "pool"},
                    RandomGroup{"host(memory=1MiB),host(memory=1MiB)", 60, "pool"},
                    RandomGroup{"host(memory=9KiB),host,host(memory=1MiB)", 60, "pool"},
                    RandomGroup{"host(memory=3KiB),host(memory=4KiB)", 60, "pool"},
                    RandomGroup{"host,host", 40, "block", "drawn"},
                    RandomGroup{"host(memory=9KiB),host,host(memory=1MiB)", 60, "block", "drawn"},
                    RandomGroup{"host(memory=3KiB),host(memory=4KiB)", 60, nullptr, "drawn"},
                    RandomGroup{"host(memory=6KiB),host(memory=14KiB)", 4, "weighted"},
                    RandomGroup{"host(memory=1MiB),host", 4, "weighted"}));

/** Weights of all sizes, some of them nothing, but not all. */
std::string draw_weights(int n_devices, Random *random) {
    const int64_t heavy = random->number(0, n_devices - 1);
    std::string text = "weighted(";
    for (int d = 0; d < n_devices; d++)
        text += (d == 0 ? "" : ",") +
                std::to_string(d == heavy ? random->number(1, 20) : random->one_of({0, 1, 3, 50}));
    return text + ")";
}

std::string draw_layout(const RandomGroup &of, Random *random) {
    const std::string layout = of.layout == nullptr ? "" : of.layout, devices = of.devices;
    const int n_devices = 1 + static_cast<int>(std::count(devices.begin(), devices.end(), ','));
    if (layout != "drawn")
        return layout;
    if (random->chance(70))
        return draw_weights(n_devices, random);
    return random->chance(50) ? "cyclic(" + std::to_string(random->number(1, 7)) + ")"
                              : "block(dim=" + std::to_string(random->number(0, 1)) + ")";
}

std::string draw_policy(const RandomGroup &of, Random *random) {
    const std::string policy = of.policy == nullptr ? "" : of.policy;
    static const char *const policies[] = {"equal",   "equal(node)", "self(1)", "self(2)",
                                           "self(5)", "guided",      "weighted"};
    return policy != "drawn" ? policy : policies[random->number(0, std::size(policies) - 1)];
}

/** Over which results come so slowly that pieces are several launches. */
polytile_link slow_to_host() {
    polytile_link link = polytile_link_default;
    link.download_bytes_per_s = 1e5;
    return link;
}

/** Run random programs on all devices together; with a proof of every schedule. */
TEST_P(GroupRandom, ResultsAreThoseOfRunningInOrder) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    const polytile_link slow = slow_to_host();
    Random random(test_seed("GroupRandom"));
    const int64_t n_rounds = scaled(GetParam().n_rounds);
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        const std::string layout = draw_layout(GetParam(), &random);
        const std::string policy = draw_policy(GetParam(), &random);
        Program::Options options = Program::Options::draw(&random);
        options.has_internal = (layout != "pool" && policy.empty()) || random.chance(20);
        options.link = random.chance(30) ? &slow : nullptr;
        options.create_queue = [&](polytile_context *ctx, const char *text,
                                   polytile_queue **queue) {
            polytile_share_options share = {};
            share.layout = layout.empty() ? nullptr : layout.c_str();
            share.policy = policy.empty() ? nullptr : policy.c_str();
            return polytile_queue_create_shared(ctx, text, &share, queue);
        };
        SCOPED_TRACE(layout);
        Program program(GetParam().devices, options, &random);
        program.run();
        n_run += program.n_launched() > 0;
    }
    EXPECT_GE(n_run, least_count(n_rounds, 0.8));
}

} // namespace
