#include "support/list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <polytile/polytile.h>

/* Sections that are empty: nothing is brought, nothing is written, and a body that looks all the
 * same at an element that it does not declare ends no process. */

namespace {

float &at(const polytile_view &view, int64_t i) {
    return *reinterpret_cast<float *>(static_cast<char *>(view.origin) + i * view.stride_bytes[0]);
}

/** The number of the thread, and nothing of what the body finds in A. */
void copy(const polytile_domain *threads, const polytile_view *views, void *) {
    for (int64_t i = threads->range[0].lo; i <= threads->range[0].hi; i++) {
        const volatile float found = at(views[0], i);
        static_cast<void>(found);
        at(views[1], i) = static_cast<float>(i);
    }
}

const struct {
    const char *declaration;
    int64_t n_touched; /* of A, by 100 threads */
} rows[] = {
    {"cp[i]: in A[i+1:i-1]; out B[i]", 0},
    {"cp[i]: in A[5:4]; out B[i]", 0},
    {"cp[i]: in A[3*i+9:3*i:2]; out B[i]", 0},
    {"cp[i]: in {[i] -> A[a] : a > i and a < i}; out B[i]", 0},
};

class RunEmpty : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx_), POLYTILE_OK);
        const int64_t extent = 100;
        for (int a = 0; a < 2; a++)
            ASSERT_EQ(polytile_array_wrap(ctx_, a == 0 ? "A" : "B", POLYTILE_F32, 1, &extent,
                                          memory_[a].data(), &arrays_[a]),
                      POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx_); }

    polytile_kernel *kernel_of(const char *declaration) {
        polytile_implementation implementation = {};
        implementation.host = copy;
        polytile_kernel *kernel = nullptr;
        EXPECT_EQ(polytile_kernel_create(ctx_, declaration, &implementation, &kernel), POLYTILE_OK)
            << polytile_last_error(ctx_);
        return kernel;
    }

    void expect_numbers() {
        for (size_t i = 0; i < 100; i++)
            ASSERT_EQ(memory_[1][i], static_cast<float>(i));
        memory_[1].assign(100, -1.0f);
    }

    const polytile_domain threads_ = {1, {{0, 99, 1}}};
    polytile_context *ctx_ = nullptr;
    std::vector<float> memory_[2] = {std::vector<float>(100), std::vector<float>(100, -1.0f)};
    polytile_array *arrays_[2] = {};
};

TEST_F(RunEmpty, NothingIsBroughtAndABodyThatLooksAllTheSameEndsNoProcess) {
    for (const char *text : {"host", "host(memory=64KiB)", "host(memory=768B,threads=2)"}) {
        polytile_device *device = nullptr;
        ASSERT_EQ(polytile_device_open(ctx_, text, &device), POLYTILE_OK);
        for (const auto &row : rows) {
            SCOPED_TRACE(std::string(row.declaration) + " on " + text);
            ASSERT_EQ(
                polytile_run(device, kernel_of(row.declaration), &threads_, LIST(arrays_), nullptr),
                POLYTILE_OK)
                << polytile_last_error(ctx_);
            expect_numbers();
            polytile_report report;
            polytile_device_get_report(device, &report);
            EXPECT_EQ(report.h2d_bytes, 4 * row.n_touched);
        }
        polytile_device_close(device);
    }
}

TEST_F(RunEmpty, QueuesAndListsOfDevicesRunIt) {
    for (const char *text :
         {"host", "host(memory=64KiB)", "host,host", "host(memory=16KiB),host(memory=64KiB)"}) {
        polytile_queue *queue = nullptr;
        ASSERT_EQ(polytile_queue_create(ctx_, text, &queue), POLYTILE_OK)
            << polytile_last_error(ctx_);
        ASSERT_EQ(polytile_queue_attach(queue, 2, arrays_), POLYTILE_OK);
        for (const auto &row : rows) {
            SCOPED_TRACE(std::string(row.declaration) + " on " + text);
            polytile_kernel *kernel = kernel_of(row.declaration);
            for (int n = 0; n < 3; n++)
                ASSERT_EQ(polytile_queue_launch(queue, kernel, &threads_, 2, arrays_, nullptr),
                          POLYTILE_OK)
                    << polytile_last_error(ctx_);
        }
        ASSERT_EQ(polytile_queue_detach(queue, 2, arrays_), POLYTILE_OK)
            << polytile_last_error(ctx_);
        expect_numbers();
        polytile_queue_destroy(queue);
    }
}

} // namespace
