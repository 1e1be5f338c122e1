#include "launch/cuda/product.h"

/* Rows that are dealt out to several GPUs, on a runtime that needs none. */

namespace {

/** The least of what some products move up, all of which are right. They end with one that moves no
 * more than is enough: how rows are dealt out depends on measured times, which others disturb. */
int64_t least_upload(const std::string &devices, const ProductShape &shape, const char *policy,
                     bool are_linked, int most_products, int64_t enough) {
    const int n_devices = 4;
    FakeCuda cuda(1, gpus(n_devices, are_linked));
    polytile_link slow = polytile_link_default;
    slow.upload_bytes_per_s = 1e6;
    int64_t least = INT64_MAX;
    add_program_kernels(cuda);
    {
        Product product(devices, shape, policy);
        product.options.plan.link = &slow;
        for (int k = 0; k < most_products && least > enough; k++) {
            const int64_t before = bytes_of(cuda, n_devices).up;
            EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
            product.expect_right();
            least = std::min(least, bytes_of(cuda, n_devices).up - before);
        }
        EXPECT_EQ(cuda.n_pending(), 0);
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return least;
}

/** GPUs of an eighth of a product, and one of a sixteenth. */
std::string different_gpus(const ProductShape &of) {
    const int64_t n_bytes =
        4 * (of.n_rows * of.n_inner + of.n_inner * of.n_columns + of.n_rows * of.n_columns);
    std::string text;
    int gpu = 0;
    for (const int64_t part : {8, 8, 16, 8}) {
        text += (gpu > 0 ? ",cuda:" : "cuda:") + std::to_string(gpu) +
                "(memory=" + std::to_string(n_bytes / part) + "B,threads=1)";
        gpu++;
    }
    return text;
}

/** Four rows fill a GPU, none has room for B, and links are said to be slow. */
TEST(CudaPolicies, GuidedMovesLittleMoreThanWeightsWhereEachPieceReadsAMatrix) {
    const ProductShape shape = {192, 16, 2048};
    const std::string gpus = different_gpus(shape);
    const int64_t weighted = least_upload(gpus, shape, "weighted(9,9,9,10)", false, 1, 0);
    const int64_t enough = weighted + weighted * 3 / 10;
    for (const bool are_linked : {false, true})
        EXPECT_LE(least_upload(gpus, shape, "guided", are_linked, 20, enough), enough)
            << are_linked;
}

/** The kernels of a product of four pieces, whose rows run at speeds that one before has measured.
 */
int64_t count_kernels(double download_bytes_per_s) {
    FakeCuda cuda(1, gpus(2, false));
    polytile_link link = polytile_link_default;
    link.download_bytes_per_s = download_bytes_per_s;
    int64_t n_before = 0, n_after = 0;
    add_program_kernels(cuda);
    {
        Product product("cuda:0,cuda:1", {192, 16, 2048}, "self(48)");
        product.options.plan.link = &link;
        for (int k = 0; k < 3; k++) {
            n_before = n_after;
            EXPECT_EQ(product.run(), POLYTILE_OK) << product.error();
            product.expect_right();
            n_after = cuda.n_calls("cudaLaunchKernel");
        }
    }
    EXPECT_EQ(cuda.violations(), "");
    EXPECT_EQ(cuda.leaks(), "");
    return n_after - n_before;
}

/** Four rows fill a GPU, so that no launch of a piece has fewer. */
TEST(CudaPolicies, PiecesAreSeveralLaunchesWhereTheirResultsTakeLongToCome) {
    EXPECT_EQ(count_kernels(1e15), 4);
    const int64_t n_kernels = count_kernels(1e5);
    EXPECT_GE(n_kernels, 4 * 4);
    EXPECT_LE(n_kernels, 4 * 8);
}

} // namespace
