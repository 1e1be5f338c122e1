#include <gtest/gtest.h>

#include <numeric>
#include <polytile/implementation.h>
#include <vector>

#include "support/random.h"

/* CUDA kernels of bodies on the CPU: CUDA's words mean little here, and the threads of a grid run
 * one after another. */

namespace {

struct Extents3 {
    unsigned x, y, z;
};

Extents3 blockIdx, blockDim, threadIdx;

[[maybe_unused]] void __syncthreads() {}

#define __CUDACC__
#define __host__
#define __device__
#define __global__
#define __shared__
#define __align__(n_bytes)
#define __launch_bounds__(n_threads)
#define __forceinline__ inline __attribute__((always_inline))
#include <polytile/kernel.h>

#define COUNT_BODY(n_dims, ...)                                                                    \
    POLYTILE_KERNEL(count_##n_dims, (__VA_ARGS__), (int32_t, C, n_dims)) {                         \
        PT_AT(C, __VA_ARGS__) += 1;                                                                \
    }

COUNT_BODY(1, a)
COUNT_BODY(2, a, b)
COUNT_BODY(3, a, b, c)
COUNT_BODY(4, a, b, c, d)
COUNT_BODY(5, a, b, c, d, e)
COUNT_BODY(6, a, b, c, d, e, f)
COUNT_BODY(7, a, b, c, d, e, f, g)
COUNT_BODY(8, a, b, c, d, e, f, g, h)

const polytile_implementation *const bodies[] = {&count_1_kernel, &count_2_kernel, &count_3_kernel,
                                                 &count_4_kernel, &count_5_kernel, &count_6_kernel,
                                                 &count_7_kernel, &count_8_kernel};

POLYTILE_KERNEL(count_from_first, (i), (int32_t, C, 1)) {
    PT_AT(C, i - PT_FIRST(C, 0)) += 1;
}

POLYTILE_KERNEL(note, (i), (int64_t, last, 1)) {
    PT_AT(last, 0) = i;
}

POLYTILE_KERNEL(weigh, (i, j), (int32_t, factor), (const int32_t, x, 1), (int32_t, C, 2)) {
    PT_AT(C, i, j) += factor * PT_AT(x, j);
}

using OneViewKernel = void (*)(polytile_domain, polytile_view);
using OneViewCoarseKernel = void (*)(polytile_domain, polytile_view, int32_t *);

OneViewKernel kernel_at(const void *address) {
    return reinterpret_cast<OneViewKernel>(const_cast<void *>(address));
}

unsigned extent_of(const polytile_domain &box, int dim) {
    return static_cast<unsigned>(box.range[dim].hi - box.range[dim].lo + 1);
}

/** The last dimension, the one before it, and all others together. */
Extents3 folded(const polytile_domain &box) {
    const int n = box.n_dims;
    Extents3 extents = {extent_of(box, n - 1), n > 1 ? extent_of(box, n - 2) : 1, 1};
    for (int d = 0; d < n - 2; d++)
        extents.z *= extent_of(box, d);
    return extents;
}

template <class Visit> void for_each(const Extents3 &extents, Extents3 *at, Visit visit) {
    for (at->z = 0; at->z < extents.z; at->z++)
        for (at->y = 0; at->y < extents.y; at->y++)
            for (at->x = 0; at->x < extents.x; at->x++)
                visit();
}

/** Runs a grid that has so many threads. */
template <class Kernel> void run_grid(const Extents3 &threads, const Extents3 &block, Kernel run) {
    const Extents3 grid = {(threads.x + block.x - 1) / block.x, (threads.y + block.y - 1) / block.y,
                           (threads.z + block.z - 1) / block.z};
    blockDim = block;
    for_each(grid, &blockIdx, [&] { for_each(block, &threadIdx, run); });
}

void launch(const void *address, const polytile_domain &box, const polytile_view &view,
            const Extents3 &block) {
    const OneViewKernel kernel = kernel_at(address);
    run_grid(folded(box), block, [&] { kernel(box, view); });
}

/** Threads along y for groups of neighbours. */
Extents3 folded_groups(const polytile_domain &box) {
    Extents3 threads = folded(box);
    threads.y = (threads.y + POLYTILE_COARSENING - 1) / POLYTILE_COARSENING;
    return threads;
}

void launch_coarse(const void *address, const polytile_domain &box, const polytile_view &view,
                   const Extents3 &block) {
    const auto kernel = reinterpret_cast<OneViewCoarseKernel>(const_cast<void *>(address));
    run_grid(folded_groups(box), block,
             [&] { kernel(box, view, static_cast<int32_t *>(view.origin)); });
}

polytile_domain random_box(int n_dims, Random *random) {
    polytile_domain box = {};
    box.n_dims = n_dims;
    for (int d = 0; d < n_dims; d++) {
        const int64_t lo = random->number(-3, 3);
        box.range[d] = {lo, lo + random->number(0, n_dims < 4 ? 15 : 3), 1};
    }
    return box;
}

/** A dimension that no index runs along has one thread. */
Extents3 random_block(int n_dims, Random *random) {
    return {static_cast<unsigned>(random->number(1, 9)),
            static_cast<unsigned>(random->number(1, n_dims > 1 ? 5 : 1)),
            static_cast<unsigned>(random->number(1, n_dims > 2 ? 4 : 1))};
}

/** C order, with a distance of some elements between neighbours along the last dimension. */
polytile_view view_of(const polytile_domain &box, std::vector<int32_t> *elements,
                      int64_t distance) {
    polytile_view view = {};
    int64_t stride_bytes = distance * static_cast<int64_t>(sizeof(int32_t)), before_bytes = 0;
    view.resident = box;
    for (int d = box.n_dims - 1; d >= 0; d--) {
        view.stride_bytes[d] = stride_bytes;
        before_bytes += box.range[d].lo * stride_bytes;
        stride_bytes *= extent_of(box, d);
    }
    elements->assign(static_cast<size_t>(stride_bytes) / sizeof(int32_t), 0);
    view.origin = reinterpret_cast<void *>(reinterpret_cast<intptr_t>(elements->data()) -
                                           static_cast<intptr_t>(before_bytes));
    return view;
}

TEST(CudaThread, EachThreadOfABoxRunsOnceWhateverTheGrid) {
    Random random{test_seed("CudaThread")};
    for (const polytile_implementation *body : bodies)
        for (int round = 0; round < 40; round++) {
            const polytile_domain box = random_box(body->n_indices, &random);
            const Extents3 block = random_block(body->n_indices, &random);
            const int64_t distance = random.number(1, 2);
            const bool contiguous = distance == 1 && random.number(0, 1) == 1;
            std::vector<int32_t> elements;
            launch(contiguous ? body->cuda_contiguous : body->cuda, box,
                   view_of(box, &elements, distance), block);
            for (size_t k = 0; k < elements.size(); k++)
                ASSERT_EQ(elements[k], k % static_cast<size_t>(distance) == 0 ? 1 : 0)
                    << body->n_indices << " indices, round " << round << ", element " << k;
        }
}

TEST(CudaThread, EachThreadOfABoxRunsOnceThoughOneRunsItsNeighbours) {
    Random random{test_seed("CudaThread.Coarse")};
    EXPECT_EQ(bodies[0]->cuda_coarse, nullptr) << "of one index";
    EXPECT_EQ(bodies[0]->n_coarse, 0);
    for (const polytile_implementation *body : bodies)
        for (int round = 0; body->n_indices > 1 && round < 40; round++) {
            ASSERT_EQ(body->n_coarse, POLYTILE_COARSENING);
            const polytile_domain box = random_box(body->n_indices, &random);
            std::vector<int32_t> elements;
            launch_coarse(body->cuda_coarse, box, view_of(box, &elements, 1),
                          random_block(body->n_indices, &random));
            for (size_t k = 0; k < elements.size(); k++)
                ASSERT_EQ(elements[k], 1)
                    << body->n_indices << " indices, round " << round << ", element " << k;
        }
}

TEST(CudaThread, ACoarseKernelTakesTheOriginOfEachViewBehindItsValues) {
    const int32_t n_columns = 5, n_rows = 7;
    std::vector<int32_t> x = {1, 2, 3, 4, 5}, elements;
    const polytile_domain line = {1, {{0, n_columns - 1, 1}}},
                          box = {2, {{0, n_rows - 1, 1}, {0, n_columns - 1, 1}}};
    const polytile_view x_view = {x.data(), {sizeof(int32_t)}, {0}, {n_columns - 1}, line, 0, 0};
    const polytile_view C_view = view_of(box, &elements, 1);
    const auto kernel = reinterpret_cast<void (*)(polytile_domain, polytile_view, polytile_view,
                                                  int32_t, const int32_t *, int32_t *)>(
        const_cast<void *>(weigh_kernel.cuda_coarse));
    run_grid(folded_groups(box), {2, 3, 1},
             [&] { kernel(box, x_view, C_view, 10, x.data(), elements.data()); });
    for (size_t k = 0; k < elements.size(); k++)
        EXPECT_EQ(elements[k], 10 * static_cast<int32_t>(k % 5 + 1)) << k;
}

TEST(CudaThread, IndicesAreThoseOfTheBoxWhereverItLies) {
    const int64_t n = 10, span = int64_t{1} << 32;
    for (const int64_t lo : {INT64_MIN, -span - 5, -span / 2 - 5, -span / 2, int64_t{-5},
                             span / 2 - n, span / 2 - 5, span - 5, INT64_MAX - n + 1}) {
        const polytile_domain box = {1, {{lo, lo + (n - 1), 1}}};
        std::vector<int32_t> elements(n + 8, 0);
        const polytile_view view = {
            elements.data(), {sizeof(int32_t)}, {lo}, {lo + (n - 1)}, box, 0, 0};
        const bool is_near = lo >= INT32_MIN && lo + (n - 1) <= INT32_MAX;
        launch(count_from_first_kernel.cuda, box, view, {4, 1, 1});
        if (is_near)
            launch(count_from_first_kernel.cuda_contiguous, box, view, {4, 1, 1});
        for (size_t k = 0; k < elements.size(); k++)
            EXPECT_EQ(elements[k], k >= n    ? 0
                                   : is_near ? 2
                                             : 1)
                << "lo " << lo << ", element " << k;
    }
}

/** What the one thread at a place, of a grid of blocks of 256 threads, notes; `none` if it is
 * ended. */
int64_t noted_at(uint64_t place, const polytile_domain &box, int64_t none) {
    int64_t last = none;
    const polytile_view view = {&last, {sizeof last}, {0}, {0}, {1, {{0, 0, 1}}}, 0, 0};
    blockDim = {256, 1, 1};
    blockIdx = {static_cast<unsigned>(place / 256), 0, 0};
    threadIdx = {static_cast<unsigned>(place % 256), 0, 0};
    kernel_at(note_kernel.cuda_contiguous)(box, view);
    return last;
}

TEST(CudaThread, PlacesOfTheLargestGridTakeUpTo32Bits) {
    const uint64_t n = uint64_t{1} << 31;
    const polytile_domain box = {1, {{-7, static_cast<int64_t>(n) - 8, 1}}};
    EXPECT_EQ(noted_at(0, box, -99), -7);
    EXPECT_EQ(noted_at(n - 1, box, -99), static_cast<int64_t>(n) - 8);
    EXPECT_EQ(noted_at(n, box, -99), -99);
    EXPECT_EQ(noted_at(n + 1023, box, -99), -99);
}

} // namespace
