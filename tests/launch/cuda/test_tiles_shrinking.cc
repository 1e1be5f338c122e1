#include "launch/cuda/tile_programs.h"
#include "support/scale.h"

#include <string>
#include <vector>

/* Launches of fewer and fewer rows, in tiles. */

namespace {

using namespace tile_programs;

/** Launches between two arrays of the queue's own, each with fewer rows than the one before; others
 * fill both arrays before them, and may read all of both behind them. */
struct ShrinkingRow {
    const TileKernel *kernel; /* whose threads may read beyond the ends */
    int64_t extents[2];
    std::vector<int64_t> n_fewer; /* rows at each end, than all; of each launch */
    bool is_read;
};

/** Run it on a device; memory: what fills both arrays, and what is read of each. */
void run_shrinking(const ShrinkingRow &of, const char *device,
                   const polytile_implementation &implementation, Bytes memory[3]) {
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *own[2] = {}, *attached[3] = {};
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const auto require = [ctx](polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    };
    const auto launch = [&](polytile_array *from, polytile_array *to, int64_t n_fewer) {
        polytile_array *given[] = {from, to};
        const polytile_domain threads = {
            2, {{n_fewer, of.extents[0] - 1 - n_fewer, 1}, {0, of.extents[1] - 1, 1}}};
        require(polytile_queue_launch(queue, kernel, &threads, 2, given, nullptr));
    };
    require(polytile_queue_create(ctx, device, &queue));
    require(polytile_kernel_create(ctx, of.kernel->declaration, &implementation, &kernel));
    for (int a = 0; a < 3; a++)
        require(polytile_array_wrap(ctx, std::string(1, static_cast<char>('X' + a)).c_str(),
                                    type_of(*of.kernel), 2, of.extents, memory[a].data(),
                                    &attached[a]));
    require(polytile_queue_attach(queue, 3, attached));
    for (polytile_array *&array : own)
        require(polytile_queue_create_array(queue, &array == own ? "A" : "B", type_of(*of.kernel),
                                            2, of.extents, &array));
    polytile_queue_pause(queue);
    for (polytile_array *array : own)
        launch(attached[0], array, 0);
    for (size_t k = 0; k < of.n_fewer.size(); k++)
        launch(own[k % 2], own[1 - k % 2], of.n_fewer[k]);
    for (int a = 0; a < 2 && of.is_read; a++)
        launch(own[a], attached[1 + a], 0);
    for (polytile_array *array : own)
        polytile_array_destroy(array);
    require(polytile_queue_detach(queue, 3, attached));
    polytile_queue_destroy(queue);
    polytile_context_destroy(ctx);
}

/** What tiles lose beside the last launch's rows is needed by whoever reads it later. */
TEST_F(CudaTiles, ShrinkingLaunchesKeepWhatIsReadBehindThem) {
    Random random(test_seed("CudaTiles.ShrinkingLaunchesKeepWhatIsReadBehindThem"));
    const int64_t n_rounds = scaled(16);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        ShrinkingRow of = {&tile_kernels[round % 2 == 0 ? 3 : n_kernels - 1],
                           {random.number(120, 250), random.number(100, 400)},
                           {},
                           true};
        of.is_read = round < 2 || random.chance(70);
        const bool is_even = round < 2 || random.chance(60);
        const int64_t n_launches = random.number(8, 30);
        for (int64_t k = 0; k < n_launches; k++)
            of.n_fewer.push_back(k + 1);
        for (size_t k = 1; k < of.n_fewer.size() && !is_even; k++)
            of.n_fewer[k] = of.n_fewer[k - 1] + random.number(0, 2);
        FakeCuda cuda(static_cast<uint64_t>(random.number(0, int64_t{1} << 62)));
        const polytile_implementation implementation = fake_of(*of.kernel->host);
        cuda.add_kernel(implementation.cuda, implementation);
        Bytes got[3], wanted[3];
        for (int a = 0; a < 3; a++) {
            got[a].resize(static_cast<size_t>(of.extents[0] * of.extents[1] *
                                              implementation.views[0].element_bytes));
            for (unsigned char &byte : got[a])
                byte = static_cast<unsigned char>(random.number(0, 255));
            wanted[a] = got[a];
        }
        run_shrinking(of, "cuda:0", implementation, got);
        run_shrinking(of, "host", *of.kernel->host, wanted);
        for (int a = 0; a < 3; a++)
            EXPECT_TRUE(got[a] == wanted[a]) << "array " << a << " differs in round " << round;
        EXPECT_EQ(cuda.violations(), "");
    }
}

} // namespace
