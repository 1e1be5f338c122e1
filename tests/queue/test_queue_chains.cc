#include "queue/queue_test.h"
#include "support/environment.h"
#include "support/scale.h"

extern "C" {
#include "launch/host/host.h"
}

namespace {

/** Stencil steps that are queued together, to and fro between two fields. */
class QueueChains : public QueueTest {
  protected:
    static constexpr int64_t width = 1 << 14;
    const int n_steps = test_scale() < 0.2 ? 6 : 12;

    void SetUp() override {
        QueueTest::SetUp();
        const int64_t row_bytes = width * static_cast<int64_t>(sizeof(float));
        height = fields_bytes() / row_bytes + 2;
        for (int64_t k = 0; k < height * width; k++)
            initial.push_back(static_cast<float>(k * 31 % 1009));
        step = create("jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]", &jacobi_kernel);
    }

    /** Twice what the host's cache holds. */
    virtual int64_t fields_bytes() const { return 2 * pti_host_cache_bytes(); }

    /** The first field after all steps; *told: what the queue did. */
    std::vector<float> run(const char *device, int64_t launches_per_pass, polytile_report *told,
                           const polytile_link *link = nullptr) {
        std::vector<float> fields[] = {initial, initial};
        polytile_queue *queue = open(device);
        polytile_array *array[] = {wrap("A", fields[0], {height, width}),
                                   wrap("B", fields[1], {height, width})};
        polytile_launch_options options = {};
        options.plan.launches_per_pass = launches_per_pass;
        options.plan.link = link;
        EXPECT_EQ(attach(queue, {array[0], array[1]}), POLYTILE_OK) << error();
        polytile_queue_pause(queue);
        for (int k = 0; k < n_steps; k++)
            EXPECT_EQ(launch(queue, step, box({1, 1}, {height - 2, width - 2}),
                             {array[k % 2], array[1 - k % 2]}, &options),
                      POLYTILE_OK)
                << error();
        EXPECT_EQ(detach(queue, {array[0], array[1]}), POLYTILE_OK) << error();
        *told = report(queue);
        polytile_queue_destroy(queue);
        for (polytile_array *one : array)
            polytile_array_destroy(one);
        return fields[0];
    }

    int64_t height = 0;
    std::vector<float> initial;
    polytile_kernel *step = nullptr;
};

TEST_F(QueueChains, InPlaceRunInSlabsUnlessOneLaunchAPassIsAskedFor) {
    polytile_report one_by_one, in_slabs, in_pairs;
    const std::vector<float> expected = run("host(threads=2)", 1, &one_by_one);
    EXPECT_EQ(one_by_one.n_kernels, n_steps);
    EXPECT_EQ(run("host(threads=2)", 0, &in_slabs), expected);
    EXPECT_EQ(run("host(threads=2)", 2, &in_pairs), expected);
    EXPECT_GT(in_slabs.n_kernels, n_steps);
    EXPECT_GT(in_pairs.n_kernels, n_steps);
    EXPECT_EQ(in_slabs.n_launches, n_steps);
}

/** Columns are proved, and the log says that there are some. */
class QueueColumns : public QueueChains {
  protected:
    void SetUp() override {
        environment.set("POLYTILE_CHECK", "plan");
        environment.set("POLYTILE_LOG", "info");
        QueueChains::SetUp();
    }

    Environment environment;
};

TEST_F(QueueColumns, GiveTheSameOnAnyNumberOfThreads) {
    polytile_report told;
    const std::vector<float> expected = run("host(threads=2)", 1, &told);
    for (const char *device : {"host(threads=1)", "host(threads=3)"}) {
        testing::internal::CaptureStderr();
        EXPECT_EQ(run(device, 0, &told), expected) << device;
        const std::string log = testing::internal::GetCapturedStderr();
        EXPECT_GT(told.n_kernels, n_steps) << device;
        EXPECT_GT(told.compute_s, 0) << device;
        EXPECT_NE(log.find("are cut into columns of"), std::string::npos) << log;
    }
}

TEST_F(QueueChains, OnADeviceMoveMoreWithOneLaunchAPass) {
    polytile_report one_by_one, fused;
    const std::string device = "host(memory=" + std::to_string(pti_host_cache_bytes()) + "B)";
    const std::vector<float> expected = run(device.c_str(), 1, &one_by_one);
    EXPECT_EQ(run(device.c_str(), 0, &fused), expected);
    EXPECT_LT(2 * (fused.h2d_bytes + fused.d2h_bytes), one_by_one.h2d_bytes + one_by_one.d2h_bytes);
}

/** A device that holds everything; its cache an eighth of the data, 100 times as fast. */
class QueueResidentChains : public QueueChains {
  protected:
    int64_t fields_bytes() const override { return int64_t{4} << 20; }

    void SetUp() override {
        QueueChains::SetUp();
        const double all_bytes = 2.0 * sizeof(float) * static_cast<double>(initial.size());
        device = "host(threads=2,memory=" + std::to_string(static_cast<int64_t>(all_bytes) + 4096) +
                 "B)";
        link.cache_bytes = all_bytes / 8;
        link.cache_bytes_per_s = 100 * link.kernel_bytes_per_s;
        link.kernel_accesses_per_s = 0;
        link.launch_latency_s = 1e-9;
    }

    std::string device;
    polytile_link link = polytile_link_default;
};

TEST_F(QueueResidentChains, RunInSlabsThatStayInTheCacheAndMoveNoMore) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    polytile_report apart, in_slabs;
    const std::vector<float> expected = run(device.c_str(), 1, &apart, &link);
    EXPECT_EQ(apart.n_kernels, n_steps);
    EXPECT_EQ(run(device.c_str(), 0, &in_slabs, &link), expected);
    EXPECT_GT(in_slabs.n_kernels, n_steps);
    EXPECT_EQ(in_slabs.n_launches, n_steps);
    EXPECT_EQ(in_slabs.h2d_bytes, apart.h2d_bytes);
    EXPECT_EQ(in_slabs.d2h_bytes, apart.d2h_bytes);
    EXPECT_EQ(in_slabs.peak_device_bytes, apart.peak_device_bytes);
}

TEST_F(QueueResidentChains, RunOneAfterTheOtherWhereLaunchingCostsMoreThanTheCacheSaves) {
    polytile_report told;
    link.launch_latency_s = 1;
    run(device.c_str(), 0, &told, &link);
    EXPECT_EQ(told.n_kernels, n_steps);
}

/** The second window finds everything on the device, and the plan of the first may be kept. */
TEST_F(QueueResidentChains, GoOnFromWhatIsOnTheDevice) {
    std::vector<float> fields[] = {initial, initial};
    polytile_queue *queue = open(device.c_str());
    const Arrays array = {wrap("A", fields[0], {height, width}),
                          wrap("B", fields[1], {height, width})};
    polytile_launch_options options = {};
    options.plan.link = &link;
    ASSERT_EQ(attach(queue, array), POLYTILE_OK) << error();
    for (int window = 0; window < 4; window++) {
        polytile_queue_pause(queue);
        for (size_t k = 0; k < static_cast<size_t>(n_steps); k++)
            ASSERT_EQ(launch(queue, step, box({1, 1}, {height - 2, width - 2}),
                             {array[k % 2], array[1 - k % 2]}, &options),
                      POLYTILE_OK)
                << error();
        ASSERT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        const polytile_report told = report(queue, true);
        EXPECT_GT(told.n_kernels, n_steps);
        EXPECT_EQ(told.h2d_bytes > 0, window == 0);
        EXPECT_EQ(told.d2h_bytes, 0);
    }
    ASSERT_EQ(detach(queue, array), POLYTILE_OK) << error();
    std::vector<float> expected[] = {initial, initial};
    for (size_t k = 0; k < 4 * static_cast<size_t>(n_steps); k++)
        for (int64_t i = 1; i < height - 1; i++)
            for (int64_t j = 1; j < width - 1; j++) {
                const float *at = &expected[k % 2][static_cast<size_t>(i * width + j)];
                expected[1 - k % 2][static_cast<size_t>(i * width + j)] =
                    0.25f * (at[-width] + at[width] + at[-1] + at[1]);
            }
    EXPECT_EQ(fields[0], expected[0]);
    EXPECT_EQ(fields[1], expected[1]);
}

} // namespace
