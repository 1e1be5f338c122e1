#ifndef POLYTILE_TESTS_CUDA_ON_DEVICE_H
#define POLYTILE_TESTS_CUDA_ON_DEVICE_H

#include "cuda/worlds.h"
#include "launch/scene.h"
#include "support/failing_api.h"
#include "support/scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

extern "C" {
#include "partition/plan.h"
}

/* What must hold on a GPU and on the runtime that needs none. */

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
                        const polytile_plan_options &options) {
        status = polytile_run(device, scene.kernel, &scene.domain, scene.arrays.data(), &options);
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
    EXPECT_GT(report.total_s, 0);
}

/** Plan a scene and run it n_runs times; false when nothing fits the limit. */
inline bool runs_right(Session &session, polytile_device *device, Scene &scene,
                       const polytile_plan_options &options, int n_runs) {
    polytile_plan *plan = nullptr;
    const polytile_status status =
        polytile_plan_create(scene.kernel, &scene.domain, scene.arrays.data(), &options, &plan);
    if (status == POLYTILE_NO_FIT)
        return false;
    EXPECT_EQ(status, POLYTILE_OK) << session.error();
    if (plan == nullptr)
        return false;
    scene.compute_expected(plan->instance);
    for (int run = 0; run < n_runs && !testing::Test::HasFailure(); run++) {
        restore(scene);
        EXPECT_EQ(polytile_plan_run(plan, device, scene.kernel, scene.arrays.data()), POLYTILE_OK)
            << session.error();
        expect_right(scene);
        expect_report_of_plan(device, plan);
        EXPECT_EQ(pti_cuda_current_api->cudaGetLastError(), cudaSuccess);
    }
    polytile_plan_destroy(plan);
    return true;
}

/** The options and the device of one round, all drawn. */
struct Draw {
    Draw(const Scene &scene, Random *random) : options(scene.options) {
        const char *strategies[] = {nullptr, "min-time", "min-traffic", "min-kernels"};
        int64_t n_bytes = 0;
        for (const auto &bytes : scene.memory)
            n_bytes += static_cast<int64_t>(bytes.size());
        memory_bytes = 64 + random->number(0, 2 * n_bytes >> random->number(0, 6));
        options.strategy = strategies[random->number(0, 3)];
        options.n_buffers = static_cast<int>(random->number(0, 3));
        for (int64_t &threads : block)
            threads = random->number(1, 9);
        options.block = random->chance(70) ? block : nullptr;
        n_threads = random->one_of({1, 1, 2, 3});
        pinned_percent = static_cast<int>(random->one_of({0, 50, 100}));
        n_runs = static_cast<int>(random->one_of({1, 1, 2}));
    }

    std::string device_text() const {
        return "cuda:0(memory=" + std::to_string(memory_bytes) +
               ",threads=" + std::to_string(n_threads) + ")";
    }
    std::string describe() const {
        return device_text() + " strategy " + (options.strategy ? options.strategy : "default") +
               " buffers " + std::to_string(options.n_buffers) + " pinned " +
               std::to_string(pinned_percent) + "%";
    }

    polytile_plan_options options;
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t memory_bytes, n_threads;
    int pinned_percent, n_runs;
};

/** A case of a random size on a random device, in memory that is pinned, pageable, or both; false
 * when nothing fits. */
template <class World> bool round_runs_right(const Case &of, uint64_t seed) {
    World world(seed);
    bool has_run = false;
    {
        Random random(seed);
        Session session;
        Scene scene(session.ctx, of, random.number(3, of.largest_n), &random);
        Draw draw(scene, &random);
        polytile_device *device = session.open(draw.device_text());
        draw.options.limit_bytes = polytile_device_get_limit(device);
        Pins pins;
        for (auto &bytes : scene.memory) {
            if (random.chance(draw.pinned_percent))
                pins.add(bytes);
        }
        has_run = runs_right(session, device, scene, draw.options, draw.n_runs);
        world.expect_idle();
        if (testing::Test::HasFailure())
            ADD_FAILURE() << of.declaration << " on " << draw.describe() << " seed " << seed;
    }
    world.expect_nothing_taken();
    return has_run;
}

template <class World> void expect_cases_run_under_any_limit(uint64_t seed, int64_t n_rounds) {
    Random random(seed);
    const std::vector<Case> &cases = World::cases().all();
    int64_t n_run = 0;
    for (int64_t round = 0; round < n_rounds && !testing::Test::HasFailure(); round++) {
        const Case &of = cases[static_cast<size_t>(round) % cases.size()];
        n_run +=
            round_runs_right<World>(of, static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
    }
    EXPECT_GT(n_run, n_rounds / 3);
}

/** Arrays of several MiB, so that one transfer fills several buffers, from pageable memory. */
template <class World> void expect_large_arrays_run(uint64_t seed) {
    const struct {
        const char *declaration;
        int64_t n;
    } rows[] = {{"add[i]", 2000000},     {"jacobi[i, j]", 1500}, {"heat[i, j, k]", 120},
                {"least[i, j]", 1500},   {"hankel[i, j]", 2000}, {"coarsen[i]", 1000000},
                {"scatter[i]", 3000000}, {"scale[i]", 3000000}};
    for (const auto &row : rows) {
        World world(seed);
        Random random(seed);
        Session session;
        polytile_device *device = session.open("cuda:0(memory=4MiB,threads=3)");
        Scene scene(session.ctx, World::cases().of(row.declaration), row.n, &random);
        for (const char *strategy : {"min-time", "min-kernels"}) {
            polytile_plan_options options = scene.options;
            options.limit_bytes = polytile_device_get_limit(device);
            options.strategy = strategy;
            EXPECT_TRUE(runs_right(session, device, scene, options, 1)) << row.declaration;
        }
        world.expect_idle();
    }
}

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
        {"scale[i]", 3000, 4096, true},
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
        device = session.open("cuda:0(memory=" + std::to_string(of.memory_bytes) + ",threads=2)");
        for (size_t a = 0; a < scene.memory.size() && of.is_pinned; a++)
            pins.add(scene.memory[a]);
        options.limit_bytes = polytile_device_get_limit(device);
        EXPECT_EQ(
            polytile_plan_create(scene.kernel, &scene.domain, scene.arrays.data(), &options, &plan),
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
    polytile_plan_options options;
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

template <class World> void expect_every_failing_call_is_survived() {
    for (const SceneToFail &of : scenes_to_fail()) {
        int64_t n = 1;
        while (survives_failure<World>(of, n) && !testing::Test::HasFailure())
            n++;
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

/** What a launcher of add was told, and the least device memory that it found free. */
struct AddLauncher {
    const void *symbol;
    size_t least_free_bytes;
    int64_t n_calls;
};

/** Enqueue a CUDA kernel over a box of up to three indices. */
inline cudaError_t launch_over(const void *symbol, const polytile_launch &launch) {
    const polytile_domain &threads = *launch.threads;
    unsigned extents[3] = {1, 1, 1};
    for (int d = 0; d < threads.n_dims; d++)
        extents[threads.n_dims - 1 - d] =
            static_cast<unsigned>(threads.range[d].hi - threads.range[d].lo + 1);
    const dim3 block(32, threads.n_dims > 1 ? 4 : 1, 1);
    const dim3 grid((extents[0] + block.x - 1) / block.x, (extents[1] + block.y - 1) / block.y,
                    extents[2]);
    std::vector<void *> arguments = {const_cast<polytile_domain *>(&threads)};
    for (int k = 0; k < launch.n_views; k++)
        arguments.push_back(const_cast<polytile_view *>(&launch.views[k]));
    return pti_cuda_current_api->cudaLaunchKernel(symbol, grid, block, arguments.data(), 0,
                                                  static_cast<cudaStream_t>(launch.stream));
}

inline int launch_and_look_at_memory(const polytile_launch *launch) {
    auto *of = static_cast<AddLauncher *>(launch->user);
    size_t free_bytes = 0, total_bytes = 0;
    of->n_calls++;
    if (pti_cuda_current_api->cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess)
        return 1;
    of->least_free_bytes = std::min(of->least_free_bytes, free_bytes);
    return launch_over(of->symbol, *launch) == cudaSuccess ? 0 : 2;
}

/** Free device memory falls by no more than memory= from before a device is opened to its runs. What
 * CUDA takes for its context and a kernel's code is taken before. */
template <class World> void expect_memory_within_limit(uint64_t seed, int64_t memory_bytes) {
    World world(seed);
    Random random(seed);
    const Case &of = World::cases().of("add[i]");
    AddLauncher add = {of.implementation->cuda, SIZE_MAX, 0};
    polytile_implementation implementation = *of.implementation;
    implementation.cuda_launcher = launch_and_look_at_memory;
    implementation.user = &add;
    Case with_launcher = of;
    with_launcher.implementation = &implementation;
    {
        Session warm;
        Scene scene(warm.ctx, of, 1000, &random);
        EXPECT_EQ(warm.run(warm.open("cuda:0(memory=1MiB)"), scene, scene.options), POLYTILE_OK)
            << warm.error();
    }
    size_t before_bytes = 0, total_bytes = 0;
    EXPECT_EQ(pti_cuda_current_api->cudaMemGetInfo(&before_bytes, &total_bytes), cudaSuccess);
    {
        Session session;
        Scene scene(session.ctx, with_launcher, memory_bytes / 8, &random);
        polytile_device *device =
            session.open("cuda:0(memory=" + std::to_string(memory_bytes) + ",threads=1)");
        EXPECT_LE(polytile_device_get_limit(device), memory_bytes);
        EXPECT_GE(polytile_device_get_limit(device), memory_bytes / 4 * 3);
        EXPECT_EQ(session.run(device, scene, scene.options), POLYTILE_OK) << session.error();
        EXPECT_GT(add.n_calls, 1);
    }
    EXPECT_LE(before_bytes - add.least_free_bytes, static_cast<size_t>(memory_bytes));
    world.expect_nothing_taken();
}

#endif
