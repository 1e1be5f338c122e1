#include <gtest/gtest.h>

#include "launch/cuda/kernels.h"
#include "launch/cuda/reductions.h"
#include "launch/scene.h"

extern "C" {
#include "access/kernel.h"
}

/* One body on the host and on a GPU; those that need a GPU are in the suite CudaGpu. */

namespace {

std::string name_in(const Case &of) {
    const std::string declaration = of.declaration;
    return declaration.substr(0, declaration.find('['));
}

/** The same body out of nvcc; NULL without nvcc. */
const polytile_implementation *from_nvcc(const Case &of) {
    return cuda_kernel_of(name_in(of).c_str());
}

Extents cube(int n_dims, int64_t n) {
    return Extents(static_cast<size_t>(n_dims), n);
}

ArrayShape cube_of(const char *name, polytile_type type, int n_dims) {
    return {name, type, [n_dims](int64_t n) { return cube(n_dims, n); }};
}

std::function<polytile_domain(int64_t)> threads_of(int n_dims) {
    return [n_dims](int64_t n) { return bounds(cube(n_dims, 0), cube(n_dims, n - 1)); };
}

polytile_type type_named(const char *text) {
    polytile_type type = POLYTILE_I8;
    EXPECT_EQ(polytile_type_parse(text, &type), POLYTILE_OK);
    return type;
}

Case reduction(const char *declaration, const polytile_implementation *implementation,
               polytile_type type) {
    return {declaration,
            implementation,
            threads_of(2),
            {cube_of("x", type, 2), cube_of("rows", type, 1), cube_of("columns", type, 1)},
            false,
            45};
}

/** Every verb over every type, onto what the elements hold and from the identity. */
const std::vector<Case> &reductions() {
    static const std::vector<Case> cases = {
#define REDUCTION_CASE(verb, VERB, type, T)                                                        \
    reduction(#verb "_" #type "[i, j]: in x[i, j]; " #verb " rows[i]; out " #verb " columns[j]",   \
              &verb##_##type##_kernel, type_named(#type)),
        REDUCTIONS(REDUCTION_CASE)};
    return cases;
}

/** Results that show in which order a thread gets its indices. */
const std::vector<Case> &rearrangements() {
    const polytile_type f32 = POLYTILE_F32, i32 = POLYTILE_I32;
    static const std::vector<Case> cases = {
        {"transpose[i, j]: in A[i, j]; out B[j, i]",
         &transpose_kernel,
         threads_of(2),
         {cube_of("A", f32, 2), cube_of("B", f32, 2)},
         false,
         75},
        {"transpose_by_hand[i, j]: in A[i, j]; out B[j, i]",
         &transpose_kernel,
         threads_of(2),
         {cube_of("A", f32, 2), cube_of("B", f32, 2)},
         false,
         75},
        {"four[a, b, c, d]: in X[a, b, c, d]; out Y[d, b, c, a]",
         &four_kernel,
         threads_of(4),
         {cube_of("X", i32, 4), cube_of("Y", i32, 4)},
         false,
         7},
        {"five[a, b, c, d, e]: in X[a, b, c, d, e]; out Y[e, d, c, b, a]",
         &five_kernel,
         threads_of(5),
         {cube_of("X", i32, 5), cube_of("Y", i32, 5)},
         false,
         5},
        {"seven[a, b, c, d, e, f, g]: in X[g, f, e, d, c, b, a]; sum Y[a, c, e, g]",
         &seven_kernel,
         threads_of(7),
         {cube_of("X", i32, 7), cube_of("Y", i32, 4)},
         false,
         3},
    };
    return cases;
}

int64_t bytes_of(const Scene &scene) {
    int64_t total_bytes = 0;
    for (const auto &bytes : scene.memory)
        total_bytes += static_cast<int64_t>(bytes.size());
    return total_bytes;
}

/** Run nvcc's kernel through less memory than its arrays need, and compare with one plain loop over
 * the body as the C++ compiler took it. */
void run_and_compare(polytile_context *ctx, polytile_device *device, const Case &of,
                     Random *random) {
    SCOPED_TRACE(of.declaration);
    Scene scene(ctx, of, of.largest_n, random);
    polytile_kernel *kernel = nullptr;
    pti_instance *instance = nullptr;
    polytile_plan *plan = nullptr;
    std::vector<polytile_array *> operands(
        static_cast<size_t>(polytile_kernel_get_n_views(scene.kernel)));
    pti_kernel_list_operands(scene.kernel, scene.arrays.data(), operands.data());
    ASSERT_EQ(pti_instance_create(scene.kernel, &scene.domain, operands.data(),
                                  scene.options.n_parameters, scene.options.parameters, &instance),
              POLYTILE_OK);
    scene.compute_expected(instance);
    pti_instance_free(instance);
    scene.options.plan.limit_bytes = bytes_of(scene) * 9 / 10;
    ASSERT_EQ(polytile_kernel_create(ctx, of.declaration, from_nvcc(of), &kernel), POLYTILE_OK)
        << polytile_last_error(ctx);
    ASSERT_EQ(polytile_plan_create(kernel, &scene.domain, static_cast<int>(scene.arrays.size()),
                                   scene.arrays.data(), &scene.options, &plan),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_plan_run(plan, device, kernel, static_cast<int>(scene.arrays.size()),
                                scene.arrays.data(), NULL),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(scene.memory, scene.expected);
}

void run_all_on(const char *device_text, const std::vector<Case> &cases) {
    Random random{test_seed("CudaKernels")};
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    if (polytile_device_open(ctx, device_text, &device) == POLYTILE_OK)
        for (const Case &of : cases)
            run_and_compare(ctx, device, of, &random);
    else
        ADD_FAILURE() << polytile_last_error(ctx);
    polytile_context_destroy(ctx);
}

bool has_nvcc() {
    return cuda_kernel_of("add") != nullptr;
}

bool has_gpu() {
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    const bool opens = polytile_context_create(&ctx) == POLYTILE_OK &&
                       polytile_device_open(ctx, "cuda:0", &device) == POLYTILE_OK;
    polytile_context_destroy(ctx);
    return opens;
}

TEST(CudaKernels, BodiesThatNvccCompilesAreForHostAndGpu) {
    if (!has_nvcc())
        GTEST_SKIP() << "built without nvcc";
    for (const auto &cases : {all_cases(), reductions(), rearrangements()})
        for (const Case &of : cases) {
            const polytile_implementation *implementation = from_nvcc(of);
            ASSERT_NE(implementation, nullptr) << of.declaration;
            EXPECT_NE(implementation->host, nullptr) << of.declaration;
            EXPECT_NE(implementation->cuda, nullptr) << of.declaration;
            EXPECT_EQ(implementation->cuda_contiguous != nullptr, implementation->views != nullptr)
                << of.declaration;
            EXPECT_EQ(implementation->n_views, of.implementation->n_views) << of.declaration;
            EXPECT_EQ(of.implementation->cuda, nullptr) << of.declaration;
        }
}

TEST(CudaKernels, AKernelByHandIsRefusedForAnotherNumberOfArrays) {
    if (!has_nvcc())
        GTEST_SKIP() << "built without nvcc";
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const polytile_implementation *by_hand = cuda_kernel_of("transpose_by_hand");
    EXPECT_EQ(
        polytile_kernel_create(ctx, "k[i, j]: in A[i, j], C[i]; out B[j, i]", by_hand, &kernel),
        POLYTILE_DECLARATION);
    EXPECT_EQ(polytile_kernel_create(ctx, "k[i, j]: in A[i, j]; out B[j, i]", by_hand, &kernel),
              POLYTILE_OK);
    polytile_context_destroy(ctx);
}

TEST(CudaKernels, ParametersAreBehindViewsByNameOrByOrder) {
    if (!has_nvcc())
        GTEST_SKIP() << "built without nvcc";
    for (const char *name : {"axpy", "axpy_by_hand"}) {
        SCOPED_TRACE(name);
        const polytile_implementation *axpy = cuda_kernel_of(name);
        EXPECT_EQ(axpy->n_views, 2);
        ASSERT_EQ(axpy->n_parameters, 2);
        EXPECT_EQ(axpy->parameters[0].bytes, 4);
        EXPECT_EQ(axpy->parameters[0].number, POLYTILE_FLOAT_NUMBER);
        EXPECT_EQ(axpy->parameters[1].bytes, 8);
        EXPECT_EQ(axpy->parameters[1].number, POLYTILE_SIGNED_NUMBER);
    }
    EXPECT_STREQ(cuda_kernel_of("axpy")->parameters[1].name, "b");
    EXPECT_EQ(cuda_kernel_of("axpy_by_hand")->parameters[1].name, nullptr);
    EXPECT_EQ(cuda_kernel_of("transpose_by_hand")->n_parameters, 0);
    EXPECT_NE(cuda_kernel_of("transpose_by_hand")->parameters, nullptr);
}

/** Run axpy on a device with less memory than its arrays, and check every element. */
void run_axpy(const char *device_text, const char *name) {
    SCOPED_TRACE(name);
    const polytile_parameter parameters[] = {POLYTILE_PARAMETER("a", 0.5f),
                                             POLYTILE_PARAMETER("b", -2)};
    std::vector<float> x(5000, 4), y(5000, 1);
    const int64_t n = 5000;
    polytile_context *ctx = nullptr;
    polytile_device *device = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    polytile_launch_options options = {};
    options.n_parameters = 2;
    options.parameters = parameters;
    options.plan.limit_bytes = 8000;
    const polytile_domain threads = polytile_domain_from_extents(1, &n);
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    EXPECT_EQ(polytile_device_open(ctx, device_text, &device), POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &n, x.data(), &arrays[0]),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(ctx, "y", POLYTILE_F32, 1, &n, y.data(), &arrays[1]),
              POLYTILE_OK);
    EXPECT_EQ(polytile_kernel_create(ctx, "axpy[i](f32 a, i64 b): in x[i]; inout y[i]",
                                     cuda_kernel_of(name), &kernel),
              POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(polytile_run(device, kernel, &threads, 2, arrays, &options), POLYTILE_OK)
        << polytile_last_error(ctx);
    EXPECT_EQ(y, std::vector<float>(5000, 1 + 0.5f * 4 - 2 * 5000));
    polytile_context_destroy(ctx);
}

TEST(CudaKernels, HostFunctionsOfNvccGetTheirParameters) {
    if (!has_nvcc())
        GTEST_SKIP() << "built without nvcc";
    run_axpy("host", "axpy");
}

TEST(CudaGpu, KernelsOfOneBodyAndByHandGetTheirParameters) {
    if (!has_nvcc() || !has_gpu())
        GTEST_SKIP() << "no nvcc or no GPU";
    for (const char *name : {"axpy", "axpy_by_hand"})
        run_axpy("cuda:0", name);
}

TEST(CudaKernels, TheHostFunctionsOfNvccGiveThePlainLoopsResult) {
    if (!has_nvcc())
        GTEST_SKIP() << "built without nvcc";
    run_all_on("host", all_cases());
    run_all_on("host", reductions());
    run_all_on("host", rearrangements());
}

TEST(CudaGpu, EveryVerbCombinesEveryTypeAtomically) {
    if (!has_nvcc() || !has_gpu())
        GTEST_SKIP() << "no nvcc or no GPU";
    run_all_on("cuda:0", reductions());
}

TEST(CudaGpu, KernelsOfOneBodyAndByHandGetTheirIndices) {
    if (!has_nvcc() || !has_gpu())
        GTEST_SKIP() << "no nvcc or no GPU";
    run_all_on("cuda:0", rearrangements());
}

} // namespace
