#include "launch/cuda/programs.h"
#include "launch/cuda/session.h"
#include "launch/cuda/worlds.h"
#include "support/environment.h"

#include <gtest/gtest.h>

/* Checks of kernels against their declarations on the CUDA device, without a GPU. */

namespace {

TEST(CudaAccessCheck, LetsRightDeclarationsPass) {
    const uint64_t seed = test_seed("CudaAccessCheck.LetsRightDeclarationsPass");
    int64_t number = 0;
    for (const Case &of : FakeWorld::cases().all()) {
        FakeWorld world(seed);
        Random random(seed);
        {
            Session session;
            Scene scene(session.ctx, of, 4, &random);
            polytile_device *device =
                session.open(number++ % 2 == 0 ? "cuda:0" : "cuda:0(memory=4MiB,threads=1)");
            EXPECT_EQ(polytile_check_run(device, scene.kernel, &scene.domain,
                                         static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                         &scene.options, nullptr),
                      POLYTILE_OK)
                << of.declaration << session.error();
            EXPECT_EQ(scene.memory, scene.before);
        }
        world.expect_idle();
        world.expect_nothing_taken();
    }
}

TEST(CudaAccessCheck, NamesWhatIsReadBesideADeclaration) {
    FakeWorld world(1);
    Random random(1);
    Session session;
    Case of = FakeWorld::cases().of("smooth[i]");
    of.declaration = "smooth[i]: in A[i-1:i]; out B[i]";
    Scene scene(session.ctx, of, 40, &random);
    polytile_check_report report;
    EXPECT_EQ(polytile_check_run(session.open("cuda:0(memory=4MiB)"), scene.kernel, &scene.domain,
                                 static_cast<int>(scene.arrays.size()), scene.arrays.data(),
                                 &scene.options, &report),
              POLYTILE_INVALID);
    EXPECT_EQ(report.violation, POLYTILE_READS_UNDECLARED);
    EXPECT_EQ(report.element[0], report.threads.range[0].lo + 1);
    EXPECT_TRUE(session.says("is not declared to be read there: in A[i-1:i]; declare what is read, "
                             "or read no more than that (found on cuda:0(memory=4MiB))"))
        << session.error();
}

TEST(CudaAccessCheck, RefusesWrongRunsWhenItIsAskedFor) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "access");
    FakeWorld world(1);
    Random random(1);
    Session session;
    Case of = FakeWorld::cases().of("scatter[i]");
    of.declaration = "scatter[i]: in x[i]; out y[3*i]";
    Scene scene(session.ctx, of, 40, &random);
    EXPECT_EQ(session.run(session.open("cuda:0(memory=4MiB)"), scene, scene.options),
              POLYTILE_INVALID);
    EXPECT_TRUE(session.says("thread [0] writes y[1], and it is not declared to be written there"))
        << session.error();
    EXPECT_EQ(scene.memory, scene.before);
}

/** The queue's results stay on the device while the check uses the same GPU. */
TEST(CudaAccessCheck, RightProgramsOnQueuesRunAsEver) {
    Environment environment;
    environment.set("POLYTILE_CHECK", "access");
    const uint64_t seed = test_seed("CudaAccessCheck.RightProgramsOnQueuesRunAsEver");
    FakeCuda cuda(seed);
    add_program_kernels(cuda);
    for (const char *device : {"cuda:0(memory=8KiB)", "cuda:0"}) {
        Random random(seed);
        Program::Options options;
        options.n = 5;
        options.n_steps = 8;
        options.implementations = &fake_program_kernels();
        Program program(device, options, &random);
        program.run();
    }
    EXPECT_EQ(cuda.n_pending(), 0);
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
}

} // namespace
