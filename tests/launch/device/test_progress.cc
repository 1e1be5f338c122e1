#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <polytile/polytile.h>

#include "support/terminal.h"

extern "C" {
#include "base/clock.h"
#include "launch/device/progress.h"
}

namespace {

constexpr const char *wipe = "\r\033[K";

/** 400 superblocks: 2 GB up, a launch and 1 GB down each. */
class Progress : public ::testing::Test {
  protected:
    void SetUp() override {
        const int64_t extent = 1000;
        for (int64_t s = 0; s < 400; s++) {
            for (const pti_op_kind kind : {PTI_UPLOAD, PTI_LAUNCH, PTI_DOWNLOAD}) {
                pti_op op{};
                op.kind = kind;
                op.superblock = s;
                op.bytes = kind == PTI_UPLOAD ? 2000000000 : kind == PTI_DOWNLOAD ? 1000000000 : 0;
                op.box = polytile_domain_from_extents(1, &extent);
                ops.push_back(op);
            }
        }
        instance.kernel_name = const_cast<char *>("add");
        schedule.instance = &instance;
        schedule.n_superblocks = 400;
        use_ops();
    }

    void use_ops() {
        schedule.n_ops = static_cast<int64_t>(ops.size());
        schedule.op = ops.data();
    }

    /** A bar that is due at every look. */
    pti_progress begin_due() const {
        pti_progress progress = pti_progress_begin(&schedule);
        if (pti_progress_may_show(&progress))
            progress.due_s = 0;
        return progress;
    }

    /** The line, taken_s after the run began, when all up to some superblock are done. */
    std::string line(int64_t n_done, double taken_s, int n_columns) const {
        pti_progress progress = pti_progress_begin(&schedule);
        progress.start_s = 1024; /* no clock's, with which sums could round */
        for (int64_t k = 0; k < PTI_MAX_STREAMS && n_done > 0; k++)
            progress.n_done[k] = 3 * n_done;
        std::vector<char> text(static_cast<size_t>(n_columns), 'x');
        pti_progress_print(&progress, progress.start_s + taken_s, n_columns, text.data());
        EXPECT_LT(std::string(text.data()).size(), text.size());
        return text.data();
    }

    std::vector<pti_op> ops;
    pti_instance instance = {};
    pti_schedule schedule = {};
};

TEST_F(Progress, TellsSuperblocksRateAndTimeLeft) {
    EXPECT_EQ(line(100, 10, 80), "add  [#######.......................] 100/400 superblocks  "
                                 "30.0 GB/s  30 s left");
    EXPECT_EQ(line(400, 30, 80).substr(0, 20), "add  [##############");
    EXPECT_NE(line(400, 30, 80).find("] 400/400 superblocks  40.0 GB/s  0 s left"),
              std::string::npos);
}

TEST_F(Progress, PromisesNothingBeforeSomethingIsDone) {
    EXPECT_EQ(line(0, 5, 60), "add  [........................] 0/400 superblocks  0.0 GB/s");
}

/** As in place: nothing moves, and there is one launch, of 1000 threads. */
TEST_F(Progress, TellsTheShareOfALaunchInOnePiece) {
    ops = {ops[1]};
    schedule.n_superblocks = 1;
    use_ops();
    pti_progress progress = pti_progress_begin(&schedule);
    char text[60];
    progress.start_s = 1024;
    pti_progress_show_within(&progress, 319);
    pti_progress_print(&progress, progress.start_s + 319, sizeof text, text);
    EXPECT_STREQ(text, "add  [#########....................] 31 %  11 min 21 s left");
    progress.n_done[PTI_STREAM_COMPUTE] = 1;
    progress.threads_within = 0;
    pti_progress_print(&progress, progress.start_s + 1000, sizeof text, text);
    EXPECT_EQ(text, "add  [" + std::string(36, '#') + "] 100 %  0 s left");
}

TEST_F(Progress, TellsLongTimesInLargerUnits) {
    const struct {
        double taken_s;
        const char *left;
    } rows[] = {
        {19.9, "  59 s left"},       {20, "  1 min 0 s left"},   {60, "  2 min 58 s left"},
        {3600, "  2 h 57 min left"}, {72000, "  2 d 11 h left"},
    };
    for (const auto &row : rows) {
        const std::string text = line(101, row.taken_s, 100);
        EXPECT_EQ(text.substr(text.size() - std::string(row.left).size()), row.left) << text;
    }
}

TEST_F(Progress, FitsTheTerminal) {
    for (int n_columns = 1; n_columns < 200; n_columns++)
        line(123, 7, n_columns);
    EXPECT_EQ(line(123, 10, 50), "add  123/400 superblocks  36.9 GB/s  23 s left")
        << "the bar goes first";
    EXPECT_EQ(line(123, 10, 20), "add  123/400 superb");
}

TEST_F(Progress, LeavesOutTheRateOfARunThatMovesNothing) {
    std::vector<pti_op> launches;
    std::copy_if(ops.begin(), ops.end(), std::back_inserter(launches),
                 [](const pti_op &op) { return op.kind == PTI_LAUNCH; });
    ops = launches;
    use_ops();
    pti_progress progress = pti_progress_begin(&schedule);
    progress.n_done[PTI_STREAM_COMPUTE] = 200;
    char text[50];
    pti_progress_print(&progress, progress.start_s + 4, sizeof text, text);
    EXPECT_STREQ(text, "add  [######......] 200/400 superblocks  4 s left");
}

TEST_F(Progress, CountsEachStreamUpToWhatItHasDone) {
    const Terminal terminal("xterm");
    const Captured captured(true, 80);
    pti_progress progress = begin_due();
    ASSERT_TRUE(pti_progress_may_show(&progress));
    pti_progress_update(&progress, 3 * 300);     /* the upload for superblock 300 */
    pti_progress_update(&progress, 3 * 200 + 1); /* its launch for superblock 200 */
    pti_progress_update(&progress, 3 * 99 + 2);
    char text[80];
    pti_progress_print(&progress, progress.start_s + 1, sizeof text, text);
    EXPECT_EQ(progress.bytes_done, 301 * INT64_C(2000000000) + 100 * INT64_C(1000000000));
    EXPECT_EQ(progress.superblocks_done, 201);
    EXPECT_EQ(progress.threads_done, 201000);
    pti_progress_end(&progress);
}

TEST_F(Progress, IsDrawnOverItselfAtMostTenTimesASecondAndWiped) {
    const Terminal terminal("xterm");
    const Captured captured(true, 70);
    pti_progress progress = begin_due();
    pti_progress_update(&progress, 1);
    const std::string once = captured.text();
    EXPECT_EQ(once.substr(0, 6), "\radd  ");
    EXPECT_EQ(once.substr(once.size() - 3), "\033[K");
    EXPECT_LE(once.size(), 69U + 4U);
    pti_progress_update(&progress, 2);
    EXPECT_FALSE(captured.has_text());
    EXPECT_GT(progress.due_s, pti_now_s());
    pti_progress_end(&progress);
    EXPECT_EQ(captured.text(), wipe);
    pti_progress_end(&progress);
    pti_progress_update(&progress, 3);
    EXPECT_FALSE(captured.has_text());
}

TEST_F(Progress, IsSilentElsewhere) {
    const struct {
        const char *kind;
        bool is_terminal;
    } rows[] = {{"xterm", false}, {"dumb", true}, {nullptr, true}};
    for (const auto &row : rows) {
        const Terminal terminal(row.kind);
        const Captured captured(row.is_terminal);
        pti_progress progress = begin_due();
        EXPECT_FALSE(pti_progress_may_show(&progress));
        for (int64_t k = 0; k < schedule.n_ops; k++)
            pti_progress_update(&progress, k);
        pti_progress_end(&progress);
        EXPECT_FALSE(captured.has_text());
    }
}

TEST_F(Progress, LeavesShortRunsAlone) {
    const Terminal terminal("xterm");
    const Captured captured(true);
    pti_progress progress = pti_progress_begin(&schedule);
    EXPECT_TRUE(pti_progress_may_show(&progress));
    pti_progress_update(&progress, 5);
    pti_progress_end(&progress);
    EXPECT_FALSE(captured.has_text());
}

/** A kernel that takes 0.15 s a superblock and looks whether something was drawn before 2 s. */
struct Slow {
    const Captured *captured;
    double start_s;
    bool is_early;
};

void Sleep(const polytile_domain *, const polytile_view *, void *user) {
    Slow *slow = static_cast<Slow *>(user);
    slow->is_early |= slow->captured->has_text() && pti_now_s() - slow->start_s < 2;
    usleep(150000);
}

TEST(ProgressOfARun, AppearsAfterTwoSecondsAndLeavesNothing) {
    const Terminal terminal("xterm");
    std::string text;
    Slow slow{};
    {
        const Captured captured(true, 72);
        const int64_t n = 1024;
        std::vector<float> x(n), y(n);
        polytile_context *ctx = nullptr;
        polytile_device *device = nullptr;
        polytile_kernel *kernel = nullptr;
        polytile_array *arrays[2]{};
        polytile_implementation implementation{};
        implementation.host = Sleep;
        implementation.user = &slow;
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host(memory=512B,threads=1)", &device), POLYTILE_OK);
        ASSERT_EQ(
            polytile_kernel_create(ctx, "slow[i]: in x[i]; out y[i]", &implementation, &kernel),
            POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
                  POLYTILE_OK);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
                  POLYTILE_OK);
        const polytile_domain domain = polytile_domain_from_extents(1, &n);
        polytile_launch_options options{};
        options.plan.strategy = "min-kernels";
        options.plan.n_buffers = 1;
        slow.captured = &captured;
        slow.start_s = pti_now_s();
        EXPECT_EQ(polytile_run(device, kernel, &domain, polytile_kernel_get_n_arrays(kernel),
                               arrays, &options),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        polytile_report report;
        polytile_device_get_report(device, &report);
        EXPECT_EQ(report.n_kernels, 16) << "as many as take 2.4 s";
        text = captured.text();
        polytile_context_destroy(ctx);
    }
    EXPECT_FALSE(slow.is_early);
    EXPECT_EQ(text.substr(0, 8), "\rslow  [");
    EXPECT_NE(text.find("/16 superblocks  0.0 GB/s  1 s left"), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos);
    ASSERT_GT(text.size(), 4U);
    EXPECT_EQ(text.substr(text.size() - 4), wipe);
}

} // namespace
