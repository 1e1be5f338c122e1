/* What planning a graph of a hundred actors takes, and what a stream of a million frames adds to
 * the memory of the program. Plans are short, and other work disturbs them: the least time counts.
 */
#include "common/bench.h"
#include <polytile/graph.h>
#include <polytile/stream.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { N_ACTORS = 100, N_FRAMES = 1000000, FIRST_FRAMES = 10000, TEXT_BYTES = 1 << 16 };

/** How actors follow each other. */
typedef enum graph_shape { SHAPE_ROW, SHAPE_PAIRS, SHAPE_MESH, N_SHAPES } graph_shape;
static const char *const shape_names[N_SHAPES] = {"a row", "pairs", "a mesh of ten times ten"};

typedef struct machine_case {
    const char *name;
    const char *text;
} machine_case;

static const machine_case machines[] = {
    {"one GPU", "digraph { a [device=\"cuda:0\"] }"},
    {"two GPUs", "digraph { a [device=\"cuda:0\"]; b [device=\"cuda:1\"] }"},
    {"two GPUs and the host", "digraph { a [device=\"cuda:0\"]; b [device=\"cuda:1\"]; h "
                              "[device=host] }"},
};
enum { N_MACHINES = sizeof machines / sizeof *machines };

/** A text that grows. */
typedef struct text_writer {
    char *data;
    size_t length;
} text_writer;

static void add_text(text_writer *to, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    to->length +=
        (size_t)vsnprintf(to->data + to->length, TEXT_BYTES - to->length, format, arguments);
    va_end(arguments);
}

/** The actors whose results an actor reads; returns how many. */
static int list_before(graph_shape shape, int actor, int *before) {
    int n = 0;
    if (shape == SHAPE_ROW && actor > 0)
        before[n++] = actor - 1;
    if (shape == SHAPE_PAIRS && actor % 2 == 1)
        before[n++] = actor - 1;
    if (shape == SHAPE_MESH && actor % 10 > 0)
        before[n++] = actor - 1;
    if (shape == SHAPE_MESH && actor >= 10)
        before[n++] = actor - 10;
    return n;
}

#define FRAME "[type=f32, extents=\"512x512\"]"

/** Actors of 1 to 7 ms on frames of a megabyte. */
static void write_graph(graph_shape shape, text_writer *to) {
    add_text(to, "digraph { x " FRAME ";\n");
    for (int a = 0; a < N_ACTORS; a++) {
        int before[2];
        const int n = list_before(shape, a, before);
        add_text(to,
                 "y%d " FRAME
                 "; k%d [kernel=\"k[i,j]: in p[i,j]%s; out q[i,j]\", seconds=\"%dms\"];\n",
                 a, a, n == 2 ? ", r[i,j]" : "", 1 + a * 5 % 7);
        if (n == 0)
            add_text(to, "x -> k%d [as=p]; ", a);
        for (int b = 0; b < n; b++)
            add_text(to, "y%d -> k%d [as=%c]; ", before[b], a, b == 0 ? 'p' : 'r');
        add_text(to, "k%d -> y%d [as=q];\n", a, a);
    }
    add_text(to, "}\n");
}

static void plan_case(bench *b, graph_shape shape, const machine_case *on) {
    char name[64];
    text_writer text = {.data = malloc(TEXT_BYTES)};
    polytile_context *ctx = NULL;
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_summary summary = {0};
    bench_times times = {0};
    if (text.data == NULL)
        exit(2);
    write_graph(shape, &text);
    bench_require(polytile_context_create(&ctx), NULL);
    bench_require(polytile_graph_parse(ctx, text.data, &graph), ctx);
    bench_require(polytile_machine_parse(ctx, on->text, &machine), ctx);
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        polytile_graph_plan *plan = NULL;
        bench_require(polytile_graph_plan_create(graph, machine, NULL, &plan), ctx);
        polytile_graph_plan_get_summary(plan, &summary);
        bench_add_time(&times, summary.plan_seconds);
        polytile_graph_plan_destroy(plan);
    }
    snprintf(name, sizeof name, "%s, %s", shape_names[shape], on->name);
    bench_report(b, &(bench_figure){name, "plan_ms", 1e3 * bench_least(&times), BENCH_AT_MOST, 10});
    bench_report(b, &(bench_figure){name, "period_of_bound", summary.period_s / summary.bound_s,
                                    BENCH_AT_MOST, 1.03});
    polytile_context_destroy(ctx);
    free(text.data);
}

/* A million frames. */

static int hand_on(const polytile_sub_kernel *launch) {
    memcpy(launch->views[1].origin, launch->views[0].origin, sizeof(float));
    return 0;
}

/** Memory that is resident, in KiB, without that of files, such as of libraries, of which the
 * kernel maps some pages more at any time; 0 where /proc is not. */
static long long resident_kib(void) {
    long long kib = 0;
    char line[256];
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL && sscanf(line, "Anonymous: %lld kB", &kib) != 1)
        kib = 0;
    fclose(file);
    return kib;
}

static polytile_stream *begin_stream(polytile_context *ctx) {
    static const polytile_implementation implementation = {.host_launcher = hand_on};
    polytile_graph *graph = NULL;
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    polytile_stream *stream = NULL;
    bench_require(polytile_graph_parse(ctx,
                                       "digraph { { node [type=f32, extents=1]; x; y; z }\n"
                                       "{ node [kernel=\"k[i]: in p[i]; out q[i]\", "
                                       "seconds=\"1us\"]; A [on=a]; B [on=b] }\n"
                                       "x -> A [as=p]; A -> y [as=q]; y -> B [as=p]; "
                                       "B -> z [as=q] }",
                                       &graph),
                  ctx);
    bench_require(polytile_graph_bind(graph, "k", &implementation), ctx);
    bench_require(polytile_machine_parse(ctx,
                                         "digraph { a [device=\"host(threads=1)\"]; "
                                         "b [device=\"host(threads=2)\"] }",
                                         &machine),
                  ctx);
    bench_require(polytile_graph_plan_create(graph, machine, NULL, &plan), ctx);
    bench_require(polytile_stream_create(graph, plan, NULL, &stream), ctx);
    return stream;
}

static void stream_case(bench *b) {
    const int64_t one = 1;
    float in = 0, out = 0;
    int64_t n_wrong = 0;
    long long first_kib = 0;
    polytile_context *ctx = NULL;
    polytile_array *x = NULL, *z = NULL;
    bench_require(polytile_context_create(&ctx), NULL);
    polytile_stream *stream = begin_stream(ctx);
    const int64_t depth = polytile_stream_get_depth(stream);
    bench_require(polytile_array_wrap(ctx, "in", POLYTILE_F32, 1, &one, &in, &x), ctx);
    bench_require(polytile_array_wrap(ctx, "out", POLYTILE_F32, 1, &one, &out, &z), ctx);
    for (int64_t f = 0; f < N_FRAMES + depth; f++) {
        if (f >= depth)
            bench_require(polytile_stream_pull(stream, 1, &z, NULL), ctx);
        n_wrong += f >= depth && out != (float)(f - depth);
        in = (float)f;
        if (f < N_FRAMES)
            bench_require(polytile_stream_push(stream, 1, &x, NULL), ctx);
        if (f == FIRST_FRAMES)
            first_kib = resident_kib();
    }
    const double more = (double)(resident_kib() - first_kib);
    const char *name = "a million frames, two hosts";
    bench_report(b, &(bench_figure){name, "wrong_frames", (double)n_wrong, BENCH_AT_MOST, 0});
    bench_report(b, &(bench_figure){name, "more_resident_KiB", more, BENCH_AT_MOST, 0});
    polytile_context_destroy(ctx);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "graph", argc, argv))
        return 2;
    for (int shape = 0; shape < N_SHAPES; shape++)
        for (int m = 0; m < N_MACHINES; m++)
            plan_case(&b, (graph_shape)shape, &machines[m]);
    stream_case(&b);
    return bench_end(&b);
}
