#include "queue/queue_test.h"
#include "support/environment.h"

#include <list>

extern "C" {
#include "distribute/group/run.h"
}

namespace {

class ShareOptions : public QueueTest {
  protected:
    polytile_status open(const std::string &devices, const char *layout, const char *grid = nullptr,
                         int64_t launches_per_exchange = 0, const char *policy = nullptr) {
        const polytile_share_options options = {grid, layout, policy, launches_per_exchange, {}};
        return polytile_queue_create_shared(ctx, devices.c_str(), &options, &queue);
    }

    void expect_refused(const std::string &devices, const char *layout, const char *grid,
                        std::initializer_list<const char *> parts) {
        EXPECT_EQ(open(devices, layout, grid), POLYTILE_INVALID);
        EXPECT_EQ(queue, nullptr);
        expect_says(parts);
    }

    /** Add to z once, and how many of its elements each device owns. */
    std::vector<int64_t> run(int64_t n) {
        memory.assign(static_cast<size_t>(3 * n), 1);
        std::vector<polytile_array *> arrays;
        for (int a = 0; a < 3; a++) {
            polytile_array *array = nullptr;
            EXPECT_EQ(polytile_array_wrap(ctx, "v", POLYTILE_F32, 1, &n,
                                          &memory[static_cast<size_t>(a * n)], &array),
                      POLYTILE_OK);
            arrays.push_back(array);
        }
        EXPECT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
        EXPECT_EQ(launch(queue, add(), line(n), arrays), POLYTILE_OK) << error();
        EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
        std::vector<int64_t> owned = owned_of(arrays[2]);
        EXPECT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
        for (int64_t k = 0; k < n; k++)
            EXPECT_EQ(memory[static_cast<size_t>(2 * n + k)], 2) << k;
        return owned;
    }

    polytile_queue *queue = nullptr;

  private:
    std::vector<int64_t> owned_of(const polytile_array *array) const {
        pti_group *group = pti_group_of(queue);
        std::vector<int64_t> owned;
        for (int m = 0; m < pti_group_transport(group)->n_members; m++) {
            const polytile_domain hull =
                pti_ownership_hull(&pti_group_find(group, array)->ownership, m);
            owned.push_back(pti_box_is_empty(&hull) ? 0 : pti_box_count(&hull));
        }
        return owned;
    }

    std::vector<float> memory;
};

using Owned = std::vector<int64_t>;

TEST_F(ShareOptions, OfALaterVersionAreRefused) {
    polytile_share_options options = {};
    options.reserved[2] = 7;
    EXPECT_EQ(polytile_queue_create_shared(ctx, "host,host", &options, &queue), POLYTILE_INVALID);
    EXPECT_EQ(queue, nullptr);
    expect_says({"reserved[2] of polytile_share_options is 7", "set what is not used to zero"});
}

TEST_F(ShareOptions, WeightsAreTheShares) {
    ASSERT_EQ(open("host,host(memory=1MiB)", "weighted(3,1)"), POLYTILE_OK) << error();
    EXPECT_EQ(run(400), (Owned{300, 100}));
}

TEST_F(ShareOptions, AShareMayBeNothing) {
    ASSERT_EQ(open("host(memory=1B),host,host", "weighted(0,1,0.001)"), POLYTILE_OK) << error();
    EXPECT_EQ(run(100), (Owned{0, 100, 0}));
}

TEST_F(ShareOptions, DevicesThatAreAlikeAreMeasuredAlike) {
    ASSERT_EQ(open("host(memory=64KiB),host(memory=64KiB)", "weighted"), POLYTILE_OK) << error();
    EXPECT_EQ(run(1000), (Owned{500, 500}));
}

/** A device that goes through its memory in tiny superblocks is the slower one. */
TEST_F(ShareOptions, TheFasterDeviceGetsMore) {
    ASSERT_EQ(open("host(memory=8KiB),host", "weighted"), POLYTILE_OK) << error();
    const Owned owned = run(100000);
    EXPECT_LT(owned[0], owned[1]);
    EXPECT_EQ(owned[0] + owned[1], 100000);
}

/** Nothing fits it, so that nothing can be measured. */
TEST_F(ShareOptions, ADeviceOfNoUseGetsNothing) {
    ASSERT_EQ(open("host(memory=1B),host", "weighted"), POLYTILE_OK) << error();
    EXPECT_STREQ(polytile_last_error(ctx), "");
    EXPECT_EQ(run(100), (Owned{0, 100}));
}

TEST_F(ShareOptions, TheWeightsAreTold) {
    Environment environment;
    environment.set("POLYTILE_LOG", "info");
    polytile_context_destroy(ctx);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(open("host,host", "weighted"), POLYTILE_OK) << error();
    testing::internal::CaptureStderr();
    run(10);
    EXPECT_NE(testing::internal::GetCapturedStderr().find("shared as weighted(1000,1000)"),
              std::string::npos);
}

TEST_F(ShareOptions, OptionsAreCheckedForAnyNumberOfDevices) {
    expect_refused("host,host", "hexagons", nullptr, {"hexagons", "weighted(3,1)"});
    expect_refused("host,host", "weighted(1,2,3)", nullptr, {"3 weights", "2 parts"});
    expect_refused("host", "weighted(1,2)", nullptr, {"2 weights", "1 parts"});
    expect_refused("host,host", nullptr, "2x2", {"\"2x2\" has 4 devices, host,host has 2"});
    expect_refused("host,host", nullptr, "2*1", {"write numbers of devices"});
    EXPECT_EQ(open("host,host", nullptr, nullptr, -1), POLYTILE_INVALID);
    expect_says({"launches_per_exchange is -1"});
    EXPECT_EQ(open("host,", "weighted"), POLYTILE_INVALID);
    EXPECT_EQ(open("host", "weighted", "1x1"), POLYTILE_OK) << error();
}

class ShareOptionsFit : public ShareOptions {
  protected:
    polytile_array *wrap_elements(const char *name, int64_t n) {
        polytile_array *array = nullptr;
        memory_.emplace_back(static_cast<size_t>(n));
        EXPECT_EQ(
            polytile_array_wrap(ctx, name, POLYTILE_F32, 1, &n, memory_.back().data(), &array),
            POLYTILE_OK);
        return array;
    }

  private:
    std::list<std::vector<float>> memory_;
};

POLYTILE_KERNEL(first_of, (i), (const float, x, 1), (float, y, 1)) {
    PT_AT(y, i) = PT_AT(x, 0) + PT_AT(x, i);
}

/** All boxes of a member have as many threads, and the last ones read most. */
TEST_F(ShareOptionsFit, AnyOfTheBoxesOfADeviceIsRefusedAtTheLaunch) {
    ASSERT_EQ(open("host,host(memory=4KiB)", "cyclic(2)"), POLYTILE_OK) << error();
    const Arrays arrays = {wrap_elements("x", 2000), wrap_elements("y", 2000)};
    polytile_kernel *lower = create("lower[i]: in x[0:i]; out y[i]", &first_of_kernel);
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, lower, line(2000), arrays), POLYTILE_NO_FIT);
    expect_says({"on host(memory=4KiB)", "the limit is 4 KiB"});
    EXPECT_EQ(launch(queue, lower, line(800), arrays), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
}

TEST_F(ShareOptionsFit, WhatADeviceHasNoRoomForIsRefusedAtTheLaunch) {
    ASSERT_EQ(open("host(memory=1MiB),host(memory=16B)", "block"), POLYTILE_OK) << error();
    const Arrays arrays = {wrap_elements("x", 100), wrap_elements("y", 100),
                           wrap_elements("z", 100)};
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    for (int k = 0; k < 2; k++) {
        EXPECT_EQ(launch(queue, add(), line(100), arrays), POLYTILE_NO_FIT);
        expect_says({"on host(memory=16B): ", "add"});
    }
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
    EXPECT_TRUE(polytile_array_is_complete(arrays[2]));
    EXPECT_EQ(launch(queue, add(), line(50), arrays), POLYTILE_OK) << error();
    EXPECT_EQ(polytile_queue_wait(queue), POLYTILE_OK) << error();
}

TEST_F(ShareOptionsFit, WhoHasNoShareNeedsNoRoom) {
    ASSERT_EQ(open("host(memory=1MiB),host(memory=16B)", "weighted(1,0)"), POLYTILE_OK) << error();
    const Arrays arrays = {wrap_elements("x", 100), wrap_elements("y", 100),
                           wrap_elements("z", 100)};
    ASSERT_EQ(attach(queue, arrays), POLYTILE_OK) << error();
    EXPECT_EQ(launch(queue, add(), line(100), arrays), POLYTILE_OK) << error();
    EXPECT_EQ(detach(queue, arrays), POLYTILE_OK) << error();
}

TEST_F(ShareOptionsFit, WhatAFailureLeavesIncompleteIsNamed) {
    Gate gate;
    gate.let_return(3);
    ASSERT_EQ(open("host,host(memory=1MiB)", nullptr), POLYTILE_OK) << error();
    const Arrays both = {wrap_elements("first", 100), wrap_elements("second", 100)};
    ASSERT_EQ(attach(queue, both), POLYTILE_OK) << error();
    polytile_kernel *failing = create("fail[i]: inout x[i]", &gate.implementation);
    ASSERT_EQ(launch(queue, failing, line(100), {both[0]}), POLYTILE_OK) << error();
    EXPECT_NE(polytile_queue_wait(queue), POLYTILE_OK);
    expect_says({"fail", "; left incomplete: first"});
    EXPECT_EQ(error().find("second"), std::string::npos);
    EXPECT_EQ(error().find("incomplete"), error().rfind("incomplete"));
    EXPECT_FALSE(polytile_array_is_complete(both[0]));
    EXPECT_TRUE(polytile_array_is_complete(both[1]));
}

TEST_F(ShareOptions, AGridIsOfParts) {
    ASSERT_EQ(open("host,host,host,host", "weighted(3,1)", "2x2"), POLYTILE_OK) << error();
    polytile_queue_destroy(queue);
    ASSERT_EQ(open("host,host(memory=1B),host,host", "weighted", "2x2"), POLYTILE_OK) << error();
}

} // namespace
