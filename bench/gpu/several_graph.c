/* A pipeline of four actors, one a GPU of one host, against all of them on one GPU; and how near
 * its period comes to the longest actor. On a host with one GPU there is nothing to compare, and no
 * row. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/several.h"

#include <polytile/stream.h>

enum { N_NUMBERS = 1 << 16, N_ACTORS = 4, N_FRAMES = 200 };

/** A stream with its ports. */
typedef struct pipeline {
    polytile_context *ctx;
    polytile_stream *stream;
    polytile_graph_summary planned;
    polytile_array *in;
    polytile_array *out;
    float *frame; /* pinned */
    float *result;
} pipeline;

static const char *const actors[N_ACTORS] = {"A", "B", "C", "D"};

/** Which unit runs each actor: one after the other, of so many. */
static void write_graph(int n_units, char *text, size_t size) {
    snprintf(text, size,
             "digraph { { node [type=f32, extents=%d]; v; w; x; y; z }\n"
             "{ node [kernel=\"%s\"]; A [on=u%d]; B [on=u%d]; C [on=u%d]; D [on=u%d] }\n"
             "v -> A [as=x]; A -> w [as=y]; w -> B [as=x]; B -> x [as=y]; x -> C [as=x];\n"
             "C -> y [as=y]; y -> D [as=x]; D -> z [as=y] }",
             N_NUMBERS, GATHER_DECLARATION, 0, 1 % n_units, 2 % n_units, 3 % n_units);
}

static void write_machine(int n_units, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "digraph {");
    for (int u = 0; u < n_units; u++)
        used += (size_t)snprintf(text + used, size - used, " u%d [device=\"cuda:%d\"];", u, u);
    snprintf(text + used, size - used, " }");
}

static pipeline open_pipeline(int n_units, const double *seconds) {
    const int64_t extents[] = {N_NUMBERS}, n_bytes = N_NUMBERS * (int64_t)sizeof(float);
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    pipeline p = {.frame = gpu_allocate_pinned(n_bytes), .result = gpu_allocate_pinned(n_bytes)};
    char text[1024];
    bench_require(polytile_context_create(&p.ctx), NULL);
    write_graph(n_units, text, sizeof text);
    bench_require(polytile_graph_parse(p.ctx, text, &graph), p.ctx);
    bench_require(polytile_graph_bind(graph, "gather", gpu_gather()), p.ctx);
    for (int a = 0; a < N_ACTORS; a++)
        bench_require(
            polytile_graph_set_seconds(graph, actors[a], seconds == NULL ? 1e-3 : seconds[a]),
            p.ctx);
    write_machine(n_units, text, sizeof text);
    bench_require(polytile_machine_parse(p.ctx, text, &machine), p.ctx);
    bench_require(polytile_graph_plan_create(graph, machine, NULL, &plan), p.ctx);
    polytile_graph_plan_get_summary(plan, &p.planned);
    bench_require(polytile_stream_create(graph, plan, NULL, &p.stream), p.ctx);
    bench_require(polytile_array_wrap(p.ctx, "in", POLYTILE_F32, 1, extents, p.frame, &p.in),
                  p.ctx);
    bench_require(polytile_array_wrap(p.ctx, "out", POLYTILE_F32, 1, extents, p.result, &p.out),
                  p.ctx);
    return p;
}

/** As many frames are in flight as always may be. Returns the period. */
static double run_frames(pipeline *p) {
    const int64_t depth = polytile_stream_get_depth(p->stream);
    polytile_stream_report done;
    for (int64_t f = 0; f < N_FRAMES + depth; f++) {
        if (f >= depth)
            bench_require(polytile_stream_pull(p->stream, 1, &p->out, NULL), p->ctx);
        if (f >= N_FRAMES)
            continue;
        for (int64_t k = 0; k < N_NUMBERS; k++)
            p->frame[k] = (float)((k + f) % 3 - 1);
        bench_require(polytile_stream_push(p->stream, 1, &p->in, NULL), p->ctx);
    }
    polytile_stream_get_report(p->stream, &done);
    return done.period_s;
}

static double find_longest(const pipeline *p, double seconds[N_ACTORS]) {
    double longest = 0;
    for (int a = 0; a < N_ACTORS; a++) {
        seconds[a] = polytile_stream_get_seconds(p->stream, actors[a]);
        longest = seconds[a] > longest ? seconds[a] : longest;
    }
    return longest;
}

/** The period of the pipeline on so many GPUs, planned again with the seconds of a first run. */
static pipeline run_pipeline(int n_units, bench_times *period, bench_times *longest) {
    double seconds[N_ACTORS];
    pipeline first = open_pipeline(n_units, NULL);
    run_frames(&first);
    find_longest(&first, seconds);
    polytile_context_destroy(first.ctx);
    pipeline second = open_pipeline(n_units, seconds);
    bench_add_time(period, run_frames(&second));
    bench_add_time(longest, find_longest(&second, seconds));
    return second;
}

static void compare(const pipeline *one, const bench_times *period_of_one, int n_units) {
    bench_times period = {0}, longest = {0};
    char name[56];
    pipeline p = run_pipeline(n_units, &period, &longest);
    gpu_require_equal("the last frame", p.result, one->result, N_NUMBERS);
    snprintf(name, sizeof name, "pipeline of 4 actors, %d GPUs", n_units);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "one GPU",
                                 .ours = &period,
                                 .rival = period_of_one,
                                 .relation = BENCH_AT_LEAST,
                                 .target = 0.9 * n_units});
    snprintf(name, sizeof name, "its period on %d GPUs", n_units);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "the longest actor",
                                 .ours = &period,
                                 .rival = &longest,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.05 * N_ACTORS / n_units});
    gpu_report_fixed(
        "s", &(gpu_comparison){.name = "the same", .against = "as planned", .ours = &period},
        p.planned.period_s);
    polytile_context_destroy(p.ctx);
}

void several_graph(void) {
    bench_times period = {0}, longest = {0};
    if (several_next(1) == 0)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    const pipeline one = run_pipeline(1, &period, &longest);
    for (int n = several_next(1); n > 0 && n <= N_ACTORS; n = several_next(n))
        compare(&one, &period, n);
}
