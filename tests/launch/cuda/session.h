#ifndef POLYTILE_TESTS_LAUNCH_CUDA_SESSION_H
#define POLYTILE_TESTS_LAUNCH_CUDA_SESSION_H

#include "launch/cuda/worlds.h"
#include "launch/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

extern "C" {
#include "partition/window/plan.h"
}

/* Runs of scenes on devices of the runtime in use, compared with a plain loop. */

/** A context of its own, and devices in it. */
class Session {
  public:
    Session() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~Session() { polytile_context_destroy(ctx); }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;

    /** NULL when that is refused. */
    polytile_device *try_to_open(const std::string &text) {
        polytile_device *opened = nullptr;
        status = polytile_device_open(ctx, text.c_str(), &opened);
        return opened;
    }

    polytile_device *open(const std::string &text) {
        polytile_device *opened = try_to_open(text);
        EXPECT_EQ(status, POLYTILE_OK) << error();
        return opened;
    }

    polytile_status run(polytile_device *device, const Scene &scene,
                        const polytile_launch_options &options) {
        status = polytile_run(device, scene.kernel, &scene.domain,
                              static_cast<int>(scene.arrays.size()), scene.arrays.data(), &options);
        return status;
    }

    std::string error() const { return polytile_last_error(ctx); }
    bool says(const std::string &part) const { return error().find(part) != std::string::npos; }

    polytile_context *ctx = nullptr;
    polytile_status status = POLYTILE_OK;
};

/** Memory pinned by its user while this lives. */
class Pins {
  public:
    Pins() = default;
    ~Pins() {
        for (void *memory : pinned_)
            EXPECT_EQ(pti_cuda_current_api->cudaHostUnregister(memory), cudaSuccess);
    }
    Pins(const Pins &) = delete;
    Pins &operator=(const Pins &) = delete;

    /** Memory that shares a page with some that is pinned stays pageable. */
    void add(std::vector<unsigned char> &bytes) {
        if (pti_cuda_current_api->cudaHostRegister(bytes.data(), bytes.size(), 0) == cudaSuccess)
            pinned_.push_back(bytes.data());
        else
            pti_cuda_current_api->cudaGetLastError();
    }

  private:
    std::vector<void *> pinned_;
};

inline void restore(Scene &scene) {
    for (size_t a = 0; a < scene.memory.size(); a++)
        std::copy(scene.before[a].begin(), scene.before[a].end(), scene.memory[a].begin());
}

inline void expect_right(const Scene &scene) {
    for (size_t a = 0; a < scene.memory.size(); a++) {
        EXPECT_TRUE(scene.memory[a] == scene.expected[a])
            << scene.of_.declaration << ": " << scene.of_.arrays[a].name << " is wrong";
        EXPECT_TRUE(polytile_array_is_complete(scene.arrays[a]));
    }
}

inline void expect_report_of_plan(polytile_device *device, const polytile_plan *plan) {
    polytile_plan_summary summary;
    polytile_report report;
    polytile_plan_get_summary(plan, &summary);
    polytile_device_get_report(device, &report);
    EXPECT_EQ(report.n_kernels, summary.n_kernels);
    EXPECT_EQ(report.h2d_bytes, summary.h2d_bytes);
    EXPECT_EQ(report.d2h_bytes, summary.d2h_bytes);
    EXPECT_EQ(report.peak_device_bytes, summary.peak_device_bytes);
    EXPECT_GT(report.compute_s, 0);
    EXPECT_GT(report.transfer_s, 0);
    EXPECT_GT(report.run_s, 0);
}

/** Plan a scene and run it n_runs times; false when nothing fits the limit. */
inline bool runs_right(Session &session, polytile_device *device, Scene &scene,
                       const polytile_launch_options &options, int n_runs) {
    polytile_plan *plan = nullptr;
    const polytile_status status =
        polytile_plan_create(scene.kernel, &scene.domain, static_cast<int>(scene.arrays.size()),
                             scene.arrays.data(), &options, &plan);
    if (status == POLYTILE_NO_FIT)
        return false;
    EXPECT_EQ(status, POLYTILE_OK) << session.error();
    if (plan == nullptr)
        return false;
    scene.compute_expected(plan->instance);
    for (int run = 0; run < n_runs && !testing::Test::HasFailure(); run++) {
        restore(scene);
        EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel,
                                    static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                    NULL),
                  POLYTILE_OK)
            << session.error();
        expect_right(scene);
        expect_report_of_plan(device, plan);
        EXPECT_EQ(pti_cuda_current_api->cudaGetLastError(), cudaSuccess);
    }
    polytile_plan_destroy(plan);
    return true;
}

#endif
