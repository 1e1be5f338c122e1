#include "report/reports.h"
#include "support/random.h"
#include "support/scale.h"

/* What a report adds up. */

namespace {

using namespace reports;

TEST_F(Report, AddsUpWhatOverlapsOnce) {
    TraceFile of;
    of.device(1, "cuda:0", ", \"limit_bytes\": 1024").run(1, "\"run\": 1, \"bound_bytes\": 60");
    of.slice(1, 0, "upload", "A", 100, 40, 70).slice(1, 1, "launch", "k", 120, 40);
    of.slice(1, 3, "launch", "k", 130, 40).slice(1, 2, "download", "B", 180, 10, 20);
    of.slice(1, 4, "plan", "k", 185, 15);
    const Json root = json(of);
    const json_t *device = first_of(this, root.get(), "devices");
    const std::pair<const char *, double> expected[] = {
        {"span_s", 100}, {"kernels_s", 50}, {"in_s", 40},   {"out_s", 10},        {"link_s", 50},
        {"both_s", 20},  {"plan_s", 15},    {"idle_s", 10}, {"plan_alone_s", 10},
    };
    for (const auto &[key, microseconds] : expected)
        EXPECT_NEAR(real_of(device, key), 1e-6 * microseconds, 1e-12) << key;
    EXPECT_EQ(real_of(device, "in_bytes"), 70);
    EXPECT_EQ(real_of(device, "out_bytes"), 20);
    EXPECT_EQ(real_of(device, "bound_bytes"), 60);
    EXPECT_EQ(real_of(device, "limit_bytes"), 1024);
    EXPECT_EQ(real_of(device, "n_kernels"), 2);
    EXPECT_EQ(real_of(first_of(this, root.get(), "kinds"), "n"), 2) << "the longest is first";
}

TEST_F(Report, KnowsABoundOnlyIfAllRunsHaveOne) {
    TraceFile of;
    of.device(1, "cuda:0").slice(1, 0, "upload", "A", 0, 1, 70);
    of.run(1, "\"run\": 1, \"bound_bytes\": 60").run(1, "\"run\": 1, \"bound_bytes\": 60");
    EXPECT_EQ(real_of(first_of(this, json(of).get(), "devices"), "bound_bytes"), 60)
        << "a run stands on each of its tracks";
    of.run(1, "\"run\": 2, \"bound_bytes\": 5");
    EXPECT_EQ(real_of(first_of(this, json(of).get(), "devices"), "bound_bytes"), 65);
    of.run(1, "\"run\": 3");
    const Json root = json(of);
    EXPECT_TRUE(
        json_is_null(json_object_get(first_of(this, root.get(), "devices"), "bound_bytes")));
}

/** Random operations, and the same figures nanosecond by nanosecond. */
TEST_F(Report, AddsUpAsCountingEachMomentDoes) {
    const uint64_t seed = test_seed("Report.AddsUpAsCountingEachMomentDoes");
    std::mt19937_64 random(seed);
    for (int64_t round = 0; round < scaled(60); round++) {
        SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round));
        const char *const works[] = {"launch", "upload", "download", "copy", "plan", "wait"};
        std::vector<unsigned> at(300);
        TraceFile of;
        of.device(1, "cuda:0");
        int first = 300, last = 0;
        for (uint64_t k = 0, n = 1 + random() % 12; k < n; k++) {
            const auto work = static_cast<unsigned>(random() % 6);
            const int begin = static_cast<int>(random() % 200),
                      taken = static_cast<int>(random() % 60);
            of.slice(1, static_cast<int>(work), works[work], "x", begin * 1e-3, taken * 1e-3);
            first = std::min(first, begin);
            last = std::max(last, begin + taken);
            for (int t = begin; t < begin + taken; t++)
                at[static_cast<size_t>(t)] |= 1u << work;
        }
        of.slice(1, 1, "upload", "x", first * 1e-3, 0);
        const Json root = json(of);
        const json_t *device = first_of(this, root.get(), "devices");
        const auto moments = [&](auto holds) {
            return 1e-9 *
                   static_cast<double>(std::count_if(at.begin() + first, at.begin() + last, holds));
        };
        EXPECT_NEAR(real_of(device, "kernels_s"), moments([](unsigned w) { return w & 1; }), 1e-15);
        EXPECT_NEAR(real_of(device, "link_s"), moments([](unsigned w) { return w & 6; }), 1e-15);
        EXPECT_NEAR(real_of(device, "both_s"),
                    moments([](unsigned w) { return (w & 1) && (w & 6); }), 1e-15);
        EXPECT_NEAR(real_of(device, "plan_alone_s"), moments([](unsigned w) { return w == 16; }),
                    1e-15);
        EXPECT_NEAR(real_of(device, "idle_s"), moments([](unsigned w) { return w == 0; }), 1e-15);
        EXPECT_NEAR(real_of(device, "span_s"), 1e-9 * (last - first), 1e-15);
    }
}

TEST_F(Report, CountsTheProgramsOwnWorkForNoDevice) {
    TraceFile of;
    of.device(0, "program").device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 5);
    of.slice(0, 0, "launch", "cuda:0", 0, 1).slice(0, 0, "download", "cuda:0", 2, 1, 5);
    const Json root = json(of);
    EXPECT_EQ(json_array_size(json_object_get(root.get(), "devices")), 1u);
    EXPECT_EQ(real_of(root.get(), "n_operations"), 3);
}

TEST_F(Report, TellsDevicesOfOneTextApart) {
    TraceFile of;
    of.device(1, "host").device(2, "host").slice(1, 1, "launch", "k", 0, 5);
    of.slice(2, 1, "launch", "k", 0, 5);
    const std::string text = write(of.text(), POLYTILE_TEXT);
    EXPECT_NE(text.find("host, 5 us"), std::string::npos) << text;
    EXPECT_NE(text.find("host #2, 5 us"), std::string::npos) << text;
}

} // namespace
