#include "launch/cuda/runs.h"
#include "support/fake_cuda.h"
#include "support/random.h"

#include <gtest/gtest.h>
#include <polytile/compile.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

extern "C" {
#include "compile/load.h"
}

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>

/* Kernels from text on GPUs: on a fake one, which launches what a fake driver loads, and on one
 * that is there. */

namespace {

POLYTILE_KERNEL(scaled_sum, (i), (const float, x, 1), (const float, y, 1), (float, z, 1),
                (float, a)) {
    PT_AT(z, i) = a * PT_AT(x, i) + PT_AT(y, i);
}

const char *const sum_text = "sum[i](f32 a): in x[i], y[i]; out z[i]";
const char *const sum_body = "z(i) = a * x(i) + y(i);";

class Context {
  public:
    Context() { EXPECT_EQ(polytile_context_create(&ctx), POLYTILE_OK); }
    ~Context() { polytile_context_destroy(ctx); }
    polytile_context *ctx = nullptr;
};

/** Whether NVRTC is here. */
bool has_nvrtc() {
    Context of;
    const polytile_type types[] = {POLYTILE_F32, POLYTILE_F32, POLYTILE_F32};
    polytile_compile_options options = {};
    polytile_kernel *kernel = nullptr;
    options.n_types = 3;
    options.types = types;
    options.cuda_capability = 90;
    return polytile_kernel_compile(of.ctx, sum_text, sum_body, &options, &kernel) == POLYTILE_OK;
}

/* A driver that loads nothing, and knows which kernels were asked for. */

char module_place, kernel_places[5];
int n_loaded, n_unloaded;
bool is_elf, driver_fails;

/** The code that was loaded last: its end is that of the table of sections, or of segments. */
std::string loaded_code;

std::string read_elf(const void *code) {
    Elf64_Ehdr header;
    std::memcpy(&header, code, sizeof header);
    const size_t n_bytes = std::max(header.e_shoff + size_t{header.e_shentsize} * header.e_shnum,
                                    header.e_phoff + size_t{header.e_phentsize} * header.e_phnum);
    return {static_cast<const char *>(code), n_bytes};
}

int load_nothing(void **module, const void *code, void *, void *, unsigned, void *, void *,
                 unsigned) {
    is_elf = std::memcmp(code,
                         "\x7f"
                         "ELF",
                         4) == 0;
    n_loaded++;
    loaded_code = is_elf ? read_elf(code) : "";
    *module = &module_place;
    return driver_fails ? 209 : 0;
}

int find_kernel(void **kernel, void *module, const char *name) {
    EXPECT_EQ(module, &module_place);
    EXPECT_NE(loaded_code.find(std::string(".text.") + name + '\0'), std::string::npos) << name;
    const char *const names[] = {"pt_body_cuda", "pt_body_cuda_contiguous", "pt_body_cuda_pieces",
                                 "pt_body_cuda_coarse", "pt_body_cuda_tiles"};
    for (size_t k = 0; k < 5; k++)
        if (std::strcmp(name, names[k]) == 0) {
            *kernel = &kernel_places[k];
            return 0;
        }
    return 500;
}

int unload(void *) {
    n_unloaded++;
    return 0;
}

class FakeDriver {
  public:
    FakeDriver() {
        n_loaded = n_unloaded = 0;
        driver_fails = false;
        pti_current_driver_calls = &calls_;
    }
    ~FakeDriver() { pti_current_driver_calls = nullptr; }

  private:
    const pti_driver_calls calls_ = {load_nothing, find_kernel, unload};
};

struct Vectors {
    explicit Vectors(size_t n) : x(n), y(n, 3), z(n, -1) { std::iota(x.begin(), x.end(), 0.0f); }

    polytile_status run(polytile_context *ctx, const char *device_text) {
        polytile_kernel *kernel = nullptr;
        polytile_device *device = nullptr;
        polytile_array *arrays[3];
        const auto n = static_cast<int64_t>(x.size());
        float *const data[] = {x.data(), y.data(), z.data()};
        EXPECT_EQ(polytile_kernel_compile(ctx, sum_text, sum_body, nullptr, &kernel), POLYTILE_OK);
        for (size_t a = 0; a < 3; a++)
            EXPECT_EQ(polytile_array_wrap(ctx, "a", POLYTILE_F32, 1, &n, data[a], &arrays[a]),
                      POLYTILE_OK);
        polytile_status status = polytile_device_open(ctx, device_text, &device);
        const polytile_parameter a = polytile_parameter_real("a", 2);
        polytile_launch_options options = {};
        options.n_parameters = 1;
        options.parameters = &a;
        const polytile_domain domain = {1, {{0, n - 1, 1}}};
        if (status == POLYTILE_OK)
            status = polytile_run(device, kernel, &domain, 3, arrays, &options);
        polytile_device_close(device);
        return status;
    }

    bool is_right() const {
        bool is = true;
        for (size_t k = 0; k < x.size(); k++)
            is = is && z[k] == 2 * x[k] + y[k];
        return is;
    }

    std::vector<float> x, y, z;
};

TEST(CompileCuda, KernelsOfTheDriverAreLaunchedByTheirHandles) {
    if (!has_nvrtc())
        GTEST_SKIP() << "no NVRTC here";
    FakeCuda cuda(test_seed("CompileCuda.KernelsOfTheDriverAreLaunchedByTheirHandles"));
    FakeDriver driver;
    for (char &place : kernel_places)
        cuda.add_kernel(&place, scaled_sum_kernel);
    {
        Context of;
        for (int round = 0; round < 2; round++) {
            Vectors vectors(5000);
            ASSERT_EQ(vectors.run(of.ctx, "cuda:0(memory=16MiB)"), POLYTILE_OK)
                << polytile_last_error(of.ctx);
            EXPECT_TRUE(vectors.is_right());
        }
        EXPECT_TRUE(is_elf);
        EXPECT_EQ(n_loaded, 1);
        EXPECT_EQ(n_unloaded, 0);
    }
    EXPECT_EQ(n_unloaded, 1);
    EXPECT_EQ(cuda.violations(), "");
}

POLYTILE_KERNEL(four_points, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1);
}

POLYTILE_KERNEL(averaged_points, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) + PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1)) / 4;
}

/** Run four_points from text over n x n whole numbers; each sum inside is exact. */
void run_four_points(polytile_context *ctx, size_t n) {
    const char *const text = "four[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
    const char *const body = "B(i, j) = A(i-1, j) + A(i+1, j) + A(i, j-1) + A(i, j+1);";
    const auto extent = static_cast<int64_t>(n);
    const int64_t extents[] = {extent, extent};
    const polytile_domain inner = {2, {{1, extent - 2, 1}, {1, extent - 2, 1}}};
    std::vector<float> A(n * n), B(n * n);
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    polytile_array *arrays[2];
    std::iota(A.begin(), A.end(), 0.0f);
    ASSERT_EQ(polytile_kernel_compile(ctx, text, body, nullptr, &kernel), POLYTILE_OK);
    ASSERT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, extents, A.data(), &arrays[0]),
              POLYTILE_OK);
    ASSERT_EQ(polytile_array_wrap(ctx, "B", POLYTILE_F32, 2, extents, B.data(), &arrays[1]),
              POLYTILE_OK);
    ASSERT_EQ(polytile_device_open(ctx, "cuda:0(memory=1MiB)", &device), POLYTILE_OK);
    EXPECT_EQ(polytile_run(device, kernel, &inner, 2, arrays, nullptr), POLYTILE_OK)
        << polytile_last_error(ctx);
    for (size_t i = 1; i < n - 1; i++)
        for (size_t j = 1; j < n - 1; j++)
            ASSERT_EQ(B[i * n + j], 4 * A[i * n + j]) << i << " " << j;
    polytile_device_close(device);
}

TEST(CompileCuda, ABodyOfTwoIndicesHasAKernelForNeighboursInOneThread) {
    if (!has_nvrtc())
        GTEST_SKIP() << "no NVRTC here";
    const CoarseTable table;
    FakeCuda cuda(test_seed("CompileCuda.Coarse"));
    FakeDriver driver;
    polytile_implementation found = four_points_kernel;
    found.cuda_contiguous = &kernel_places[1];
    found.cuda_pieces = &kernel_places[2];
    found.cuda_coarse = &kernel_places[3];
    found.n_coarse = POLYTILE_COARSENING;
    cuda.add_kernel(&kernel_places[0], found);
    {
        Context of;
        run_four_points(of.ctx, 60);
    }
    EXPECT_GT(cuda.n_coarse_launches(), 0);
    EXPECT_EQ(cuda.violations(), "");
}

POLYTILE_KERNEL(weighted_points, (i, j), (float, weight), (const float, A, 2), (const float, K, 2),
                (float, B, 2)) {
    PT_AT(B, i, j) = weight * (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j)) +
                     PT_AT(K, i, j) * (PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1));
}

POLYTILE_KERNEL(round_points, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) = (PT_AT(A, PT_WRAP(A, 0, i - 1), j) + PT_AT(A, PT_WRAP(A, 0, i + 1), j) +
                      PT_AT(A, i, PT_WRAP(A, 1, j - 1)) + PT_AT(A, i, PT_WRAP(A, 1, j + 1))) /
                     4;
}

/** A body whose launches alternate between its first and its last array, and the same for the host.
 */
struct TurningBody {
    const char *declaration, *body;
    const polytile_implementation *same;
    bool is_round = false; /* threads go once round the arrays */
};

const TurningBody turning_bodies[] = {
    {"four[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "B(i, j) = (A(i-1, j) + A(i+1, j) + A(i, j-1) + A(i, j+1)) / 4;", &averaged_points_kernel},
    {"four[i, j](f32 weight): in A[i-1:i+1, j], A[i, j-1:j+1], K[i, j]; out B[i, j]",
     "B(i, j) = weight * (A(i-1, j) + A(i+1, j)) + K(i, j) * (A(i, j-1) + A(i, j+1));",
     &weighted_points_kernel},
    {"four[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]",
     "B(i, j) = (A(wrap(i-1), j) + A(wrap(i+1), j) + A(i, wrap(j-1)) + A(i, wrap(j+1))) / 4;",
     &round_points_kernel, true},
};

/** Return all arrays after launches from one field to the other and back. */
std::vector<float> alternate(polytile_context *ctx, const TurningBody &of, const char *device,
                             const int64_t *extents) {
    const int n_launches = 20, n_arrays = of.same->n_views;
    const auto n = static_cast<size_t>(extents[0] * extents[1]);
    const int64_t edge = of.is_round ? 0 : 1;
    const polytile_domain threads = {
        2, {{edge, extents[0] - 1 - edge, 1}, {edge, extents[1] - 1 - edge, 1}}};
    std::vector<float> fields(static_cast<size_t>(n_arrays) * n);
    polytile_kernel *kernel = nullptr;
    polytile_queue *queue = nullptr;
    polytile_array *arrays[3] = {};
    for (size_t k = 0; k < fields.size(); k++)
        fields[k] = static_cast<float>(k * 7919 % 1009) / 4096;
    EXPECT_EQ(polytile_kernel_compile(ctx, of.declaration, of.body, nullptr, &kernel), POLYTILE_OK);
    EXPECT_EQ(polytile_queue_create(ctx, device, &queue), POLYTILE_OK);
    for (int a = 0; a < n_arrays; a++)
        EXPECT_EQ(polytile_array_wrap(ctx, "A", POLYTILE_F32, 2, extents,
                                      &fields[static_cast<size_t>(a) * n], &arrays[a]),
                  POLYTILE_OK);
    EXPECT_EQ(polytile_queue_attach(queue, n_arrays, arrays), POLYTILE_OK);
    polytile_queue_pause(queue);
    for (int k = 0; k < n_launches; k++) {
        polytile_array *turn[] = {arrays[0], arrays[1], arrays[2]};
        std::swap(turn[0], turn[k % 2 == 0 ? 0 : n_arrays - 1]);
        const polytile_parameter weight =
            polytile_parameter_real("weight", 0.125f * static_cast<float>(1 + k % 3));
        polytile_launch_options options = {};
        options.n_parameters = of.same->n_parameters;
        options.parameters = &weight;
        EXPECT_EQ(polytile_queue_launch(queue, kernel, &threads, n_arrays, turn, &options),
                  POLYTILE_OK);
    }
    EXPECT_EQ(polytile_queue_detach(queue, n_arrays, arrays), POLYTILE_OK)
        << polytile_last_error(ctx);
    polytile_queue_destroy(queue);
    return fields;
}

TEST(CompileCuda, ABodyThatAlternatesBetweenTwoMatricesRunsInTiles) {
    if (!has_nvrtc())
        GTEST_SKIP() << "no NVRTC here";
    for (const TurningBody &row : turning_bodies) {
        FakeCuda::Options options;
        options.shared_bytes = size_t{228} << 10;
        FakeCuda cuda(test_seed("CompileCuda.Tiles"), options);
        FakeDriver driver;
        Context of;
        const int64_t extents[] = {200, 400};
        const std::vector<float> wanted = alternate(of.ctx, row, "host", extents);
        polytile_implementation found = *row.same;
        found.cuda_contiguous = &kernel_places[1];
        found.cuda_pieces = &kernel_places[2];
        found.cuda_coarse = &kernel_places[3];
        found.n_coarse = POLYTILE_COARSENING;
        found.cuda_tiles = &kernel_places[4];
        cuda.add_kernel(&kernel_places[0], found);
        EXPECT_EQ(alternate(of.ctx, row, "cuda:0", extents), wanted) << row.declaration;
        EXPECT_GT(cuda.n_tiled(), 10) << row.declaration;
        EXPECT_EQ(cuda.violations(), "");
    }
}

TEST(CompileCuda, ADriverThatRefusesIsNamed) {
    if (!has_nvrtc())
        GTEST_SKIP() << "no NVRTC here";
    FakeCuda cuda(test_seed("CompileCuda.ADriverThatRefusesIsNamed"));
    FakeDriver driver;
    Context of;
    driver_fails = true;
    EXPECT_EQ(Vectors(100).run(of.ctx, "cuda:0(memory=16MiB)"), POLYTILE_DEVICE);
    EXPECT_NE(std::string(polytile_last_error(of.ctx)).find("cuLibraryLoadData gives error 209"),
              std::string::npos)
        << polytile_last_error(of.ctx);
}

struct PairBody {
    const char *declaration, *body;
    std::vector<polytile_type> types;
};

const PairBody pair_bodies[] = {
    {"k[i]: in x[i]; out argmax s[0]",
     "PT_ARGMAX(s(0), x(i), i);",
     {POLYTILE_F32, POLYTILE_INDEXED(POLYTILE_F32)}},
    {"k[i]: in x[i]; argmin s[:]",
     "PT_ARGMIN(s(x(i)), x(i), 2 * i);",
     {POLYTILE_U8, POLYTILE_INDEXED(POLYTILE_F64)}},
    {"k[i]: in z[i]; out sum s[0]; out prod p[0]; out w[i]",
     "PT_SUM(s(0), z(i) * PT_CONJ(z(i))); PT_PROD(p(0), z(i));\n"
     "w(i) = 2 * z(i) / PT_C64(0, 1) + PT_RE(z(i)) - 1;",
     {POLYTILE_C64, POLYTILE_C64, POLYTILE_C64, POLYTILE_C64}},
    {"k[i]: in z[i]; out sum s[0]; out prod p[0]",
     "PT_SUM(s(0), z(i)); PT_PROD(p(0), -z(i) + PT_C128(1, PT_IM(z(i))));",
     {POLYTILE_C128, POLYTILE_C128, POLYTILE_C128}},
};

TEST(CompileCuda, ElementsOfTwoNumbersAreCompiledForGpusAndTheHost) {
    const bool is_there = has_nvrtc();
    for (const PairBody &row : pair_bodies)
        for (int capability : {0, 75, 90}) {
            Context of;
            polytile_compile_options options = {};
            polytile_kernel *kernel = nullptr;
            options.n_types = static_cast<int>(row.types.size());
            options.types = row.types.data();
            options.cuda_capability = capability;
            if (capability > 0 && !is_there)
                continue;
            EXPECT_EQ(polytile_kernel_compile(of.ctx, row.declaration, row.body, &options, &kernel),
                      POLYTILE_OK)
                << polytile_last_error(of.ctx);
        }
}

/* On a GPU, if there is one. */

bool has_gpu() {
    int n_devices = 0;
    const bool found = pti_cuda_runtime.cudaGetDeviceCount(&n_devices) == cudaSuccess;
    pti_cuda_runtime.cudaGetLastError();
    return found && n_devices > 0;
}

/** A kernel over two matrices, of which the second one's bytes are compared. */
struct Case {
    const char *declaration, *body;
    polytile_type type;
    polytile_domain domain;
};

constexpr int64_t rows = 300, columns = 200;
const polytile_domain whole = {2, {{0, rows - 1, 1}, {0, columns - 1, 1}}};
const polytile_domain inner = {2, {{1, rows - 2, 1}, {1, columns - 2, 1}}};
const polytile_domain stepped = {2, {{1, rows - 1, 2}, {0, columns - 2, 3}}};

const Case cases[] = {
    {"add[i, j](f64 a): in A[i, j]; out B[i, j]", "B(i, j) = a * A(i, j) + sqrt(A(i, j));",
     POLYTILE_F64, whole},
    {"mean[i, j](f32 a): in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     "B(i, j) = a * (A(i - 1, j) + A(i + 1, j) + A(i, j - 1) + A(i, j + 1)) + A(i, j);",
     POLYTILE_F32, inner},
    {"half[i, j](i32 a): in A[i, j]; inout B[i, j]", "B(i, j) += A(i, j) / a;", POLYTILE_I32,
     stepped},
    {"sums[i, j](i64 a): in A[i, j]; sum B[i, 0]", "PT_SUM(B(i, 0), a * A(i, j));", POLYTILE_I64,
     whole},
    {"most[i, j](u8 a): in A[i, j]; max B[0, j]", "PT_MAX(B(0, j), A(i, j) % a);", POLYTILE_U8,
     whole},
};

/** Return the bytes of B after a run on a device. */
std::vector<unsigned char> run_case(const Case &of, const char *device_text) {
    Context made;
    polytile_kernel *kernel = nullptr;
    polytile_device *device = nullptr;
    polytile_array *arrays[2];
    const auto n_bytes = static_cast<size_t>(rows * columns * polytile_type_get_bytes(of.type));
    std::vector<unsigned char> a(n_bytes), b(n_bytes);
    const int64_t extents[] = {rows, columns};
    for (size_t k = 0; k < static_cast<size_t>(rows * columns); k++) {
        const auto number = static_cast<unsigned char>(k * 7 % 101);
        const float f32 = number;
        const double f64 = number;
        const size_t size = n_bytes / static_cast<size_t>(rows * columns);
        std::memcpy(&a[k * size],
                    of.type == POLYTILE_F32   ? static_cast<const void *>(&f32)
                    : of.type == POLYTILE_F64 ? static_cast<const void *>(&f64)
                                              : &number,
                    of.type == POLYTILE_F32 || of.type == POLYTILE_F64 ? size : 1);
    }
    EXPECT_EQ(polytile_kernel_compile(made.ctx, of.declaration, of.body, nullptr, &kernel),
              POLYTILE_OK)
        << polytile_last_error(made.ctx);
    EXPECT_EQ(polytile_array_wrap(made.ctx, "A", of.type, 2, extents, a.data(), &arrays[0]),
              POLYTILE_OK);
    EXPECT_EQ(polytile_array_wrap(made.ctx, "B", of.type, 2, extents, b.data(), &arrays[1]),
              POLYTILE_OK);
    EXPECT_EQ(polytile_device_open(made.ctx, device_text, &device), POLYTILE_OK)
        << polytile_last_error(made.ctx);
    const polytile_parameter value = polytile_parameter_signed("a", 3);
    polytile_launch_options options = {};
    options.n_parameters = 1;
    options.parameters = &value;
    EXPECT_EQ(polytile_run(device, kernel, &of.domain, 2, arrays, &options), POLYTILE_OK)
        << polytile_last_error(made.ctx);
    return b;
}

TEST(CudaGpu, LaunchesOfABodyFromTextGiveInTilesTheBitsOfTheHost) {
    if (!has_gpu() || !has_nvrtc())
        GTEST_SKIP() << "no GPU, or no NVRTC";
    Context of;
    const int64_t extents[] = {2000, 3000};
    for (const TurningBody &row : turning_bodies)
        EXPECT_EQ(alternate(of.ctx, row, "cuda:0", extents),
                  alternate(of.ctx, row, "host", extents))
            << row.declaration;
}

TEST(CudaGpu, BodiesFromTextGiveTheBitsOfTheHost) {
    if (!has_gpu() || !has_nvrtc())
        GTEST_SKIP() << "no GPU, or no NVRTC";
    for (const Case &of : cases)
        EXPECT_EQ(run_case(of, "cuda:0(memory=64MiB)"), run_case(of, "host")) << of.declaration;
}

} // namespace
