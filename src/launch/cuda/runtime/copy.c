#include "launch/cuda/runtime/copy.h"

#include "access/set/boxes.h"

/** What all copies of a nest share. */
typedef struct copying {
    pti_cuda_device *cuda;
    const pti_loop_nest *nest;
    enum cudaMemcpyKind kind;
    cudaStream_t stream;
    int from_number; /* of the GPU that it comes from, where that is another one */
} copying;

/** Return the k-th loop of a nest, counted from the innermost, which is 0. */
static pti_loop loop_from_inside(const pti_loop_nest *nest, int k) {
    return nest->loops[nest->n_loops - 1 - k];
}

bool pti_cuda_is_pitch(pti_loop loop) {
    return loop.to_step > 0 && loop.to_step <= INT32_MAX && loop.from_step > 0 &&
           loop.from_step <= INT32_MAX;
}

static bool fits_1d(const pti_loop_nest *nest) {
    (void)nest;
    return true;
}

static bool fits_2d(const pti_loop_nest *nest) {
    pti_loop rows = loop_from_inside(nest, 0);
    return rows.count > 1 && pti_cuda_is_pitch(rows);
}

/** Return whether planes are a whole number of pitches apart and do not overlap. */
static bool are_planes(int64_t plane_step, int64_t pitch_bytes, int64_t n_rows) {
    return plane_step % pitch_bytes == 0 && plane_step / pitch_bytes >= n_rows;
}

static bool fits_3d(const pti_loop_nest *nest) {
    if (nest->n_loops < 2 || !fits_2d(nest))
        return false;
    pti_loop rows = loop_from_inside(nest, 0), planes = loop_from_inside(nest, 1);
    return are_planes(planes.to_step, rows.to_step, rows.count) &&
           are_planes(planes.from_step, rows.from_step, rows.count);
}

static polytile_status copy_1d(const copying *of, char *to, const char *from) {
    return PTI_CUDA(of->cuda, cudaMemcpyAsync,
                    (to, from, (size_t)of->nest->run_bytes, of->kind, of->stream));
}

static polytile_status copy_2d(const copying *of, char *to, const char *from) {
    pti_loop rows = loop_from_inside(of->nest, 0);
    return PTI_CUDA(of->cuda, cudaMemcpy2DAsync,
                    (to, (size_t)rows.to_step, from, (size_t)rows.from_step,
                     (size_t)of->nest->run_bytes, (size_t)rows.count, of->kind, of->stream));
}

/** Make a pitched pointer, which CUDA wants writable, also on the side that is read. */
static struct cudaPitchedPtr pitched_pointer(const char *first, int64_t pitch_bytes,
                                             int64_t plane_step, int64_t run_bytes) {
    return (struct cudaPitchedPtr){.ptr = (void *)first,
                                   .pitch = (size_t)pitch_bytes,
                                   .xsize = (size_t)run_bytes,
                                   .ysize = (size_t)(plane_step / pitch_bytes)};
}

static polytile_status copy_3d(const copying *of, char *to, const char *from) {
    pti_loop rows = loop_from_inside(of->nest, 0), planes = loop_from_inside(of->nest, 1);
    int64_t run_bytes = of->nest->run_bytes;
    struct cudaMemcpy3DParms copy = {
        .dstPtr = pitched_pointer(to, rows.to_step, planes.to_step, run_bytes),
        .srcPtr = pitched_pointer(from, rows.from_step, planes.from_step, run_bytes),
        .extent = {(size_t)run_bytes, (size_t)rows.count, (size_t)planes.count},
        .kind = of->kind};
    return PTI_CUDA(of->cuda, cudaMemcpy3DAsync, (&copy, of->stream));
}

static polytile_status copy_1d_peer(const copying *of, char *to, const char *from) {
    return PTI_CUDA(
        of->cuda, cudaMemcpyPeerAsync,
        (to, of->cuda->number, from, of->from_number, (size_t)of->nest->run_bytes, of->stream));
}

static polytile_status copy_planes_peer(const copying *of, char *to, const char *from,
                                        pti_loop planes) {
    pti_loop rows = loop_from_inside(of->nest, 0);
    int64_t run_bytes = of->nest->run_bytes;
    struct cudaMemcpy3DPeerParms copy = {
        .dstPtr = pitched_pointer(to, rows.to_step, planes.to_step, run_bytes),
        .dstDevice = of->cuda->number,
        .srcPtr = pitched_pointer(from, rows.from_step, planes.from_step, run_bytes),
        .srcDevice = of->from_number,
        .extent = {(size_t)run_bytes, (size_t)rows.count, (size_t)planes.count}};
    return PTI_CUDA(of->cuda, cudaMemcpy3DPeerAsync, (&copy, of->stream));
}

/** Copy rows from a peer as one plane, since CUDA has no call for rows. */
static polytile_status copy_2d_peer(const copying *of, char *to, const char *from) {
    pti_loop rows = loop_from_inside(of->nest, 0);
    return copy_planes_peer(of, to, from,
                            (pti_loop){.count = 1,
                                       .to_step = rows.count * rows.to_step,
                                       .from_step = rows.count * rows.from_step});
}

static polytile_status copy_3d_peer(const copying *of, char *to, const char *from) {
    return copy_planes_peer(of, to, from, loop_from_inside(of->nest, 1));
}

/** Ways to make one call of the innermost loops; the first that fits is taken. */
typedef struct way {
    int n_loops;
    bool (*fits)(const pti_loop_nest *nest);
    polytile_status (*enqueue)(const copying *of, char *to, const char *from);
} way;

static const way ways[] = {{2, fits_3d, copy_3d}, {1, fits_2d, copy_2d}, {0, fits_1d, copy_1d}};

static const way peer_ways[] = {
    {2, fits_3d, copy_3d_peer}, {1, fits_2d, copy_2d_peer}, {0, fits_1d, copy_1d_peer}};

static const way *way_of(const way *first, const pti_loop_nest *nest) {
    const way *found = first;
    while (!found->fits(nest))
        found++;
    return found;
}

/** Move the longest loop innermost that a call can take, so that the fewest calls remain. */
static void put_longest_innermost(pti_loop_nest *nest) {
    pti_loop *innermost = &nest->loops[nest->n_loops - 1];
    for (int k = 0; k < nest->n_loops; k++) {
        pti_loop loop = nest->loops[k];
        if (pti_cuda_is_pitch(loop) &&
            (loop.count > innermost->count || !pti_cuda_is_pitch(*innermost))) {
            nest->loops[k] = *innermost;
            *innermost = loop;
        }
    }
}

/** Enqueue one call for each turn of the loops that a call does not take. */
static polytile_status enqueue_all(const copying *of, const way *by) {
    polytile_status status = POLYTILE_OK;
    int64_t n_runs_a_call = 1;
    for (int k = 0; k < by->n_loops; k++)
        n_runs_a_call *= loop_from_inside(of->nest, k).count;
    for (int64_t run = 0; run < of->nest->n_runs; run += n_runs_a_call) {
        char *to;
        const char *from;
        pti_loop_nest_locate(of->nest, run, &to, &from);
        PTI_TRY(by->enqueue(of, to, from));
    }
done:
    return status;
}

/** Copy a nest in the first way that fits. of: without its nest. */
static polytile_status copy_by(const way *first, copying of, const pti_loop_nest *nest) {
    pti_loop_nest ordered = *nest;
    if (!fits_3d(nest))
        put_longest_innermost(&ordered);
    of.nest = &ordered;
    return enqueue_all(&of, way_of(first, &ordered));
}

polytile_status pti_cuda_copy_nest(pti_cuda_device *cuda, const pti_loop_nest *nest,
                                   enum cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_by(ways, (copying){.cuda = cuda, .kind = kind, .stream = stream}, nest);
}

polytile_status pti_cuda_copy(pti_cuda_device *cuda, const pti_move *move, enum cudaMemcpyKind kind,
                              cudaStream_t stream) {
    if (pti_box_is_empty(move->box))
        return POLYTILE_OK;
    pti_loop_nest nest = pti_loop_nest_of(move);
    return pti_cuda_copy_nest(cuda, &nest, kind, stream);
}

polytile_status pti_cuda_copy_from_peer(pti_cuda_device *cuda, const pti_move *move,
                                        int from_number, cudaStream_t stream) {
    if (pti_box_is_empty(move->box))
        return POLYTILE_OK;
    pti_loop_nest nest = pti_loop_nest_of(move);
    return copy_by(peer_ways, (copying){.cuda = cuda, .stream = stream, .from_number = from_number},
                   &nest);
}
