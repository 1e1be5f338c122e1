#include "report/reports.h"

extern "C" {
#include "report/advice.h"
}

/* Advice, each on both sides of its threshold. */

namespace {

using namespace reports;

constexpr double short_us = 1e6 * PTI_SHORT_KERNEL_S;

TEST_F(Report, AdvisesALargerLimitWhereKernelsAreShort) {
    TraceFile brief, longer, few, whole;
    const std::string cut = "\"run\": 1, \"launches\": 1, \"superblocks\": 100";
    expect_rule(add_kernels(brief, PTI_FEW_OPERATIONS, short_us - 1).run(1, cut), "short kernels",
                true);
    EXPECT_NE(texts.find("10 kernels of jacobi take 49 us each"), std::string::npos) << texts;
    EXPECT_NE(texts.find("raise the limit (now 64 MiB)"), std::string::npos) << texts;
    expect_rule(add_kernels(longer, PTI_FEW_OPERATIONS, short_us + 1).run(1, cut), "short kernels",
                false);
    expect_rule(add_kernels(few, PTI_FEW_OPERATIONS - 1, short_us - 1).run(1, cut), "short kernels",
                false);
    add_kernels(whole, PTI_FEW_OPERATIONS, short_us - 1);
    expect_rule(whole.run(1, "\"run\": 1, \"launches\": 10, \"superblocks\": 10"), "short kernels",
                true);
    EXPECT_NE(texts.find("each launch is one sub-kernel already"), std::string::npos) << texts;
    EXPECT_EQ(texts.find("raise the limit"), std::string::npos) << texts;
}

/** What starting a kernel and a copy cost is said of GPUs. */
TEST_F(Report, DoesNotMindShortWorkOfAHost) {
    TraceFile of;
    of.device(1, "host(memory=8MiB)");
    for (int k = 0; k < 20; k++)
        of.slice(1, 1, "launch", "k", 10 * k, 9).slice(1, 0, "upload", "A", 10 * k + 9, 1, 64);
    EXPECT_EQ(rules(of), std::set<std::string>{"body of host(memory=8MiB)"});
    EXPECT_NE(texts.find("more threads"), std::string::npos) << texts;
}

TEST_F(Report, SaysWhereNoDeviceIsInATrace) {
    TraceFile of;
    of.device(0, "program").slice(0, 0, "wait", "all", 0, 5);
    EXPECT_NE(write(of.text(), POLYTILE_TEXT).find("No device is in this trace."),
              std::string::npos);
}

TEST_F(Report, DoesNotMindShortKernelsThatTakeLittleTime) {
    TraceFile of;
    add_kernels(of, PTI_FEW_OPERATIONS, 1)
        .slice(1, 1, "launch", "large", 100, 10 / PTI_SMALL_SHARE);
    expect_rule(of, "short kernels", false);
}

/** Kernels and uploads of 100 us each, of which so many microseconds overlap. */
TraceFile &add_pair(TraceFile &of, double common_us) {
    return of.device(1, "cuda:0")
        .slice(1, 0, "upload", "A", 0, 100, 1 << 22)
        .slice(1, 1, "launch", "k", 100 - common_us, 100);
}

TEST_F(Report, AdvisesMoreBuffersWhereCopiesAndKernelsTakeTurns) {
    TraceFile apart, together, one;
    expect_rule(add_pair(apart, 100 * PTI_HARDLY_OVERLAPS - 1), "no overlap", true);
    EXPECT_NE(texts.find("n_buffers"), std::string::npos) << texts;
    expect_rule(add_pair(together, 100 * PTI_HARDLY_OVERLAPS + 1), "no overlap", false);
    expect_rule(add_pair(one, 0).run(1, "\"run\": 1, \"launches\": 1, \"superblocks\": 1"),
                "no overlap", true);
    EXPECT_NE(texts.find("one superblock"), std::string::npos) << texts;
}

TEST_F(Report, SaysThatTheHostWithALimitIsAStandIn) {
    TraceFile of;
    of.device(1, "host(memory=8MiB)")
        .slice(1, 0, "upload", "A", 0, 50)
        .slice(1, 1, "launch", "k", 50, 50);
    EXPECT_EQ(rules(of), std::set<std::string>{"stand-in of host(memory=8MiB)"});
}

/** A link that is busy for a part of 1000 us, and kernels for another. */
TraceFile &add_link(TraceFile &of, double link, double kernels) {
    return of.device(1, "cuda:0")
        .slice(1, 0, "upload", "A", 0, 1000 * link, 1 << 20)
        .slice(1, 1, "launch", "k", 1000 - 1000 * kernels, 1000 * kernels);
}

TEST_F(Report, AdvisesMoreWorkOnWhatIsThereWhereTheLinkIsTheLimit) {
    TraceFile busy, idler, computing, tight, loose;
    expect_rule(add_link(busy, PTI_BUSY_LINK + .01, .4), "link", true);
    EXPECT_NE(texts.find("put launches into one queue"), std::string::npos) << texts;
    expect_rule(add_link(idler, PTI_BUSY_LINK - .01, .4), "link", false);
    expect_rule(add_link(computing, PTI_BUSY_LINK + .01, PTI_IDLE_KERNELS + .01), "link", false);
    add_link(tight, .9, .4).run(1, "\"run\": 1, \"bound_bytes\": 1048576");
    expect_rule(tight, "link", true);
    EXPECT_NE(texts.find("1.00 times the lower bound"), std::string::npos) << texts;
    expect_rule(add_link(loose, .9, .4).run(1, "\"run\": 1, \"bound_bytes\": 524288"), "link",
                false);
}

TEST_F(Report, AdvisesFewerBytesAboveTheBound) {
    TraceFile above, near;
    const auto bound = [](double ratio) {
        return "\"run\": 1, \"bound_bytes\": " +
               std::to_string(static_cast<int64_t>((1 << 20) / ratio));
    };
    expect_rule(add_link(above, .5, .5).run(1, bound(PTI_ABOVE_BOUND + .01)), "bound", true);
    EXPECT_NE(texts.find("1 MiB moved, 1.26 times what"), std::string::npos) << texts;
    expect_rule(add_link(near, .5, .5).run(1, bound(PTI_ABOVE_BOUND - .01)), "bound", false);
}

TraceFile &add_copies(TraceFile &of, const char *work, int64_t bytes, double taken_us) {
    of.device(1, "cuda:0",
              ", \"upload_bytes_per_s\": 50000000000, \"download_bytes_per_s\": 20000000000");
    for (int k = 0; k < PTI_FEW_OPERATIONS; k++)
        of.slice(1, 0, work, "A", k * taken_us, taken_us, bytes);
    return of;
}

TEST_F(Report, AdvisesLargerCopies) {
    TraceFile small, large;
    expect_rule(add_copies(small, "upload", PTI_SMALL_COPY_BYTES - 1, 10), "small copies", true);
    EXPECT_NE(texts.find("10 uploads of A move"), std::string::npos) << texts;
    expect_rule(add_copies(large, "upload", PTI_SMALL_COPY_BYTES, 10), "small copies", false);
}

TEST_F(Report, AdvisesPinnedMemoryWhereTheLinkIsSlowerThanMeasured) {
    const int64_t bytes = PTI_LARGE_COPY_BYTES;
    const auto taken_us = [&](double gigabytes_a_second) {
        return static_cast<double>(bytes) / (1e3 * gigabytes_a_second);
    };
    TraceFile slow, fast, down, brief;
    expect_rule(add_copies(slow, "upload", bytes, taken_us(50 * PTI_SLOW_LINK - .1)), "slow link",
                true);
    EXPECT_NE(texts.find("24.9 GB/s, and this link reached 50 GB/s"), std::string::npos) << texts;
    expect_rule(add_copies(fast, "upload", bytes, taken_us(50 * PTI_SLOW_LINK + .1)), "slow link",
                false);
    expect_rule(add_copies(down, "download", bytes, taken_us(20 * PTI_SLOW_LINK + .1)), "slow link",
                false);
    expect_rule(add_copies(brief, "upload", bytes - 1, taken_us(1)), "slow link", false);
}

TEST_F(Report, AdvisesLessPlanning) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double plan_us = 1000 * (PTI_LONG_PLANNING + more);
        of.device(1, "cuda:0").slice(1, 4, "plan", "k", 0, plan_us);
        of.slice(1, 1, "launch", "k", plan_us, 1000 - plan_us);
        expect_rule(of, "planning", more > 0);
        EXPECT_EQ(texts.find("polytile_plan_create"), std::string::npos) << "of a queue";
    }
    TraceFile beside;
    beside.device(1, "cuda:0")
        .slice(1, 4, "plan", "k", 0, 1000)
        .slice(1, 1, "launch", "k", 0, 1000);
    expect_rule(beside, "planning", false);
}

TEST_F(Report, AdvisesQueuesWhereNothingRuns) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double idle_us = 1000 * (PTI_LONG_IDLE + more);
        of.device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 100);
        of.slice(1, 1, "launch", "k", 100 + idle_us, 900 - idle_us);
        expect_rule(of, "idle", more > 0);
    }
}

TEST_F(Report, AdvisesOtherSharesWhereDevicesAreUneven) {
    for (const double more : {.01, -.01}) {
        TraceFile of;
        const double most = PTI_UNEVEN + more;
        of.device(1, "cuda:0").slice(1, 1, "launch", "k", 0, 1000 * most);
        of.device(2, "cuda:1").slice(2, 1, "launch", "k", 0, 1000 * (2 - most));
        EXPECT_EQ(rules(of).count("balance of all devices"), more > 0 ? 1u : 0u) << texts;
    }
}

TEST_F(Report, SaysWhereOnlyTheBodyIsLeft) {
    TraceFile of, mixed;
    add_kernels(of, 1, 1000);
    EXPECT_EQ(rules(of), std::set<std::string>{"body of cuda:0"});
    add_link(mixed, .3, .8);
    EXPECT_EQ(rules(mixed), std::set<std::string>{});
    EXPECT_NE(write(mixed.text(), POLYTILE_TEXT).find("Nothing stands out."), std::string::npos);
}

TEST_F(Report, SaysThatOnlyABodyIsLeftWhereNoOtherRuleSpeaks) {
    TraceFile of;
    add_kernels(of, 100, 15);
    EXPECT_EQ(rules(of), std::set<std::string>{"short kernels of cuda:0"});
}

} // namespace
