#include "launch/cuda/sequences.h"

#include <filesystem>
#include <unistd.h>

extern "C" {
#include "launch/device/lanes.h"
#include "partition/prove/check.h"
}

/* Lanes of kernels whose threads have a whole thread block each. */

namespace {

using namespace sequences;

/** A case whose threads are said to be much work. */
Case in_lanes(const Case &of, polytile_implementation *implementation) {
    Case made = of;
    *implementation = *of.implementation;
    implementation->cuda_lanes = 256;
    made.implementation = implementation;
    return made;
}

TEST(CudaLanes, ComputeTheSameAsOneStream) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaLanes.ComputeTheSameAsOneStream"));
    int n_run = 0, n_in_lanes = 0;
    for (int64_t round = scaled(4); round > 0; round--)
        for (const Case &of : FakeWorld::cases().all()) {
            FakeWorld world(random.number(1, 1000000));
            Session session;
            polytile_implementation implementation;
            const Case made = in_lanes(of, &implementation);
            Scene scene(session.ctx, made, random.number(8, 40), &random);
            const std::string memory = std::to_string(random.number(600, 20000));
            const std::string streams = std::to_string(random.number(2, 8));
            polytile_device *device =
                session.open("cuda:0(streams=" + streams + ",memory=" + memory + "B)");
            polytile_launch_options options = scene.options;
            options.plan.limit_bytes = polytile_device_get_limit(device);
            options.plan.n_streams = std::stol(streams);
            polytile_plan *plan = nullptr;
            if (polytile_plan_create(scene.kernel, &scene.domain,
                                     static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                     &options, &plan) != POLYTILE_OK)
                continue;
            n_in_lanes += plan->schedule->n_lanes > 1;
            scene.compute_expected(plan->instance);
            polytile_plan_destroy(plan);
            ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK)
                << of.declaration << ": " << session.error();
            expect_right(scene);
            world.expect_idle();
            n_run++;
            ASSERT_FALSE(HasFailure()) << of.declaration << ", " << streams << ", " << memory;
        }
    EXPECT_GT(n_run, 10);
    EXPECT_GT(n_in_lanes, 5);
}

TEST(CudaLanes, AutoRunsLaunchesInEachNumberAndKeepsToOne) {
    FakeWorld world(3);
    Session session;
    Random random(3);
    polytile_implementation implementation;
    const Case made = in_lanes(FakeWorld::cases().of("add[i]"), &implementation);
    Scene scene(session.ctx, made, 300, &random);
    polytile_device *device = session.open("cuda:0(streams=auto,memory=64KiB)");
    for (int k = 0; k < 30; k++)
        ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain, 3, scene.arrays.data(),
                                   &scene.options, &plan),
              POLYTILE_OK);
    scene.compute_expected(plan->instance);
    polytile_plan_destroy(plan);
    expect_right(scene);
    world.expect_idle();
}

/** How many launches in a number of lanes a device has learnt from. */
int count_learnt(const polytile_device *device, int trial) {
    int n = 0;
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        n += device->lane_times[k].n_runs[trial];
    return n;
}

/** Whether a device still learns of any launches, so that windows are cut for it. */
bool is_learning(const polytile_device *device) {
    for (int k = 0; k < PTI_N_LANE_TIMES; k++)
        if (device->lane_times[k].key != 0 &&
            pti_lanes_are_learnt(device, device->lane_times[k].key))
            return true;
    return false;
}

/** Run a launch so often on a device with streams=auto, and tell how many runs in a lane it then
 * knows of. */
int run_and_count(polytile_context *ctx, FakeWorld &world, int n_runs) {
    const int64_t n = 300;
    std::vector<float> memory[3];
    polytile_implementation implementation;
    const Case made = in_lanes(world.cases().of("add[i]"), &implementation);
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[3] = {};
    EXPECT_EQ(polytile_device_open(ctx, "cuda:0(streams=auto,memory=64KiB)", &device), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_kernel_create(ctx, made.declaration, &implementation, &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    for (int a = 0; a < 3; a++) {
        memory[a].assign(static_cast<size_t>(n), 1);
        EXPECT_EQ(polytile_array_wrap(ctx, made.arrays[static_cast<size_t>(a)].name, POLYTILE_F32,
                                      1, &n, memory[a].data(), &arrays[a]),
                  POLYTILE_OK);
    }
    const polytile_domain threads = polytile_domain_from_extents(1, &n);
    for (int k = 0; k < n_runs; k++)
        EXPECT_EQ(polytile_run(device, kernel, &threads, 3, arrays, nullptr), POLYTILE_OK)
            << polytile_last_error(ctx);
    const int n_learnt = count_learnt(device, 0);
    polytile_device_close(device);
    for (polytile_array *array : arrays)
        polytile_array_destroy(array);
    return n_learnt;
}

TEST(CudaLanes, AutoKnowsWhatEarlierDevicesOfTheContextMeasured) {
    FakeWorld world(6);
    polytile_context *ctx = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(run_and_count(ctx, world, 1), 1);
    EXPECT_EQ(run_and_count(ctx, world, 1), 1);
    EXPECT_GE(run_and_count(ctx, world, 30), 2);
    EXPECT_EQ(run_and_count(ctx, world, 1), 4);
    polytile_context_destroy(ctx);
    world.expect_nothing_taken();
}

TEST(CudaLanes, AutoKnowsWhatEarlierProcessesMeasuredWhereThatIsAsked) {
    const std::string folder = testing::TempDir() + "lanes-" + std::to_string(getpid());
    for (const char *keeps : {"0", "1"}) {
        Environment environment;
        environment.set("POLYTILE_CACHE", folder.c_str());
        environment.set("POLYTILE_SPEEDS", keeps);
        FakeWorld world(7);
        for (const bool is_first : {true, false}) {
            polytile_context *ctx = nullptr;
            ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
            const int n_learnt = run_and_count(ctx, world, is_first ? 30 : 1);
            EXPECT_EQ(n_learnt == 4, is_first ? n_learnt == 4 : keeps[0] == '1') << n_learnt;
            polytile_context_destroy(ctx);
        }
    }
    std::filesystem::remove_all(folder);
}

/** One thread is in one lane, whatever is chosen. */
TEST(CudaLanes, AutoLearnsNothingOfTwoLanesFromLaunchesInOne) {
    FakeWorld world(4);
    Session session;
    Random random(4);
    polytile_implementation implementation;
    const Case made = in_lanes(FakeWorld::cases().of("add[i]"), &implementation);
    Scene scene(session.ctx, made, 1, &random);
    polytile_device *device = session.open("cuda:0(streams=auto,memory=64KiB)");
    for (int k = 0; k < 6; k++)
        ASSERT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
    EXPECT_EQ(count_learnt(device, 0), 2);
    EXPECT_EQ(count_learnt(device, 1), 0);
    EXPECT_FALSE(is_learning(device));
}

TEST(CudaLanes, AutoOfAQueueLearnsNothingOfTwoLanesFromLaunchesInOne) {
    FakeWorld world(5);
    Sequences of(&world.cuda, "cuda:0(streams=auto)", 1);
    for (int k = 0; k < 6; k++)
        ASSERT_EQ(of.run(), POLYTILE_OK) << of.error();
    EXPECT_EQ(count_learnt(of.queue->device, 0), 2);
    EXPECT_EQ(count_learnt(of.queue->device, 1), 0);
    EXPECT_FALSE(is_learning(of.queue->device));
}

/** Launches over few and over all sequences are queued together: what both take tells nothing. */
TEST(CudaLanes, AutoOfAQueueLearnsFromLaunchesThatAreQueuedWithOthers) {
    FakeWorld world(8);
    Sequences of(&world.cuda, "cuda:0(streams=auto)", 23);
    ASSERT_EQ(polytile_queue_attach(of.queue, 2, of.array), POLYTILE_OK) << of.error();
    for (int k = 0; k < 30; k++) {
        polytile_queue_pause(of.queue);
        for (const int64_t n : {11, 23, 11}) {
            const polytile_domain threads = polytile_domain_from_extents(1, &n);
            ASSERT_EQ(polytile_queue_launch(of.queue, of.kernel, &threads, 2, of.array, nullptr),
                      POLYTILE_OK)
                << of.error();
        }
        polytile_queue_resume(of.queue);
        ASSERT_EQ(polytile_queue_wait(of.queue), POLYTILE_OK) << of.error();
    }
    for (int trial = 0; trial < 2; trial++)
        EXPECT_GE(count_learnt(of.queue->device, trial), 4) << trial;
    ASSERT_EQ(polytile_queue_detach(of.queue, 2, of.array), POLYTILE_OK) << of.error();
    of.expect_right();
    world.expect_idle();
}

} // namespace
