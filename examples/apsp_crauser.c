/* Crauser's algorithm in rounds: relax, minimum and update until nothing changes. On a GPU a
 * launcher enqueues a round of all sources of its box, a vertex of a source a CUDA thread; on the
 * host a thread goes through the rounds of its source. Relax also settles what is within the limit
 * of the round; update has the limit of the next one.
 *
 * Source  Ortega-Arranz et al., "TuCCompi: a multi-layer model for distributed heterogeneous
 *         computing with tuning capabilities", 2015, algorithm 1. */
#include "apsp_kernels.h"
#include "apsp_lanes.h"

#include <string.h>

/** The numbers in turn: the limit of a source's round, that of its next one, and of the first
 * source of a box whether any source has another round. */
enum { LIMIT, NEXT, GOES_ON };

/** The arrays of the declaration, whose parameter is after them. */
enum { N_VIEWS = 7 };

/** The arrays as one source has them. */
typedef struct source_arrays {
    int64_t n;
    const int64_t *first;
    const int32_t *target, *weight, *least;
    uint8_t *settled;
    int32_t *limit, *next, *dist;
} source_arrays;

PT_FUNCTION void begin(const source_arrays *of, int64_t s) {
    for (int64_t v = GRID_LANE; v < of->n; v += GRID_LANES) {
        of->dist[v] = v == s ? 0 : APSP_UNREACHED;
        of->settled[v] = 0;
    }
    if (GRID_LANE == 0) {
        *of->limit = 0;
        *of->next = APSP_UNREACHED;
    }
}

PT_FUNCTION void relax_arcs(const source_arrays *of, int64_t u) {
    for (int64_t a = of->first[u]; a < of->first[u + 1]; a++) {
        const int32_t end = apsp_arrive(of->dist[u], of->weight[a]);
        if (end < of->dist[of->target[a]])
            lanes_lower(&of->dist[of->target[a]], end);
    }
}

/** What arrives meanwhile within the limit may settle in this round or in the next one. */
PT_FUNCTION void relax(const source_arrays *of) {
    const int32_t limit = *of->limit;
    for (int64_t u = GRID_LANE; limit < APSP_UNREACHED && u < of->n; u += GRID_LANES) {
        if (of->settled[u] || of->dist[u] > limit)
            continue;
        of->settled[u] = 1;
        relax_arcs(of, u);
    }
}

/** The least of the lane's vertices. */
PT_FUNCTION int32_t minimum(const source_arrays *of) {
    const int32_t limit = *of->limit;
    int32_t least = APSP_UNREACHED;
    for (int64_t v = GRID_LANE; limit < APSP_UNREACHED && v < of->n; v += GRID_LANES) {
        const int32_t end =
            of->settled[v] ? APSP_UNREACHED : apsp_arrive(of->dist[v], of->least[v]);
        least = end < least ? end : least;
    }
    return least;
}

/** Without a limit nothing that is reached has an arc to more. */
PT_FUNCTION int update(const source_arrays *of) {
    *of->limit = *of->next;
    *of->next = APSP_UNREACHED;
    return *of->limit < APSP_UNREACHED;
}

/** The sources of a box: the arrays of source 0, wherever it is, and the bytes between rows. */
typedef struct sources {
    source_arrays zeroth;
    int64_t settled_bytes, turn_bytes, dist_bytes;
    int64_t lo, hi;
} sources;

PT_FUNCTION source_arrays arrays_of(const sources *all, int64_t s) {
    source_arrays of = all->zeroth;
    of.settled += s * all->settled_bytes;
    of.limit = (int32_t *)((char *)of.limit + s * all->turn_bytes);
    of.next = of.limit + NEXT;
    of.dist = (int32_t *)((char *)of.dist + s * all->dist_bytes);
    return of;
}

static sources sources_of(const polytile_domain *threads, const polytile_view *views, int64_t n) {
    sources all = {{n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}, 0, 0, 0, 0, 0};
    all.zeroth.first = (const int64_t *)views[0].origin;
    all.zeroth.target = (const int32_t *)views[1].origin;
    all.zeroth.weight = (const int32_t *)views[2].origin;
    all.zeroth.least = (const int32_t *)views[3].origin;
    all.zeroth.settled = (uint8_t *)views[4].origin;
    all.zeroth.limit = (int32_t *)views[5].origin;
    all.zeroth.dist = (int32_t *)views[6].origin;
    all.settled_bytes = views[4].stride_bytes[0];
    all.turn_bytes = views[5].stride_bytes[0];
    all.dist_bytes = views[6].stride_bytes[0];
    all.lo = threads->range[0].lo;
    all.hi = threads->range[0].hi;
    return all;
}

static void run_on_host(const polytile_domain *threads, const polytile_view *views, void *user) {
    PT_PARAMETER(int64_t, n, views[N_VIEWS]);
    const sources all = sources_of(threads, views, n);
    (void)user;
    for (int64_t s = all.lo; s <= all.hi; s++) {
        const source_arrays of = arrays_of(&all, s);
        begin(&of, s);
        do {
            relax(&of);
            lanes_lower(of.next, minimum(&of));
        } while (update(&of));
    }
}

#ifdef __CUDACC__

enum { BLOCK = 256, MOST_BLOCKS = 2048, MOST_ROWS = 65535, USUAL_VERTICES = 16384 };

static __device__ int32_t *goes_on_of(const sources *all) {
    return arrays_of(all, all->lo).limit + GOES_ON;
}

static __global__ void begin_all(sources all) {
    for (int64_t s = all.lo + blockIdx.y; s <= all.hi; s += gridDim.y) {
        const source_arrays of = arrays_of(&all, s);
        begin(&of, s);
    }
    if (blockIdx.y == 0 && GRID_LANE == 0)
        *goes_on_of(&all) = 1;
}

static __global__ void relax_all(sources all) {
    for (int64_t s = all.lo + blockIdx.y; s <= all.hi; s += gridDim.y) {
        const source_arrays of = arrays_of(&all, s);
        relax(&of);
    }
}

static __global__ void minimum_all(sources all) {
    for (int64_t s = all.lo + blockIdx.y; s <= all.hi; s += gridDim.y) {
        const source_arrays of = arrays_of(&all, s);
        int32_t least = minimum(&of);
        for (int apart = TOGETHER / 2; apart > 0; apart /= 2)
            least = min(least, __shfl_down_sync(0xffffffff, least, apart));
        if (LANE % TOGETHER == 0 && least < *of.next)
            atomicMin(of.next, least);
    }
}

static __global__ void update_all(sources all) {
    int any = 0;
    for (int64_t s = all.lo + LANE; s <= all.hi; s += LANES) {
        const source_arrays of = arrays_of(&all, s);
        any |= update(&of);
    }
    any = __syncthreads_or(any);
    if (LANE == 0)
        *goes_on_of(&all) = any;
}

/** The blocks along the vertices of a source, and the sources. */
static dim3 grid_of(int64_t n, int64_t n_sources) {
    const int64_t n_rows = n_sources < MOST_ROWS ? n_sources : (int64_t)MOST_ROWS;
    const int64_t wanted = (n + BLOCK - 1) / BLOCK, most = MOST_BLOCKS / n_rows;
    const int64_t n_blocks = wanted < most ? wanted : most;
    return dim3((unsigned)(n_blocks > 0 ? n_blocks : 1), (unsigned)n_rows);
}

static int launch_round(const polytile_sub_kernel *launch) {
    const polytile_view *views = launch->views;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    PT_PARAMETER(int64_t, n, views[launch->n_views]);
    const sources all = sources_of(launch->threads, views, n);
    const dim3 grid = grid_of(n, all.hi - all.lo + 1);
    if (launch->repetition->round == 0) {
        begin_all<<<grid, BLOCK, 0, stream>>>(all);
    } else {
        relax_all<<<grid, BLOCK, 0, stream>>>(all);
        minimum_all<<<grid, BLOCK, 0, stream>>>(all);
        update_all<<<1, BLOCK, 0, stream>>>(all);
    }
    launch->repetition->condition = arrays_of(&all, all.lo).limit + GOES_ON;
    return (int)cudaGetLastError();
}

static void set_launcher(polytile_implementation *of) {
    of->cuda_launcher = launch_round;
    of->cuda_lanes = USUAL_VERTICES;
    of->cuda_launcher_overlaps = true;
}

#else

static void set_launcher(polytile_implementation *of) {
    (void)of;
}

#endif

polytile_implementation apsp_crauser_implementation(void) {
    polytile_implementation made;
    memset(&made, 0, sizeof made);
    made.host = run_on_host;
    set_launcher(&made);
    return made;
}
