#include "launch/cuda/tile_programs.h"
#include "support/scale.h"

#include <string>

/* Launches in tiles, on a GPU. */

namespace {

using namespace tile_programs;

bool gpu_is_there() {
    int n_devices = 0;
    const bool found = pti_cuda_runtime.cudaGetDeviceCount(&n_devices) == cudaSuccess;
    pti_cuda_runtime.cudaGetLastError();
    return found && n_devices > 0;
}

/** The body as nvcc compiles it. */
const polytile_implementation *compiled_of(const TileKernel &kernel) {
    const std::string declaration = kernel.declaration;
    const std::string name = declaration.substr(0, declaration.find('['));
    const polytile_implementation *found = cuda_tile_kernel_of(name.c_str());
    return found != nullptr ? found : cuda_periodic_tile_kernel_of(name.c_str());
}

TEST(CudaGpu, TilesGiveTheResultsOfLaunchAfterLaunch) {
    if (!gpu_is_there() || compiled_of(tile_kernels[0]) == nullptr)
        GTEST_SKIP() << "no GPU, or no kernels for it";
    Environment environment;
    environment.set("POLYTILE_CHECK", "plan");
    Random random(test_seed("CudaGpu.TilesGiveTheResultsOfLaunchAfterLaunch"));
    for (int64_t round = 0; round < scaled(40) && !testing::Test::HasFailure(); round++) {
        Turns of = draw(&random);
        for (int d = 0; d < 2; d++) {
            const int64_t more = random.number(1600, 2400);
            of.extents[d] += more;
            of.threads.range[d].hi += more;
        }
        of.is_dropped = random.chance(30);
        const std::string device =
            random.chance(50) ? "cuda:0" : small_device(of, random.number(20, 90));
        Fields tiled = fill(of, &random), wanted = tiled;
        const polytile_implementation &compiled = *compiled_of(*of.kernel);
        ASSERT_NE(compiled.cuda_tiles, nullptr);
        run(of, device.c_str(), compiled, 0, tiled);
        run(of, "host", compiled, 0, wanted);
        expect_equal(tiled, wanted);
        if (testing::Test::HasFailure())
            ADD_FAILURE() << describe(of) << ", " << device;
    }
}

} // namespace
