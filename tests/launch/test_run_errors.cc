#include "launch/scene.h"

#include <cstdio>
#include <string>
#include <unistd.h>

extern "C" {
#include "access/array/array.h"
#include "launch/execute/execute.h"
#include "partition/window/plan.h"
}

namespace {

class RunErrors : public testing::Test {
  protected:
    void SetUp() override {
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host", &host), POLYTILE_OK);
        ASSERT_EQ(polytile_device_open(ctx, "host(memory=4KiB)", &small), POLYTILE_OK);
    }
    void TearDown() override { polytile_context_destroy(ctx); }

    polytile_status run(const Scene &scene, polytile_device *device) {
        return polytile_run(device, scene.kernel, &scene.domain,
                            static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                            &scene.options);
    }

    void expect_says(const char *part) {
        EXPECT_NE(std::string(polytile_last_error(ctx)).find(part), std::string::npos)
            << polytile_last_error(ctx);
    }

    /** A scene's memory as it was, its arrays complete, and a good run still possible. */
    void expect_untouched(const Scene &scene) {
        EXPECT_EQ(scene.memory, scene.before);
        for (const polytile_array *array : scene.arrays)
            EXPECT_TRUE(array == nullptr || polytile_array_is_complete(array));
        Scene good(ctx, add(), 3000, &random);
        EXPECT_EQ(run(good, small), POLYTILE_OK) << polytile_last_error(ctx);
    }

    static const Case &add() { return all_cases()[0]; }

    Random random{1};
    const polytile_domain hundred = bounds({0}, {99});
    polytile_context *ctx = nullptr;
    polytile_device *host = nullptr, *small = nullptr;
};

TEST_F(RunErrors, NullsAreRefused) {
    Scene scene(ctx, add(), 100, &random);
    const polytile_kernel *kernel = scene.kernel;
    polytile_array *const *arrays = scene.arrays.data();
    EXPECT_EQ(polytile_run(nullptr, kernel, &scene.domain, polytile_kernel_get_n_arrays(kernel),
                           arrays, nullptr),
              POLYTILE_INVALID);
    EXPECT_EQ(polytile_run(host, nullptr, &scene.domain, polytile_kernel_get_n_arrays(nullptr),
                           arrays, nullptr),
              POLYTILE_INVALID);
    expect_says("host: the kernel is NULL; give one that polytile_kernel_create() made");
    EXPECT_EQ(
        polytile_run(host, kernel, nullptr, polytile_kernel_get_n_arrays(kernel), arrays, nullptr),
        POLYTILE_INVALID);
    expect_says("add: the launch domain is NULL; give the threads' indices");
    EXPECT_EQ(polytile_run(host, kernel, &scene.domain, 0, nullptr, nullptr), POLYTILE_INVALID);
    expect_says("add: the list of arrays is NULL; give the kernel's 3, from x to z");
    EXPECT_EQ(polytile_plan_run(nullptr, host, kernel, polytile_kernel_get_n_arrays(kernel), arrays,
                                NULL),
              POLYTILE_INVALID);
    expect_says("host: the plan is NULL; give one that polytile_plan_create() made");
    polytile_plan *plan = nullptr;
    EXPECT_EQ(polytile_plan_create(kernel, nullptr, polytile_kernel_get_n_arrays(kernel), arrays,
                                   nullptr, &plan),
              POLYTILE_INVALID);
    expect_says("add: the launch domain is NULL");
    EXPECT_EQ(polytile_plan_create(kernel, &scene.domain, 0, nullptr, nullptr, &plan),
              POLYTILE_INVALID);
    expect_says("add: the list of arrays is NULL");
    ASSERT_EQ(polytile_plan_create(kernel, &scene.domain, polytile_kernel_get_n_arrays(kernel),
                                   arrays, nullptr, &plan),
              POLYTILE_OK);
    EXPECT_EQ(
        polytile_plan_run(plan, host, nullptr, polytile_kernel_get_n_arrays(nullptr), arrays, NULL),
        POLYTILE_INVALID);
    expect_says("host: the kernel is NULL");
    EXPECT_EQ(polytile_plan_run(plan, host, kernel, 0, nullptr, NULL), POLYTILE_INVALID);
    expect_says("add: the list of arrays is NULL");
    scene.arrays[1] = nullptr;
    EXPECT_EQ(run(scene, host), POLYTILE_INVALID);
    expect_untouched(scene);
}

TEST_F(RunErrors, OptionsAreThoseOfPlans) {
    Scene scene(ctx, add(), 100, &random);
    scene.options.plan.launches_per_pass = -1;
    EXPECT_EQ(run(scene, host), POLYTILE_INVALID);
    expect_says("add: -1 launches a pass; there must be at least 1, or 0");
    expect_untouched(scene);
}

TEST_F(RunErrors, AKernelWithoutAHostFunctionIsUnsupported) {
    Scene scene(ctx, add(), 100, &random);
    ASSERT_EQ(polytile_kernel_create(ctx, add().declaration, nullptr, &scene.kernel), POLYTILE_OK);
    EXPECT_EQ(run(scene, host), POLYTILE_UNSUPPORTED);
    expect_says("add: host runs a host function or launcher and the kernel has none");
    expect_untouched(scene);
}

/** Planned with an unsuitable array, the run is refused before anything is touched. */
TEST_F(RunErrors, ArraysThatTheBodyWasNotWrittenForAreRefused) {
    const struct {
        const char *declaration;
        polytile_type type;
        int n_dims; /* of y */
        const char *error;
    } cases[] = {
        {"add[i]: in x[i], y[i]; out z[i]", POLYTILE_F64, 1,
         "add: array y has elements of f64, and the kernel body's view 1 (y) elements of f32; give "
         "an array of f32, or a body for f64"},
        {"add[i]: in x[i], y[i]; out z[i]", POLYTILE_I32, 1,
         "add: array y has elements of i32, and the kernel body's view 1 (y) elements of f32; give "
         "an array of f32, or a body for i32"},
        {"add[i]: in x[i], y[i]; out z[i]", POLYTILE_U32, 1, "elements of u32, and the "},
        {"add[i]: in x[i], y[i]; out z[i]", POLYTILE_BYTES(12), 1,
         "add: array y has elements of 12 B, and the kernel body's view 1 (y) elements of f32; "
         "give "},
        {"add[i]: in x[i], y[i, 0]; out z[i]", POLYTILE_F32, 2,
         "add: array y has 2 dimensions, and the kernel body's view 1 (y) has 1; write "},
    };
    const int64_t extents[] = {100, 3};
    for (const auto &wrong : cases) {
        Scene scene(ctx, add(), 100, &random);
        std::vector<double> memory(300);
        ASSERT_EQ(polytile_kernel_create(ctx, wrong.declaration, &add_kernel, &scene.kernel),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        ASSERT_EQ(polytile_array_wrap(ctx, "y", wrong.type, wrong.n_dims, extents, memory.data(),
                                      &scene.arrays[1]),
                  POLYTILE_OK)
            << polytile_last_error(ctx);
        for (polytile_device *device : {host, small}) {
            EXPECT_EQ(run(scene, device), POLYTILE_INVALID);
            expect_says(wrong.error);
        }
        expect_untouched(scene);
    }
}

TEST_F(RunErrors, ADescribedArrayHasNothingToRunOn) {
    Scene scene(ctx, add(), 100, &random);
    ASSERT_EQ(polytile_array_describe(ctx, "y", POLYTILE_F32, &hundred, &scene.arrays[1]),
              POLYTILE_OK);
    EXPECT_EQ(run(scene, host), POLYTILE_INVALID);
    expect_says("array y is only described");
    expect_untouched(scene);
}

TEST_F(RunErrors, OverlappingMemoryIsRefusedWhereItIsWritten) {
    Scene scene(ctx, add(), 100, &random);
    int64_t extent = 100;
    ASSERT_EQ(polytile_array_wrap(ctx, "z", POLYTILE_F32, 1, &extent, scene.memory[0].data(),
                                  &scene.arrays[2]),
              POLYTILE_OK);
    for (polytile_device *device : {host, small}) {
        EXPECT_EQ(run(scene, device), POLYTILE_INVALID);
        expect_says("arrays x and z overlap in memory (400 bytes, from byte 0 of x) and z is "
                    "written");
    }
    expect_untouched(scene);
}

/** A kernel without a body is planned as if it might run beside itself. */
TEST_F(RunErrors, PlansInLanesAreForKernelsThatMayRunSo) {
    Scene scene(ctx, add(), 100, &random);
    const int n_arrays = static_cast<int>(scene.arrays.size());
    polytile_launch_options options = {};
    polytile_implementation launchers = {};
    polytile_kernel *bodiless = nullptr, *alone = nullptr, *beside = nullptr;
    polytile_plan *plan = nullptr;
    launchers.host_launcher =
        launchers.cuda_launcher = [](const polytile_sub_kernel *) { return 0; };
    ASSERT_EQ(polytile_kernel_create(ctx, add().declaration, nullptr, &bodiless), POLYTILE_OK);
    ASSERT_EQ(polytile_kernel_create(ctx, add().declaration, &launchers, &alone), POLYTILE_OK);
    launchers.cuda_launcher_overlaps = true;
    ASSERT_EQ(polytile_kernel_create(ctx, add().declaration, &launchers, &beside), POLYTILE_OK);
    options.plan.n_streams = 4;
    options.plan.limit_bytes = 4000;
    ASSERT_EQ(polytile_plan_create(bodiless, &scene.domain, n_arrays, scene.arrays.data(), &options,
                                   &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_plan_run(plan, small, alone, n_arrays, scene.arrays.data(), nullptr),
              POLYTILE_INVALID);
    expect_says("lanes, and the kernel's launcher does not say that it may be called so "
                "(cuda_launcher_overlaps); plan with this kernel");
    expect_untouched(scene);
    EXPECT_EQ(polytile_plan_run(plan, small, beside, n_arrays, scene.arrays.data(), nullptr),
              POLYTILE_OK)
        << polytile_last_error(ctx);
}

TEST_F(RunErrors, ElementsThatOneNameWritesAreNoOtherNames) {
    Scene scene(ctx, add(), 100, &random);
    const char *const error =
        "add: threads [0] and [0] conflict on x[0], whose array is given for z, too: the first "
        "reads it (in x[i]), the second writes it (out z[i]); give two arrays";
    polytile_plan *plan = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   nullptr, &plan),
              POLYTILE_OK);
    scene.arrays[2] = scene.arrays[0];
    for (polytile_device *device : {host, small}) {
        EXPECT_EQ(run(scene, device), POLYTILE_CONFLICT);
        expect_says(error);
    }
    EXPECT_EQ(polytile_plan_run(plan, host, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_INVALID);
    expect_says("add: array x is given for both x and z, of which one is written, and the plan was "
                "made for two arrays; plan with this one");
    EXPECT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   nullptr, &plan),
              POLYTILE_CONFLICT);
    expect_says(error);
    EXPECT_EQ(polytile_check(scene.kernel, &scene.domain, static_cast<int>(scene.arrays.size()),
                             scene.arrays.data(), nullptr),
              POLYTILE_CONFLICT);
    expect_says(error);
    EXPECT_EQ(polytile_check_run(host, scene.kernel, &scene.domain,
                                 static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                 nullptr, nullptr),
              POLYTILE_CONFLICT);
    expect_says(error);
    expect_untouched(scene);
}

TEST_F(RunErrors, OverlappingMemoryIsFineWhereItIsOnlyRead) {
    Scene scene(ctx, add(), 100, &random);
    scene.arrays[1] = scene.arrays[0];
    EXPECT_EQ(run(scene, host), POLYTILE_OK) << polytile_last_error(ctx);
}

TEST_F(RunErrors, AReadOnlyFileIsNotWritten) {
    const std::string path = testing::TempDir() + "read_only_" + std::to_string(getpid()) + ".npy";
    Scene scene(ctx, add(), 100, &random);
    polytile_array *made = nullptr;
    ASSERT_EQ(polytile_npy_create(ctx, "z", path.c_str(), POLYTILE_F32, &hundred, &made),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_array_destroy(made);
    ASSERT_EQ(polytile_npy_open(ctx, "z", path.c_str(), false, &scene.arrays[2]), POLYTILE_OK);
    EXPECT_EQ(run(scene, host), POLYTILE_INVALID);
    expect_says("array z is written, but its file was opened for reading");
    expect_untouched(scene);
    std::remove(path.c_str());
}

TEST_F(RunErrors, NothingFitsIsSaidBeforeAnythingIsTouched) {
    Scene scene(ctx, all_cases()[4], 40, &random);
    scene.options.plan.limit_bytes = 64;
    EXPECT_EQ(run(scene, host), POLYTILE_NO_FIT);
    expect_says("64 B");
    expect_untouched(scene);
}

TEST_F(RunErrors, APlanIsForItsKernelArraysAndDevice) {
    Scene scene(ctx, add(), 3000, &random), shorter(ctx, add(), 2999, &random);
    Scene other(ctx, all_cases()[1], 3000, &random);
    polytile_plan *in_place = nullptr, *large = nullptr;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   nullptr, &in_place),
              POLYTILE_OK);
    scene.options.plan.limit_bytes = 16384;
    ASSERT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                   static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                   &scene.options, &large),
              POLYTILE_OK);
    EXPECT_EQ(polytile_plan_run(in_place, small, scene.kernel,
                                static_cast<int>(scene.arrays.size()), scene.arrays.data(), NULL),
              POLYTILE_INVALID);
    expect_says("has a memory of its own");
    EXPECT_EQ(polytile_plan_run(large, small, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_NO_FIT);
    expect_says("the device has 4 KiB");
    EXPECT_EQ(polytile_plan_run(large, host, scene.kernel, static_cast<int>(shorter.arrays.size()),
                                shorter.arrays.data(), NULL),
              POLYTILE_INVALID);
    expect_says("another type or domain");
    EXPECT_EQ(polytile_plan_run(large, host, other.kernel, static_cast<int>(other.arrays.size()),
                                other.arrays.data(), NULL),
              POLYTILE_INVALID);
    expect_says("the plan was made for add");
    polytile_implementation body = *add().implementation;
    body.n_indices = body.n_views = 0;
    for (const char *declaration :
         {"add[i]: in x[i+1]; in y[i]; out z[i]", "add[i]: in x[i]; in y[i]; inout z[i]",
          "add[i]: in x[i]; in y[i]; out z[99-i]", "add[i, j]: in x[i]; in y[i]; out z[j]",
          "add[i]: in {[i] -> x[a] : i <= a <= i and 2*a <= i + 7}; in y[i]; out z[i]"}) {
        polytile_kernel *namesake = nullptr;
        ASSERT_EQ(polytile_kernel_create(ctx, declaration, &body, &namesake), POLYTILE_OK);
        EXPECT_EQ(polytile_plan_run(large, host, namesake, static_cast<int>(scene.arrays.size()),
                                    scene.arrays.data(), NULL),
                  POLYTILE_INVALID);
        expect_says("the plan was made for another declaration of that name");
    }
    expect_untouched(scene);
    EXPECT_EQ(polytile_plan_run(large, host, scene.kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_OK);
}

TEST_F(RunErrors, ObjectsOfOtherContextsAreRefused) {
    Scene scene(ctx, add(), 100, &random);
    polytile_context *foreign = nullptr;
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_context_create(&foreign), POLYTILE_OK);
    ASSERT_EQ(polytile_device_open(foreign, "host", &device), POLYTILE_OK);
    EXPECT_EQ(run(scene, device), POLYTILE_INVALID);
    EXPECT_NE(std::string(polytile_last_error(foreign)).find("different contexts"),
              std::string::npos);
    polytile_context_destroy(foreign);
}

/* A device that does what the host does, but fails at a command when its turn comes. */

const pti_device_functions *real;
int n_commands_left;

polytile_status failing_submit(polytile_device *device, const pti_command *command) {
    if (n_commands_left-- > 0)
        return real->submit(device, command);
    return pti_fail(device->object.context, POLYTILE_DEVICE, "the link is down");
}

TEST_F(RunErrors, AFailingDeviceLeavesArraysCompleteOrNamed) {
    Scene scene(ctx, add(), 3000, &random);
    real = small->functions;
    pti_device_functions broken = *real;
    broken.submit = failing_submit;
    polytile_status status = POLYTILE_DEVICE;
    bool was_incomplete = false;
    int n_commands = 0;
    for (; status != POLYTILE_OK; n_commands++) {
        scene.memory[2] = scene.before[2];
        n_commands_left = n_commands;
        small->functions = &broken;
        status = run(scene, small);
        small->functions = real;
        EXPECT_EQ(scene.memory[0], scene.before[0]);
        EXPECT_EQ(scene.memory[1], scene.before[1]);
        EXPECT_TRUE(polytile_array_is_complete(scene.arrays[0]));
        if (status == POLYTILE_OK)
            break;
        ASSERT_EQ(status, POLYTILE_DEVICE);
        expect_says("the link is down");
        if (polytile_array_is_complete(scene.arrays[2])) {
            EXPECT_EQ(scene.memory[2], scene.before[2]);
        } else {
            expect_says("; left incomplete: z");
            was_incomplete = true;
            EXPECT_EQ(run(scene, small), POLYTILE_OK);
            EXPECT_TRUE(polytile_array_is_complete(scene.arrays[2]));
        }
    }
    EXPECT_TRUE(was_incomplete);
    EXPECT_TRUE(polytile_array_is_complete(scene.arrays[2]));
    EXPECT_GT(n_commands, 10);
}

TEST_F(RunErrors, AFailedLaunchInPlaceLeavesItsArrayIncomplete) {
    Scene scene(ctx, all_cases()[1], 100, &random);
    real = host->functions;
    pti_device_functions broken = *real;
    broken.submit = failing_submit;
    n_commands_left = 0;
    host->functions = &broken;
    EXPECT_EQ(run(scene, host), POLYTILE_DEVICE);
    host->functions = real;
    expect_says("; left incomplete: B");
    EXPECT_FALSE(polytile_array_is_complete(scene.arrays[1]));
    EXPECT_EQ(run(scene, host), POLYTILE_OK);
    EXPECT_FALSE(polytile_array_is_complete(scene.arrays[1])) << "its border is not written";
}

} // namespace
