#include "launch/cuda/launcher.h"
#include "launch/cuda/session.h"

#include <set>

/* Launcher callbacks of the CUDA device, on a runtime that needs no GPU. */

namespace {

/** What a launcher of gemm saw: the boxes of C, and whether each was said to be fresh. */
struct GemmLauncher {
    const void *symbol;
    int fails_at;
    int n_calls;
    int n_first;
    cudaStream_t stream;
    std::set<std::pair<int64_t, int64_t>> begun; /* first i and j of boxes of C */
    bool says_first_rightly;
};

int launch_gemm(const polytile_sub_kernel *launch) {
    auto *of = static_cast<GemmLauncher *>(launch->user);
    const polytile_domain &threads = *launch->threads;
    EXPECT_EQ(threads.n_dims, 3);
    EXPECT_EQ(launch->n_views, 3);
    EXPECT_TRUE(of->stream == nullptr || of->stream == launch->stream);
    of->stream = static_cast<cudaStream_t>(launch->stream);
    const bool is_new = of->begun.insert({threads.range[0].lo, threads.range[1].lo}).second;
    of->says_first_rightly = of->says_first_rightly && launch->is_first == is_new;
    of->n_first += launch->is_first;
    if (++of->n_calls == of->fails_at)
        return 42;
    return launch_over(of->symbol, *launch) == cudaSuccess ? 0 : 1;
}

/** A gemm whose accumulators are fresh, with a launcher that looks. */
struct GemmScene {
    explicit GemmScene(int fails_at) {
        const Case &gemm =
            FakeWorld::cases().of("gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]");
        launcher = {gemm.implementation->cuda, fails_at, 0, 0, nullptr, {}, true};
        implementation = *gemm.implementation;
        implementation.cuda = nullptr;
        implementation.cuda_launcher = launch_gemm;
        implementation.user = &launcher;
        of = gemm;
        of.implementation = &implementation;
        device = session.open("cuda:0(memory=600B)");
        scene = std::make_unique<Scene>(session.ctx, of, 24, &random);
        scene->options.plan.strategy = "min-traffic";
    }

    FakeWorld world{1};
    Random random{1};
    GemmLauncher launcher;
    polytile_implementation implementation;
    Case of;
    Session session;
    polytile_device *device;
    std::unique_ptr<Scene> scene;
};

TEST(CudaLauncher, GetsItsBoxViewsAndStreamAndKnowsWhatIsFresh) {
    GemmScene gemm(0);
    ASSERT_EQ(gemm.session.run(gemm.device, *gemm.scene, gemm.scene->options), POLYTILE_OK)
        << gemm.session.error();
    EXPECT_NE(gemm.launcher.stream, nullptr);
    EXPECT_TRUE(gemm.launcher.says_first_rightly);
    EXPECT_GT(gemm.launcher.n_first, 1);
    EXPECT_GT(gemm.launcher.n_calls, gemm.launcher.n_first);
    const auto *A = reinterpret_cast<const float *>(gemm.scene->memory[0].data());
    const auto *B = reinterpret_cast<const float *>(gemm.scene->memory[1].data());
    const auto *C = reinterpret_cast<const float *>(gemm.scene->memory[2].data());
    for (int i = 0; i < 24; i++) {
        for (int j = 0; j < 24; j++) {
            float sum = 0;
            for (int k = 0; k < 24; k++)
                sum += A[24 * i + k] * B[24 * k + j];
            ASSERT_EQ(C[24 * i + j], sum) << i << ", " << j;
        }
    }
}

TEST(CudaLauncher, ReturnsAFailureThatIsNamed) {
    GemmScene gemm(3);
    EXPECT_EQ(gemm.session.run(gemm.device, *gemm.scene, gemm.scene->options), POLYTILE_DEVICE);
    EXPECT_TRUE(gemm.session.says("42")) << gemm.session.error();
    EXPECT_EQ(gemm.launcher.n_calls, 3);
    gemm.world.expect_idle();
}

/** A launcher that runs its own run once more on some device. */
struct Nested {
    const Session *session;
    const Scene *scene;
    polytile_device *device;
    polytile_status status;
    std::string error;
};

int run_again(const polytile_sub_kernel *launch) {
    auto *of = static_cast<Nested *>(launch->user);
    of->status = polytile_run(of->device, of->scene->kernel, &of->scene->domain,
                              static_cast<int>(of->scene->arrays.size()), of->scene->arrays.data(),
                              &of->scene->options);
    of->error = of->session->error();
    return of->status == POLYTILE_OK ? 0 : 9;
}

TEST(CudaLauncher, CannotRunOnTheDeviceThatCallsIt) {
    for (const char *text : {"cuda:0(memory=64KiB)", "host", "host(memory=64KiB)"}) {
        FakeWorld world(1);
        Random random(1);
        Session session;
        Nested nested = {&session, nullptr, session.open(text), POLYTILE_OK, ""};
        polytile_implementation implementation = {};
        implementation.user = &nested;
        implementation.cuda_launcher = implementation.host_launcher = run_again;
        Case of = FakeWorld::cases().of("add[i]");
        of.implementation = &implementation;
        const Scene scene(session.ctx, of, 100, &random);
        nested.scene = &scene;
        EXPECT_EQ(session.run(nested.device, scene, scene.options), POLYTILE_DEVICE);
        EXPECT_TRUE(session.says("returned 9")) << session.error();
        EXPECT_EQ(nested.status, POLYTILE_INVALID);
        EXPECT_NE(nested.error.find("a run on this device is in progress"), std::string::npos)
            << text << ": " << nested.error;
        world.expect_idle();
    }
}

} // namespace
