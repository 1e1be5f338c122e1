/* How near streams of frames come to what bounds them: three units in a row, whose actors sleep so
 * long as they say. No processor is short then, so the figures are of the threads and what they
 * wait for. */
#include "common/bench.h"
#include <polytile/stream.h>

#include <string.h>
#include <time.h>

enum { N_NUMBERS = 64, N_UNITS = 3 };

typedef struct stream_case {
    const char *name;
    const char *machine;
    int64_t sleep_us;
    int64_t n_frames;
    const char *on; /* of all actors, which take frames in turn; NULL: each has a unit */
} stream_case;

#define IN_PLACE                                                                                   \
    "digraph { a [device=\"host(threads=1)\"]; b [device=\"host(threads=2)\"]; "                   \
    "c [device=\"host(threads=3)\"] }"
#define APART                                                                                      \
    "digraph { a [device=\"host(memory=1MiB,threads=1)\"]; "                                       \
    "b [device=\"host(memory=2MiB,threads=1)\"]; c [device=\"host(memory=3MiB,threads=1)\"] }"

static const stream_case cases[] = {
    {"1 ms, three hosts", IN_PLACE, 1000, 1000, NULL},
    {"5 ms, three hosts", IN_PLACE, 5000, 400, NULL},
    {"5 ms, three memories", APART, 5000, 400, NULL},
    {"20 ms, three hosts", IN_PLACE, 20000, 100, NULL},
    {"5 ms, in turn on three hosts", IN_PLACE, 5000, 400, "a|b|c"},
    {"5 ms, in turn on three memories", APART, 5000, 400, "a|b|c"},
    {"no work, three hosts", IN_PLACE, 0, 20000, NULL},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** Sleep, and hand on what came in. */
static int nap(const polytile_sub_kernel *launch) {
    const int64_t *sleep_us = launch->user;
    const struct timespec time = {*sleep_us / 1000000, *sleep_us % 1000000 * 1000};
    if (*sleep_us > 0)
        nanosleep(&time, NULL);
    memcpy(launch->views[1].origin, launch->views[0].origin, N_NUMBERS * sizeof(float));
    return 0;
}

/** A stream with its ports. */
typedef struct subject {
    const stream_case *of;
    polytile_context *ctx;
    polytile_graph_summary planned;
    polytile_stream *stream;
    polytile_array *in;
    polytile_array *out;
    float frame[N_NUMBERS];
    float result[N_NUMBERS];
    int64_t n_wrong;
} subject;

static const char *const actors[N_UNITS] = {"A", "B", "C"};

/** seconds: of each actor, as measured; NULL: as they say. */
static void begin(subject *s, const double *seconds) {
    const int64_t extents[] = {N_NUMBERS};
    const polytile_implementation implementation = {.host_launcher = nap,
                                                    .user = (void *)(uintptr_t)&s->of->sleep_us};
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    char text[1024];
    snprintf(text, sizeof text,
             "digraph { { node [type=f32, extents=%d]; x; y; z; w }\n"
             "{ node [kernel=\"nap[i]: in p[i]; out q[i]\", seconds=\"%lldus\"];\n"
             "A [on=\"%s\"]; B [on=\"%s\"]; C [on=\"%s\"] }\n"
             "x -> A [as=p]; A -> y [as=q]; y -> B [as=p]; B -> z [as=q]; z -> C [as=p];\n"
             "C -> w [as=q] }",
             N_NUMBERS, (long long)(s->of->sleep_us > 0 ? s->of->sleep_us : 1),
             s->of->on != NULL ? s->of->on : "a", s->of->on != NULL ? s->of->on : "b",
             s->of->on != NULL ? s->of->on : "c");
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_graph_parse(s->ctx, text, &graph), s->ctx);
    bench_require(polytile_graph_bind(graph, "nap", &implementation), s->ctx);
    for (int a = 0; seconds != NULL && a < N_UNITS; a++)
        bench_require(polytile_graph_set_seconds(graph, actors[a], seconds[a]), s->ctx);
    bench_require(polytile_machine_parse(s->ctx, s->of->machine, &machine), s->ctx);
    bench_require(polytile_graph_plan_create(graph, machine, NULL, &plan), s->ctx);
    polytile_graph_plan_get_summary(plan, &s->planned);
    bench_require(polytile_stream_create(graph, plan, NULL, &s->stream), s->ctx);
    bench_require(polytile_array_wrap(s->ctx, "in", POLYTILE_F32, 1, extents, s->frame, &s->in),
                  s->ctx);
    bench_require(polytile_array_wrap(s->ctx, "out", POLYTILE_F32, 1, extents, s->result, &s->out),
                  s->ctx);
}

/** As many frames are in flight as always may be. */
static void run(subject *s) {
    const int64_t depth = polytile_stream_get_depth(s->stream);
    for (int64_t f = 0; f < s->of->n_frames + depth; f++) {
        if (f >= depth) {
            bench_require(polytile_stream_pull(s->stream, 1, &s->out, NULL), s->ctx);
            s->n_wrong += s->result[0] != (float)(f - depth);
        }
        if (f >= s->of->n_frames)
            continue;
        s->frame[0] = (float)f;
        bench_require(polytile_stream_push(s->stream, 1, &s->in, NULL), s->ctx);
    }
}

static double longest_s(const subject *s) {
    double longest = 0;
    for (int a = 0; a < N_UNITS; a++) {
        const double taken_s = polytile_stream_get_seconds(s->stream, actors[a]);
        longest = taken_s > longest ? taken_s : longest;
    }
    return longest;
}

static void report(bench *b, const subject *s) {
    polytile_stream_report done;
    polytile_stream_get_report(s->stream, &done);
    const bool works = s->of->sleep_us > 0;
    const bench_figure figures[] = {
        {s->of->name, "period_us", 1e6 * done.period_s, BENCH_NO_TARGET, 0},
        {s->of->name, "wrong_frames", (double)s->n_wrong, BENCH_AT_MOST, 0},
        {s->of->name, "period_of_longest_actor", done.period_s / longest_s(s), BENCH_AT_MOST, 1.05},
        {s->of->name, "predicted_of_measured_period", s->planned.period_s / done.period_s,
         BENCH_AT_LEAST, 0.95},
        {s->of->name, "predicted_of_measured_latency", s->planned.latency_s / done.latency_median_s,
         BENCH_AT_LEAST, 0.9},
    };
    const int n_figures = works ? (int)(sizeof(figures) / sizeof(figures[0])) : 2;
    for (int f = 0; f < n_figures; f++)
        bench_report(b, &figures[f]);
}

/** Plan again with the seconds of a first run, since sleeping takes longer than it says. */
static void run_case(bench *b, const stream_case *of) {
    subject first = {.of = of}, second = {.of = of};
    double seconds[N_UNITS];
    begin(&first, NULL);
    run(&first);
    for (int a = 0; a < N_UNITS; a++)
        seconds[a] = polytile_stream_get_seconds(first.stream, actors[a]);
    polytile_context_destroy(first.ctx);
    begin(&second, seconds);
    run(&second);
    report(b, &second);
    polytile_context_destroy(second.ctx);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "stream", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
