#include "launch/cuda/fake_links.h"
#include "support/environment.h"
#include "support/fake_cuda.h"
#include "support/places.h"
#include "support/random.h"
#include "support/scale.h"

#include <gtest/gtest.h>
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#include <atomic>
#include <set>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "access/set/boxes.h"
#include "launch/cuda/rims.h"
}

/* Periodic launches on a GPU: threads away from the ends run the kernel that does not look for
 * them. Here that kernel is another body, which goes astray at the ends. */

namespace {

std::atomic<int64_t> n_inner, n_around, n_reduced;
int64_t n_launched;     /* kernels */
int driver_version = 0; /* of GPUs with the default link, on which slabs run fused */

#define FIVE(A, up, down, left, right)                                                             \
    (3 * PT_AT(A, up, j) + 5 * PT_AT(A, down, j) + 7 * PT_AT(A, i, left) +                         \
     11 * PT_AT(A, i, right) + PT_AT(A, i, j))

POLYTILE_KERNEL(around, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    n_around++;
    PT_AT(B, i, j) = FIVE(A, PT_WRAP(A, 0, i - 1), PT_WRAP(A, 0, i + 1), PT_WRAP(A, 1, j - 1),
                          PT_WRAP(A, 1, j + 1));
}

POLYTILE_KERNEL(inner, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    n_inner++;
    PT_AT(B, i, j) = FIVE(A, i - 1, i + 1, j - 1, j + 1);
}

POLYTILE_KERNEL(spread, (i, j), (const uint32_t, A, 2), (uint32_t, B, 2)) {
    n_reduced++;
    for (int d = -1; d <= 1; d++)
        PT_SUM(PT_AT(B, PT_WRAP(B, 0, i + d), j), PT_AT(A, i, j) * (uint32_t)(d + 2));
}

const char *const torus = "torus[i, j]: in A[wrap(i-1:i+1), j], A[i, wrap(j-1:j+1)]; out B[i, j]";
const char *const scatter = "spread[i, j]: in A[i, j]; sum B[wrap(i-1:i+1), j]";

using Field = std::vector<uint32_t>;

struct Program {
    int64_t n, m;
    int n_steps;
    bool waits; /* after each launch, so that launches are not fused */
    std::string device;
    uint64_t seed;
};

/** Run the steps of a program, in which A and B change places. */
void run(const Program &of, const char *declaration, const polytile_implementation &body,
         const polytile_implementation &contiguous, bool has_contiguous, Field memory[2]) {
    FakeCuda::Options options;
    options.driver_version = driver_version;
    FakeCuda cuda(of.seed, options);
    polytile_implementation made = body;
    made.cuda = reinterpret_cast<const void *>(body.host);
    made.cuda_contiguous =
        has_contiguous ? reinterpret_cast<const char *>(body.views) + 1 : nullptr;
    made.cuda_pieces = reinterpret_cast<const char *>(body.views) + 2;
    cuda.add_kernel(made.cuda, made);
    if (has_contiguous)
        cuda.add_kernel(made.cuda_contiguous, contiguous);
    polytile_context *ctx = nullptr;
    polytile_queue *queue = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    const auto require = [ctx](polytile_status status) {
        ASSERT_EQ(status, POLYTILE_OK) << polytile_last_error(ctx);
    };
    const int64_t extents[] = {of.n, of.m};
    require(polytile_queue_create(ctx, of.device.c_str(), &queue));
    require(polytile_kernel_create(ctx, declaration, &made, &kernel));
    for (int a = 0; a < 2; a++)
        require(polytile_array_wrap(ctx, a == 0 ? "A" : "B", POLYTILE_U32, 2, extents,
                                    memory[a].data(), &arrays[a]));
    require(polytile_queue_attach(queue, 2, arrays));
    if (!of.waits)
        polytile_queue_pause(queue);
    for (int step = 0; step < of.n_steps; step++) {
        polytile_array *given[] = {arrays[step % 2], arrays[1 - step % 2]};
        require(
            polytile_queue_launch(queue, kernel, POLYTILE_EXTENTS(of.n, of.m), 2, given, nullptr));
        if (of.waits)
            require(polytile_queue_wait(queue));
    }
    require(polytile_queue_detach(queue, 2, arrays));
    polytile_queue_destroy(queue);
    polytile_context_destroy(ctx);
    EXPECT_EQ(cuda.violations(), "");
    n_launched = cuda.n_calls("cudaLaunchKernel");
}

Field draw_field(const Program &of, Random *random) {
    Field drawn(static_cast<size_t>(of.n * of.m));
    for (uint32_t &value : drawn)
        value = static_cast<uint32_t>(random->number(0, 1 << 30));
    return drawn;
}

/** By a plain loop. */
void step_plain(const Program &of, const Field &A, Field *B) {
    const auto at = [&](int64_t i, int64_t j) {
        return A[static_cast<size_t>((i + of.n) % of.n * of.m + (j + of.m) % of.m)];
    };
    for (int64_t i = 0; i < of.n; i++)
        for (int64_t j = 0; j < of.m; j++)
            (*B)[static_cast<size_t>(i * of.m + j)] = 3 * at(i - 1, j) + 5 * at(i + 1, j) +
                                                      7 * at(i, j - 1) + 11 * at(i, j + 1) +
                                                      at(i, j);
}

void expect_right(const Program &of, Random *random) {
    Field got[2], wanted[2];
    for (int a = 0; a < 2; a++)
        got[a] = wanted[a] = draw_field(of, random);
    n_inner = n_around = 0;
    run(of, torus, around_kernel, inner_kernel, true, got);
    for (int step = 0; step < of.n_steps; step++)
        step_plain(of, wanted[step % 2], &wanted[1 - step % 2]);
    for (int a = 0; a < 2; a++)
        EXPECT_TRUE(got[a] == wanted[a]) << "array " << a << " of " << of.n << " x " << of.m
                                         << " on " << of.device << ", seed " << of.seed;
    EXPECT_EQ(n_inner + n_around, of.n * of.m * of.n_steps);
}

class CudaRims : public testing::Test {
  protected:
    void SetUp() override {
        environment_.set("POLYTILE_CHECK", "plan");
        environment_.set("POLYTILE_CACHE", in_build("cache/rims").c_str());
        if (driver_version == 0)
            driver_version = keep_fake_links(polytile_link_default);
    }

  private:
    Environment environment_;
};

TEST_F(CudaRims, AreWhatIsLeftAroundABox) {
    Random random(test_seed("CudaRims.AreWhatIsLeftAroundABox"));
    for (int64_t round = scaled(300); round > 0; round--) {
        polytile_domain threads = {}, inner;
        threads.n_dims = static_cast<int>(random.number(1, 3));
        inner = threads;
        for (int d = 0; d < threads.n_dims; d++) {
            const int64_t lo = random.number(-3, 3), hi = lo + random.number(0, 5);
            threads.range[d] = {lo, hi, 1};
            inner.range[d].lo = random.number(lo, hi);
            inner.range[d].hi = random.number(inner.range[d].lo, hi);
            inner.range[d].step = 1;
        }
        const bool takes_steps = random.chance(50);
        const pti_cuda_rims rims = pti_cuda_rims_around(&inner, &threads, takes_steps);
        EXPECT_EQ(pti_box_equals(&rims.inner, &inner), true);
        int64_t n = pti_box_count(&inner);
        for (int k = 0; k < rims.n_rims; k++) {
            polytile_domain common;
            EXPECT_TRUE(pti_box_contains(&threads, &rims.rim[k]));
            EXPECT_TRUE(takes_steps || !pti_box_has_gaps(&rims.rim[k]));
            EXPECT_FALSE(pti_box_intersect(&rims.rim[k], &inner, &common));
            for (int l = 0; l < k; l++)
                EXPECT_FALSE(pti_box_intersect(&rims.rim[k], &rims.rim[l], &common));
            n += pti_box_count(&rims.rim[k]);
        }
        EXPECT_EQ(n, pti_box_count(&threads));
    }
}

/** In memory: each launch leaves the cells at the ends to the kernel that wraps, both ends of an
 * index at once. */
TEST_F(CudaRims, OnlyThreadsAtTheEndsRunTheKernelThatWraps) {
    Random random(1);
    const Program of = {120, 150, 3, true, "cuda:0", 1};
    expect_right(of, &random);
    EXPECT_EQ(n_inner, (of.n - 2) * (of.m - 2) * of.n_steps);
    EXPECT_EQ(n_launched, 3 * of.n_steps);
}

/** Several launches take longer than what they gain where the inner threads do not fill it. */
TEST_F(CudaRims, ALaunchThatDoesNotFillTheGpuStaysWhole) {
    Random random(1);
    expect_right({80, 90, 3, true, "cuda:0", 1}, &random);
    EXPECT_EQ(n_inner, 0);
}

/** Slabs of three rows of steps that are fused around the ring, also those at its ends, whose
 * arrays are in two pieces: of them a row each wraps. */
TEST_F(CudaRims, SlabsOfARingRunTheirInnerThreadsWithoutWrapping) {
    Random random(1);
    const Program of = {400, 4500, 3, false, "cuda:0(memory=5900KiB)", 1};
    expect_right(of, &random);
    EXPECT_GT(n_inner, (of.n - 8) * of.m * of.n_steps);
}

TEST_F(CudaRims, GiveTheResultsOfAPlainLoop) {
    Random random(test_seed("CudaRims.GiveTheResultsOfAPlainLoop"));
    int64_t n_with_inner = 0;
    const int64_t n_rounds = scaled(60);
    for (int64_t round = 0; round < n_rounds && !HasFailure(); round++) {
        Program of = {random.number(1, 300),
                      random.number(1, 300),
                      static_cast<int>(random.number(1, 6)),
                      random.chance(40),
                      "",
                      0};
        const int64_t bytes = 8 * of.n * of.m * random.number(30, 130) / 100 + 40000;
        of.device = "cuda:0(memory=" + std::to_string(bytes) + "B)";
        of.seed = static_cast<uint64_t>(random.number(0, int64_t{1} << 62));
        expect_right(of, &random);
        n_with_inner += n_inner > 0;
    }
    EXPECT_GE(n_with_inner, least_count(n_rounds, 0.4));
}

/** Sums in another order would be other bits; and a kernel by hand may have no faster one. */
TEST_F(CudaRims, ReductionsAndKernelsWithoutAnotherOneStayWhole) {
    Random random(1);
    const Program of = {120, 150, 1, true, "cuda:0", 1};
    Field memory[2] = {draw_field(of, &random), draw_field(of, &random)};
    n_inner = n_around = n_reduced = 0;
    run(of, scatter, spread_kernel, inner_kernel, true, memory);
    EXPECT_EQ(n_inner, 0);
    EXPECT_EQ(n_reduced, of.n * of.m);
    run(of, torus, around_kernel, inner_kernel, false, memory);
    EXPECT_EQ(n_inner, 0);
    EXPECT_EQ(n_around, of.n * of.m);
}

} // namespace
