/* The kernel of apsp with a thread a source, one body for every device.
 *
 * Source  Crauser, Mehlhorn, Meyer and Sanders, "A parallelization of Dijkstra's shortest path
 *         algorithm", 1998: all vertices settle whose distance is at most the least, over those
 *         that are reached and not settled, of the distance and the lightest arc. */
#include "apsp_kernels.h"

#include "apsp_lanes.h"

/* What is reached and not settled is in list `from`, 0 or 1, and stays in the other one, which has
 * what is settled in a round from its end on: both together are no more than all vertices. Of
 * round, beside the lengths of the lists: how many are settled, and the limit. */
enum { FRONTIER = 2, LIMIT = 3 };

POLYTILE_KERNEL(apsp_block, (s), (int64_t, n), (const int64_t, first, 1),
                (const int32_t, target, 1), (const int32_t, weight, 1), (const int32_t, least, 1),
                (int32_t, list, 3), (int32_t, round, 2), (int32_t, dist, 2)) {
    int from = 0;
    for (int64_t v = LANE; v < n; v += LANES)
        PT_AT(dist, s, v) = v == s ? 0 : APSP_UNREACHED;
    if (LANE == 0) {
        PT_AT(list, s, from, 0) = (int32_t)s;
        PT_AT(round, s, from) = 1;
    }
    LANES_MEET();
    for (int32_t n_reached = 1; n_reached > 0; n_reached = PT_AT(round, s, from)) {
        const int others = 1 - from;
        int32_t own_limit = APSP_UNREACHED;
        LANES_MEET();
        if (LANE == 0) {
            PT_AT(round, s, others) = PT_AT(round, s, FRONTIER) = 0;
            PT_AT(round, s, LIMIT) = APSP_UNREACHED;
        }
        LANES_MEET();
        for (int64_t k = LANE; k < n_reached; k += LANES) {
            const int32_t u = PT_AT(list, s, from, k);
            const int32_t end = apsp_arrive(PT_AT(dist, s, u), PT_AT(least, u));
            own_limit = end < own_limit ? end : own_limit;
        }
        lanes_lower(&PT_AT(round, s, LIMIT), own_limit);
        LANES_MEET();
        const int32_t limit = PT_AT(round, s, LIMIT);
        for (int64_t k = LANE; k < n_reached; k += LANES) {
            const int32_t u = PT_AT(list, s, from, k);
            if (PT_AT(dist, s, u) <= limit)
                PT_AT(list, s, others, n - 1 - lanes_count(&PT_AT(round, s, FRONTIER))) = u;
            else
                PT_AT(list, s, others, lanes_count(&PT_AT(round, s, others))) = u;
        }
        LANES_MEET();
        const int32_t n_settled = PT_AT(round, s, FRONTIER);
        for (int64_t k = LANE / TOGETHER; k < n_settled; k += LANES / TOGETHER) {
            const int32_t u = PT_AT(list, s, others, n - 1 - k);
            for (int64_t a = PT_AT(first, u) + LANE % TOGETHER; a < PT_AT(first, u + 1);
                 a += TOGETHER) {
                const int32_t v = PT_AT(target, a);
                const int32_t end = apsp_arrive(PT_AT(dist, s, u), PT_AT(weight, a));
                if (end < PT_AT(dist, s, v) &&
                    lanes_lower(&PT_AT(dist, s, v), end) == APSP_UNREACHED)
                    PT_AT(list, s, others, lanes_count(&PT_AT(round, s, others))) = v;
            }
        }
        from = others;
        LANES_MEET();
    }
}

#ifdef __CUDACC__

enum { FEWEST_LANES = 256, MOST_LANES = 1024 };

/** The body with a thread block for each source of the box. */
static __global__ void __launch_bounds__(MOST_LANES)
    apsp_block_on_gpu(int64_t s_first, int64_t n, const polytile_view first_view,
                      const polytile_view target_view, const polytile_view weight_view,
                      const polytile_view least_view, const polytile_view list_view,
                      const polytile_view round_view, const polytile_view dist_view) {
    const apsp_block_first_view first =
        PT_VIEW_OF(const int64_t, first_view, 1, PT_LAST_UNIT, 0, 0);
    const apsp_block_target_view target =
        PT_VIEW_OF(const int32_t, target_view, 1, PT_LAST_UNIT, 0, 0);
    const apsp_block_weight_view weight =
        PT_VIEW_OF(const int32_t, weight_view, 1, PT_LAST_UNIT, 0, 0);
    const apsp_block_least_view least =
        PT_VIEW_OF(const int32_t, least_view, 1, PT_LAST_UNIT, 0, 0);
    const apsp_block_list_view list = PT_VIEW_OF(int32_t, list_view, 3, PT_LAST_UNIT, 0, 0);
    const apsp_block_round_view round = PT_VIEW_OF(int32_t, round_view, 2, PT_LAST_UNIT, 0, 0);
    const apsp_block_dist_view dist = PT_VIEW_OF(int32_t, dist_view, 2, PT_LAST_UNIT, 0, 0);
    apsp_block_thread(s_first + blockIdx.x, n, first, target, weight, least, list, round, dist);
}

/** How many lanes a source has: more where so few sources leave a part of the GPU idle. */
static int count_lanes(int64_t n_sources) {
    int gpu, n_multiprocessors, n_threads, n_lanes = FEWEST_LANES;
    if (cudaGetDevice(&gpu) != cudaSuccess ||
        cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, gpu) !=
            cudaSuccess ||
        cudaDeviceGetAttribute(&n_threads, cudaDevAttrMaxThreadsPerMultiProcessor, gpu) !=
            cudaSuccess)
        return FEWEST_LANES;
    while (n_lanes < MOST_LANES &&
           2 * n_lanes * n_sources <= (int64_t)n_multiprocessors * n_threads)
        n_lanes *= 2;
    return n_lanes;
}

static int launch_blocks(const polytile_sub_kernel *launch) {
    const polytile_range sources = launch->threads->range[0];
    const polytile_view *views = launch->views;
    PT_PARAMETER(int64_t, n, views[launch->n_views]);
    const int64_t n_sources = sources.hi - sources.lo + 1;
    apsp_block_on_gpu<<<(unsigned)n_sources, count_lanes(n_sources), 0,
                        (cudaStream_t)launch->stream>>>(sources.lo, n, views[0], views[1], views[2],
                                                        views[3], views[4], views[5], views[6]);
    return (int)cudaGetLastError();
}

polytile_implementation apsp_block_implementation(void) {
    polytile_implementation made = apsp_block_kernel;
    made.cuda = made.cuda_contiguous = made.cuda_pieces = NULL;
    made.cuda_launcher = launch_blocks;
    made.cuda_lanes = FEWEST_LANES;
    made.cuda_launcher_overlaps = true;
    return made;
}

#else

polytile_implementation apsp_block_implementation(void) {
    return apsp_block_kernel;
}

#endif
