#include "support/environment.h"
#include "support/fake_cuda.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <polytile/polytile.h>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "launch/host/host.h"
}

namespace {

/** Rows that fill each unit, by its text, as a policy is told. */
using FillRows = std::map<std::string, int64_t>;

int64_t note_fill_rows(const polytile_work *work, int unit, void *user) {
    (*static_cast<FillRows *>(user))[work->units[unit].device] = work->units[unit].fill_rows;
    return 1;
}

int launch_nothing(const polytile_sub_kernel *) {
    return 0;
}

/** What a policy notes of a launch of a launcher with some lanes. */
FillRows note_of_launch(const char *devices, decltype(polytile_policy::take) note, int n_lanes,
                        int64_t n_columns) {
    static const int64_t n_rows = 4;
    FillRows found;
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_policy policy = {};
    policy.name = "notes";
    policy.take = note;
    policy.user = &found;
    EXPECT_EQ(polytile_policy_register(ctx, &policy), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_share_options share = {};
    share.policy = "notes";
    polytile_queue *queue = nullptr;
    EXPECT_EQ(polytile_queue_create_shared(ctx, devices, &share, &queue), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_implementation body = {};
    body.host_launcher = body.cuda_launcher = launch_nothing;
    body.cuda_lanes = n_lanes;
    polytile_kernel *kernel = nullptr;
    EXPECT_EQ(polytile_kernel_create(ctx, "f[i, j]: out y[i, j]", &body, &kernel), POLYTILE_OK);
    std::vector<float> y(static_cast<size_t>(n_rows * n_columns));
    const int64_t extents[] = {n_rows, n_columns};
    polytile_array *array = nullptr;
    EXPECT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 2, extents, y.data(), &array),
              POLYTILE_OK);
    const polytile_domain threads = polytile_domain_from_extents(2, extents);
    EXPECT_EQ(polytile_queue_attach(queue, 1, &array), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 1, &array, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_queue_detach(queue, 1, &array), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
    return found;
}

FillRows fill_rows_of(int n_lanes, int64_t n_columns) {
    return note_of_launch("cuda:0(memory=64MiB),host(threads=3)", note_fill_rows, n_lanes,
                          n_columns);
}

/** The GPU has room for 8192 threads at a time. */
TEST(CudaUnits, KnowHowManyRowsFillAGpuByTheLanesOfALauncher) {
    const FakeCuda cuda(1);
    const std::string gpu = "cuda:0(memory=64MiB)", host = "host(threads=3)";
    EXPECT_EQ(fill_rows_of(0, 1), (FillRows{{gpu, 8192}, {host, 3}}));
    EXPECT_EQ(fill_rows_of(1, 2), (FillRows{{gpu, 4096}, {host, 2}}));
    EXPECT_EQ(fill_rows_of(256, 1), (FillRows{{gpu, 32}, {host, 3}}));
    EXPECT_EQ(fill_rows_of(256, 3), (FillRows{{gpu, 11}, {host, 1}}));
    EXPECT_EQ(fill_rows_of(1024, 100), (FillRows{{gpu, 1}, {host, 1}}));
}

/** Return into how many sub-kernels a queue within 64 MiB cuts 8192 threads that read a row of
 * 16 KiB each. */
int64_t count_sub_kernels(int n_lanes) {
    static const int64_t extents[] = {8192, 4096};
    polytile_context *ctx = nullptr;
    EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    polytile_queue *queue = nullptr;
    EXPECT_EQ(polytile_queue_create_shared(ctx, "cuda:0(memory=64MiB)", nullptr, &queue),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_implementation body = {};
    body.cuda_launcher = launch_nothing;
    body.cuda_lanes = n_lanes;
    polytile_kernel *kernel = nullptr;
    EXPECT_EQ(polytile_kernel_create(ctx, "f[i]: in A[i, :]; out s[i]", &body, &kernel),
              POLYTILE_OK);
    std::vector<float> a(8192 * 4096), s(8192);
    polytile_array *array[2] = {};
    EXPECT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, extents, a.data(), &array[0]),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "s", POLYTILE_F32, 1, extents, s.data(), &array[1]),
              POLYTILE_OK);
    const polytile_domain threads = polytile_domain_from_extents(1, extents);
    polytile_report report = {};
    EXPECT_EQ(polytile_queue_attach(queue, 2, array), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, 2, array, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_queue_detach(queue, 2, array), POLYTILE_OK) << polytile_last_error(ctx);
    polytile_queue_get_report(queue, false, &report);
    polytile_context_destroy(ctx);
    return report.n_kernels;
}

/** Of a launcher that says so 8 rows fill the GPU. Of another one only all of them do: its pieces
 * are as large as a single run's. */
TEST(CudaUnits, OfAQueueRunPiecesThatFillThem) {
    const FakeCuda cuda(1);
    const int64_t n_small = count_sub_kernels(1024), n_large = count_sub_kernels(1);
    EXPECT_GE(n_small, 16);
    EXPECT_LT(n_large, n_small);
}

int64_t note_threads(const polytile_work *work, int unit, void *user) {
    (*static_cast<FillRows *>(user))[work->units[unit].device] = work->units[unit].n_threads;
    return 1;
}

/** Unless somebody said how many threads there are, which the process was started with. */
TEST(CudaUnits, LeaveACoreToTheThreadThatDrivesAGpu) {
    const FakeCuda cuda(1);
    Environment environment;
    environment.set("OMP_NUM_THREADS", nullptr);
    const int n_threads = pti_host_default_threads();
    const bool is_all = n_threads == static_cast<int>(std::thread::hardware_concurrency());
    const FillRows found = note_of_launch("cuda:0(memory=64MiB),host", note_threads, 0, 1);
    EXPECT_EQ(found.at("host"), is_all ? std::max(1, n_threads - 1) : n_threads);
    EXPECT_EQ(pti_host_default_threads(), n_threads);
}

} // namespace
