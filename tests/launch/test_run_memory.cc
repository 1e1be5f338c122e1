#include "launch/scene.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include "launch/device/device.h"
}

/* Runs on a device whose memory is partly taken by others. */

namespace {

/** Memory of which others hold a part that changes: what is said to be usable, and what a reserve
 * then gets, in this order; the last of each stays. */
struct Taken {
    std::vector<int64_t> usable_bytes, gets_bytes;
    std::vector<int64_t> reserved_bytes; /* what was asked of reserve */
    size_t n_usable = 0;
    polytile_status usable_status = POLYTILE_OK;
};

const pti_device_functions *real;
Taken *taken;

int64_t at(const std::vector<int64_t> &values, size_t k) {
    return values[std::min(k, values.size() - 1)];
}

polytile_status usable(polytile_device *device, int64_t *usable_bytes) {
    *usable_bytes = at(taken->usable_bytes, taken->n_usable++);
    return taken->usable_status == POLYTILE_OK
               ? POLYTILE_OK
               : pti_fail(device->object.context, taken->usable_status, "the device is lost");
}

polytile_status reserve(polytile_device *device, int64_t arena_bytes, void **arena) {
    taken->reserved_bytes.push_back(arena_bytes);
    if (arena_bytes > at(taken->gets_bytes, taken->reserved_bytes.size() - 1))
        return pti_fail(device->object.context, POLYTILE_NO_FIT, "others were faster");
    return real->reserve(device, arena_bytes, arena);
}

class RunMemory : public testing::Test {
  protected:
    void SetUp() override {
        setenv("POLYTILE_LOG", "info", 1);
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        unsetenv("POLYTILE_LOG");
        ASSERT_EQ(polytile_device_open(ctx, "host(memory=4KiB)", &device), POLYTILE_OK);
        real = device->functions;
        functions = *real;
        functions.usable = usable;
        functions.reserve = reserve;
        device->functions = &functions;
    }
    void TearDown() override {
        device->functions = real;
        polytile_context_destroy(ctx);
    }

    /** x + y of 3000 floats; what was logged is in log. */
    polytile_status run(Taken with, int64_t limit_bytes = 0) {
        Scene scene(ctx, all_cases()[0], 3000, &random);
        scene.options.plan.limit_bytes = limit_bytes;
        state = with;
        taken = &state;
        testing::internal::CaptureStderr();
        polytile_status status =
            polytile_run(device, scene.kernel, &scene.domain, static_cast<int>(scene.arrays.size()),
                         scene.arrays.data(), &scene.options);
        log = testing::internal::GetCapturedStderr();
        if (status == POLYTILE_OK) {
            EXPECT_NE(scene.memory[2], scene.before[2]);
        } else {
            EXPECT_EQ(scene.memory, scene.before);
            EXPECT_TRUE(polytile_array_is_complete(scene.arrays[2]));
        }
        return status;
    }

    int64_t peak_bytes() const {
        polytile_report report;
        polytile_device_get_report(device, &report);
        return report.peak_device_bytes;
    }

    static bool says(const std::string &text, const std::string &part) {
        return text.find(part) != std::string::npos;
    }

    Random random{1};
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    pti_device_functions functions;
    Taken state;
    std::string log;
};

TEST_F(RunMemory, AllOfItIsPlannedForWhereItIsFree) {
    EXPECT_EQ(run({{4096}, {4096}, {}}), POLYTILE_OK);
    EXPECT_EQ(state.reserved_bytes.size(), 1u);
    EXPECT_GT(peak_bytes(), 3000);
    EXPECT_EQ(log, "");
}

TEST_F(RunMemory, OnlyWhatIsFreeIsPlannedFor) {
    EXPECT_EQ(run({{1024}, {1024}, {}}), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_LE(peak_bytes(), 1024);
    EXPECT_TRUE(
        says(log, "add: host(memory=4KiB) has only 1 KiB free of 4 KiB; planned for that\n"))
        << log;
}

TEST_F(RunMemory, WhatTheUserAskedForIsNoShortage) {
    EXPECT_EQ(run({{2048}, {2048}, {}}, 1024), POLYTILE_OK);
    EXPECT_LE(peak_bytes(), 1024);
    EXPECT_EQ(log, "");
    EXPECT_EQ(run({{512}, {512}, {}}, 1024), POLYTILE_OK);
    EXPECT_LE(peak_bytes(), 512);
    EXPECT_TRUE(says(log, "has only 512 B free of 1 KiB")) << log;
}

TEST_F(RunMemory, TakenSincePlanningItIsPlannedForAgain) {
    EXPECT_EQ(run({{4096, 2560}, {100, 2560}, {}}), POLYTILE_OK) << polytile_last_error(ctx);
    EXPECT_EQ(state.reserved_bytes.size(), 2u);
    EXPECT_LE(peak_bytes(), 2304);
    EXPECT_GT(peak_bytes(), 1024);
    EXPECT_STREQ(polytile_last_error(ctx), "");
    EXPECT_TRUE(says(log, "has only 2.25 KiB free of 4 KiB; planned for that")) << log;
}

TEST_F(RunMemory, InPiecesItIsPlannedForATenthLessEachTime) {
    EXPECT_EQ(run({{4096}, {0, 0, 0, 4096}, {}}), POLYTILE_OK) << polytile_last_error(ctx);
    ASSERT_EQ(state.reserved_bytes.size(), 4u);
    for (size_t k = 1; k < 4; k++)
        EXPECT_LE(10 * state.reserved_bytes[k], 9 * state.reserved_bytes[k - 1]);
}

TEST_F(RunMemory, ThreeNewPlansAreEnough) {
    EXPECT_EQ(run({{4096}, {0}, {}}), POLYTILE_NO_FIT);
    EXPECT_EQ(state.reserved_bytes.size(), 4u);
    const std::string text = polytile_last_error(ctx);
    EXPECT_TRUE(says(text, "others were faster; this was the last of 4 plans")) << text;
    EXPECT_EQ(run({{4096}, {4096}, {}}), POLYTILE_OK) << "and the device can be used on";
}

TEST_F(RunMemory, ACertificateSaysHowMuchIsFree) {
    EXPECT_EQ(run({{8}, {4096}, {}}), POLYTILE_NO_FIT);
    EXPECT_TRUE(state.reserved_bytes.empty());
    const std::string text = polytile_last_error(ctx);
    EXPECT_TRUE(says(text, "the limit is 8 B")) << text;
    EXPECT_TRUE(says(text, "; only 8 B of 4 KiB on host(memory=4KiB) are free at present")) << text;
    EXPECT_EQ(run({{4096}, {4096}, {}}, 8), POLYTILE_NO_FIT);
    EXPECT_FALSE(says(polytile_last_error(ctx), "at present")) << "the user asked for as little";
}

TEST_F(RunMemory, ADeviceThatCannotSayIsNotRunOn) {
    EXPECT_EQ(run({{4096}, {4096}, {}, 0, POLYTILE_DEVICE}), POLYTILE_DEVICE);
    EXPECT_STREQ(polytile_last_error(ctx), "the device is lost");
    EXPECT_TRUE(state.reserved_bytes.empty());
}

/** Where it is the bytes that take the time, more and smaller superblocks overlap better. */
TEST_F(RunMemory, PlansAssumeTheDevicesLink) {
    polytile_device *roomy = nullptr;
    ASSERT_EQ(polytile_device_open(ctx, "host(memory=512KiB)", &roomy), POLYTILE_OK);
    const auto n_kernels = [this, roomy](const polytile_link *link) {
        Scene scene(ctx, all_cases()[0], 30000, &random);
        scene.options.plan.link = link;
        EXPECT_EQ(polytile_run(roomy, scene.kernel, &scene.domain,
                               static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                               &scene.options),
                  POLYTILE_OK);
        polytile_report report;
        polytile_device_get_report(roomy, &report);
        return report.n_kernels;
    };
    polytile_link slow = polytile_link_default;
    slow.upload_bytes_per_s = slow.download_bytes_per_s = slow.duplex_bytes_per_s = 1e6;
    const int64_t n_given = n_kernels(&slow), n_default = n_kernels(nullptr);
    roomy->link = slow;
    EXPECT_GT(n_given, n_default);
    EXPECT_EQ(n_kernels(nullptr), n_given);
    EXPECT_EQ(n_kernels(&polytile_link_default), n_default);
}

} // namespace
