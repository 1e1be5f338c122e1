#ifndef POLYTILE_TESTS_LAUNCH_CUDA_FAILURES_H
#define POLYTILE_TESTS_LAUNCH_CUDA_FAILURES_H

#include "launch/cuda/session.h"
#include "support/failing_api.h"
#include "support/scale.h"

/* What must hold after a failure, on a GPU and on the runtime that needs none. */

/** A scene whose runs have several superblocks, for failures in their midst. */
struct SceneToFail {
    const char *declaration;
    int64_t n;
    int64_t memory_bytes;
    bool is_pinned;
};

inline const std::vector<SceneToFail> &scenes_to_fail() {
    static const std::vector<SceneToFail> scenes = {
        {"add[i]", 3000, 8192, true},
        {"add[i]", 3000, 8192, false},
        {"jacobi[i, j]", 50, 5000, true},
        {"jacobi[i, j]", 50, 5000, false},
        {"gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]", 16, 1400, true},
        {"dot[i]: in x[i], y[i]; sum s[0]", 2000, 8192, false},
        {"scale[i]", 3000, 2048, true},
    };
    return scenes;
}

/** After a failed run: inputs are as they were; what was written is whole, old or new, or marked
 * and named. */
inline void expect_whole_or_marked(const Scene &scene, const pti_instance *instance,
                                   const std::string &error) {
    for (size_t a = 0; a < scene.memory.size(); a++) {
        const bool is_old = scene.memory[a] == scene.before[a];
        const std::string name = scene.of_.arrays[a].name;
        if (!instance->operand[a].writes) {
            EXPECT_TRUE(is_old) << name << " was only read and changed: " << error;
        } else if (polytile_array_is_complete(scene.arrays[a])) {
            EXPECT_TRUE(is_old || scene.memory[a] == scene.expected[a])
                << name << " is not marked: " << error;
        } else {
            const size_t at = error.find("left incomplete: ");
            EXPECT_TRUE(at != std::string::npos && error.find(name, at) != std::string::npos)
                << name << " is not named: " << error;
        }
    }
}

/** Failures that a run may get over: memory that is short, memory that cannot be pinned, and what
 * CUDA has to say of an error that is already known. */
inline bool may_be_survived(const std::string &call) {
    return call == "cudaMalloc" || call == "cudaHostRegister" || call == "cudaGetLastError";
}

/** Calls that enqueue an operation of a superblock. */
inline bool belongs_to_superblock(const std::string &call) {
    return call.compare(0, 10, "cudaMemcpy") == 0 || call == "cudaMemset2DAsync" ||
           call == "cudaLaunchKernel";
}

inline void expect_failure_named(polytile_status status, const std::string &call,
                                 const std::string &error) {
    EXPECT_TRUE(status == POLYTILE_DEVICE || (call == "cudaMalloc" && status == POLYTILE_NO_FIT))
        << call << " gave " << polytile_status_text(status) << ": " << error;
    if (status == POLYTILE_DEVICE) {
        EXPECT_NE(error.find(call), std::string::npos) << error;
        EXPECT_NE(error.find("cuda:0"), std::string::npos) << error;
    }
    if (belongs_to_superblock(call)) {
        EXPECT_NE(error.find("superblock"), std::string::npos) << error;
    }
}

/** A scene that was planned for a device, its memory pinned or not. */
template <class World> struct PlannedScene {
    explicit PlannedScene(const SceneToFail &of)
        : scene(session.ctx, World::cases().of(of.declaration), of.n, &random),
          options(scene.options) {
        device = session.open("cuda:0(memory=" + std::to_string(of.memory_bytes) + "B,threads=2)");
        for (size_t a = 0; a < scene.memory.size() && of.is_pinned; a++)
            pins.add(scene.memory[a]);
        options.plan.limit_bytes = polytile_device_get_limit(device);
        EXPECT_EQ(polytile_plan_create(scene.kernel, &scene.domain,
                                       static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                       &options, &plan),
                  POLYTILE_OK)
            << session.error();
        if (plan != nullptr)
            scene.compute_expected(plan->instance);
    }
    ~PlannedScene() { polytile_plan_destroy(plan); }

    polytile_status run() { return session.run(device, scene, options); }

    Random random{1};
    Session session;
    Scene scene;
    polytile_launch_options options;
    Pins pins;
    polytile_device *device = nullptr;
    polytile_plan *plan = nullptr;
};

/** A run whose n-th call fails; whether it has as many. */
template <class World>
bool run_with_failure(PlannedScene<World> &of, FailingApi &failing, int64_t n) {
    failing.let_fail(n);
    const polytile_status status = of.run();
    const std::string error = of.session.error();
    failing.stop();
    const bool has_failed = !failing.failed().empty();
    if (status == POLYTILE_OK) {
        EXPECT_TRUE(!has_failed || may_be_survived(failing.failed())) << failing.failed();
        expect_right(of.scene);
    } else {
        EXPECT_TRUE(has_failed) << error;
        expect_failure_named(status, failing.failed(), error);
        expect_whole_or_marked(of.scene, of.plan->instance, error);
    }
    return has_failed;
}

/** Run a scene while its n-th call fails, and once more; false when it has fewer calls. */
template <class World> bool survives_failure(const SceneToFail &of, int64_t n) {
    World world(static_cast<uint64_t>(n));
    FailingApi failing;
    bool has_failed = false;
    {
        PlannedScene<World> planned(of);
        if (planned.plan == nullptr)
            return false;
        EXPECT_GT(planned.plan->schedule->n_superblocks, 3) << of.declaration;
        has_failed = run_with_failure(planned, failing, n);
        world.expect_idle();
        restore(planned.scene);
        EXPECT_EQ(planned.run(), POLYTILE_OK) << planned.session.error();
        EXPECT_TRUE(planned.scene.memory == planned.scene.expected);
        world.expect_idle();
    }
    world.expect_nothing_taken();
    return has_failed;
}

/** Every call, or every seventh in shortened runs. */
template <class World> void expect_every_failing_call_is_survived() {
    const int64_t apart = scaled(7) == 7 ? 1 : 7;
    for (const SceneToFail &of : scenes_to_fail()) {
        int64_t n = 1;
        while (survives_failure<World>(of, n) && !testing::Test::HasFailure())
            n += apart;
        EXPECT_GT(n, 20) << of.declaration;
        if (testing::Test::HasFailure())
            ADD_FAILURE() << of.declaration << " in " << (of.is_pinned ? "pinned" : "pageable")
                          << " memory, call " << n;
    }
}

/** Opening a device while its n-th call fails; false when that has fewer calls. */
template <class World> bool opening_survives_failure(int64_t n) {
    World world(static_cast<uint64_t>(n));
    FailingApi failing;
    failing.let_fail(n);
    {
        Session session;
        const polytile_device *device = session.try_to_open("cuda:0(memory=64KiB)");
        failing.stop();
        if (session.status != POLYTILE_OK) {
            EXPECT_TRUE(session.status == POLYTILE_DEVICE || session.status == POLYTILE_UNSUPPORTED)
                << session.error();
            EXPECT_TRUE(session.says("cuda:0")) << session.error();
            EXPECT_EQ(device, nullptr);
        }
    }
    world.expect_nothing_taken();
    return !failing.failed().empty();
}

template <class World> void expect_opening_survives_every_failing_call() {
    int64_t n = 1;
    while (opening_survives_failure<World>(n))
        n++;
    EXPECT_GT(n, 5);
}

#endif
