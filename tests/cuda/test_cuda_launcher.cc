#include "cuda/launcher.h"
#include "cuda/session.h"

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

int launch_gemm(const polytile_launch *launch) {
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
        device = session.open("cuda:0(memory=600)");
        scene = std::make_unique<Scene>(session.ctx, of, 24, &random);
        scene->options.strategy = "min-traffic";
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

} // namespace
