#include "flow.h"

#include "common/bench.h"
#include <polytile/stream.h>

#include <stdlib.h>

static int smooth(const polytile_sub_kernel *launch) {
    flow_smooth(launch->user, launch->views[0].origin, launch->views[1].origin);
    return 0;
}

static polytile_stream *begin_stream(polytile_context *ctx, const flow_case *of) {
    const polytile_implementation smoothing = {.host_launcher = smooth,
                                               .user = (void *)(uintptr_t)of};
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_stream *stream = NULL;
    char text[512];
    snprintf(
        text, sizeof text,
        "digraph { { node [type=f32, extents=%lld]; x; y; z }\n"
        "{ node [kernel=\"smooth[i]: in p[:]; out q[i]\", seconds=\"1ms\"]; A [on=a]; B [on=b] }\n"
        "x -> A [as=p]; A -> y [as=q]; y -> B [as=p]; B -> z [as=q] }",
        (long long)of->n_numbers);
    bench_require(polytile_graph_parse(ctx, text, &graph), ctx);
    bench_require(polytile_graph_bind(graph, "smooth", &smoothing), ctx);
    bench_require(polytile_machine_parse(ctx,
                                         "digraph { a [device=\"host(threads=1)\"]; "
                                         "b [device=\"host(threads=2)\"] }",
                                         &machine),
                  ctx);
    bench_require(polytile_graph_plan_create(graph, machine, NULL, &plan), ctx);
    bench_require(polytile_stream_create(graph, plan, NULL, &stream), ctx);
    return stream;
}

double flow_by_stream(const flow_case *of, double *sum) {
    polytile_context *ctx = NULL;
    polytile_array *x = NULL, *z = NULL;
    float *in = calloc((size_t)of->n_numbers, sizeof *in);
    float *out = calloc((size_t)of->n_numbers, sizeof *out);
    bench_require(polytile_context_create(&ctx), NULL);
    bench_require(polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, &of->n_numbers, in, &x), ctx);
    bench_require(polytile_array_wrap(ctx, "z", POLYTILE_F32, 1, &of->n_numbers, out, &z), ctx);
    polytile_stream *stream = begin_stream(ctx, of);
    const int64_t depth = polytile_stream_get_depth(stream);
    const double begin_s = bench_now_s();
    *sum = 0;
    for (int64_t f = 0; f < of->n_frames + depth; f++) {
        if (f >= depth) {
            bench_require(polytile_stream_pull(stream, 1, &z, NULL), ctx);
            *sum += flow_take(of, out);
        }
        if (f < of->n_frames) {
            flow_feed(of, f, in);
            bench_require(polytile_stream_push(stream, 1, &x, NULL), ctx);
        }
    }
    const double time_s = bench_now_s() - begin_s;
    polytile_context_destroy(ctx);
    free(in);
    free(out);
    return time_s;
}
