#include "gpu/lanes.h"

#include "gpu/lanes_kernels.h"

/* The launcher that enqueues a round. */

namespace {

template <class T> T *whole(const polytile_view &view) {
    return (T *)view.origin;
}

int enqueue_round(const polytile_sub_kernel *launch) {
    const polytile_view *views = launch->views;
    const int64_t lo = launch->threads->range[0].lo, hi = launch->threads->range[0].hi;
    cudaStream_t stream = (cudaStream_t)launch->stream;
    PT_PARAMETER(int64_t, n, views[launch->n_views]);
    const arrays a = {n,
                      whole<const int64_t>(views[0]),
                      whole<const int32_t>(views[1]),
                      whole<const int32_t>(views[2]),
                      whole<const int32_t>(views[3]),
                      views[4],
                      views[6],
                      (int32_t *)((char *)views[5].origin + lo * views[5].stride_bytes[0])};
    const int n_blocks = count_blocks(n);
    if (launch->repetition->round == 0) {
        begin<<<n_blocks, BLOCK, 0, stream>>>(a, lo);
    } else {
        relax<<<n_blocks, BLOCK, 0, stream>>>(a);
        minimum<<<n_blocks, BLOCK, 0, stream>>>(a);
        update<<<n_blocks, BLOCK, 0, stream>>>(a, hi);
        turn<<<1, 1, 0, stream>>>(a, hi);
    }
    launch->repetition->condition = &a.turn[GOES_ON];
    return (int)cudaGetLastError();
}

} /* namespace */

polytile_implementation lanes_crauser(void) {
    polytile_implementation made = {};
    made.cuda_launcher = enqueue_round;
    made.cuda_launcher_overlaps = true;
    return made;
}
