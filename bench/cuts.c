/* Granulometry on two units: the mapping that the library finds against all cuts by hand, the
 * first n openings on one unit and all others on the other one. Boulos et al. 2012, section 6.1,
 * have 28 of 40 on one of their GPUs. */
#include "common/bench.h"
#include "granulometry_kernels.h"

#include <polytile/stream.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: cuts [DEVICE DEVICE [EXTENT [SIZES]]] [--json FILE]\n"
                            "  DEVICE   as polytile devices has it, 'host(threads=1)' and\n"
                            "           'host(memory=1GiB,threads=1)' without any\n"
                            "  EXTENT   of the volume in each dimension, 24\n"
                            "  SIZES    openings, 40\n";

enum { N_FRAMES = 16, N_ROUNDS = 3, MOST_SIZES = 1000 };

/** What is cut. */
typedef struct cuts {
    const char *device[2];
    int64_t extent;
    int n_sizes;
    uint8_t *volume;                  /* owned */
    int64_t left[MOST_SIZES + 1];     /* of the frame that came last */
    int64_t expected[MOST_SIZES + 1]; /* of the first run */
    double erode_s[MOST_SIZES + 1], dilate_s[MOST_SIZES + 1], count_s[MOST_SIZES + 1];
    bool has_seconds;
} cuts;

/** How openings are mapped: the first so many on one unit, and the others on the other one. */
enum { ALL_ON_ONE = -1, AUTOMATIC = -2 };

/** What a mapping takes a frame. */
typedef struct outcome {
    double predicted_s;
    double measured_s;
} outcome;

/** A filter or a counter of one size, with its unit. */
static void write_actor(FILE *to, const cuts *of, const char *name, const char *declaration,
                        int size, int n_on_first) {
    const long long n = of->extent;
    fprintf(to, "%s%d [kernel=\"%s\", domain=\"%lldx%lldx%lld\", on=%s", name, size, declaration, n,
            n, n,
            n_on_first == AUTOMATIC                          ? "auto"
            : n_on_first == ALL_ON_ONE || size <= n_on_first ? "a"
                                                             : "b");
    if (strstr(declaration, "ni") != NULL)
        fprintf(to, ", repeat=%d, params=\"ni=%lld,nj=%lld,nk=%lld\"", size, n, n, n);
    fprintf(to, "];\n");
}

/** An opening is as many erosions, as many dilations, and a count. */
static void write_opening(FILE *to, const cuts *of, int size, int n_on_first) {
    const long long n = of->extent;
    fprintf(to,
            "{ node [type=u8, extents=\"%lldx%lldx%lld\"]; eroded%d; opened%d }\n"
            "left%d [type=i64, extents=1];\n",
            n, n, n, size, size, size);
    write_actor(to, of, "erode", ERODE_DECLARATION, size, n_on_first);
    write_actor(to, of, "dilate", DILATE_DECLARATION, size, n_on_first);
    write_actor(to, of, "count", COUNT_DECLARATION, size, n_on_first);
    fprintf(to,
            "volume -> erode%d [as=A]; erode%d -> eroded%d [as=B]; eroded%d -> dilate%d [as=A];\n"
            "dilate%d -> opened%d [as=B]; opened%d -> count%d [as=A]; count%d -> left%d [as=c];\n",
            size, size, size, size, size, size, size, size, size, size, size);
}

static char *write_graph(const cuts *of, int n_on_first) {
    const long long n = of->extent;
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        abort();
    fprintf(to, "digraph { volume [type=u8, extents=\"%lldx%lldx%lld\"];\n", n, n, n);
    for (int s = 1; s <= of->n_sizes; s++)
        write_opening(to, of, s, n_on_first);
    fprintf(to, "}\n");
    fclose(to);
    return text;
}

static char *write_machine(const cuts *of) {
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (to == NULL)
        abort();
    fprintf(to, "digraph { a [device=\"%s\"]; b [device=\"%s\"] }", of->device[0], of->device[1]);
    fclose(to);
    return text;
}

/* One mapping. */

static void set_seconds(const cuts *of, polytile_context *ctx, polytile_graph *graph) {
    char name[32];
    for (int s = 1; of->has_seconds && s <= of->n_sizes; s++) {
        snprintf(name, sizeof name, "erode%d", s);
        bench_require(polytile_graph_set_seconds(graph, name, of->erode_s[s]), ctx);
        snprintf(name, sizeof name, "dilate%d", s);
        bench_require(polytile_graph_set_seconds(graph, name, of->dilate_s[s]), ctx);
        snprintf(name, sizeof name, "count%d", s);
        bench_require(polytile_graph_set_seconds(graph, name, of->count_s[s]), ctx);
    }
}

/** Note what actors took, for predictions. */
static void get_seconds(cuts *of, polytile_stream *stream) {
    char name[32];
    for (int s = 1; s <= of->n_sizes; s++) {
        snprintf(name, sizeof name, "erode%d", s);
        of->erode_s[s] = polytile_stream_get_seconds(stream, name);
        snprintf(name, sizeof name, "dilate%d", s);
        of->dilate_s[s] = polytile_stream_get_seconds(stream, name);
        snprintf(name, sizeof name, "count%d", s);
        of->count_s[s] = polytile_stream_get_seconds(stream, name);
    }
    of->has_seconds = true;
}

static polytile_graph_plan *plan_mapping(const cuts *of, polytile_context *ctx, int n_on_first,
                                         polytile_graph **graph) {
    polytile_machine *machine = NULL;
    polytile_graph_plan *plan = NULL;
    char *text = write_graph(of, n_on_first), *units = write_machine(of);
    bench_require(polytile_graph_parse(ctx, text, graph), ctx);
    bench_require(polytile_graph_bind(*graph, "erode", erode_implementation()), ctx);
    bench_require(polytile_graph_bind(*graph, "dilate", dilate_implementation()), ctx);
    bench_require(polytile_graph_bind(*graph, "count", count_implementation()), ctx);
    bench_require(polytile_machine_parse(ctx, units, &machine), ctx);
    set_seconds(of, ctx, *graph);
    bench_require(polytile_graph_plan_create(*graph, machine, NULL, &plan), ctx);
    free(text);
    free(units);
    return plan;
}

/** Stream frames, with as many in flight as always may be; returns the seconds of one, from the
 * first push to the last pull: of so few frames the time between finishes is no period. */
static double stream_frames(cuts *of, polytile_context *ctx, polytile_stream *stream) {
    const int64_t extents[] = {of->extent, of->extent, of->extent}, one = 1;
    const int64_t depth = polytile_stream_get_depth(stream), n_frames = N_FRAMES + 2 * depth;
    polytile_array *volume = NULL, *left[MOST_SIZES] = {0};
    bench_require(polytile_array_wrap(ctx, "volume", POLYTILE_U8, 3, extents, of->volume, &volume),
                  ctx);
    for (int s = 1; s <= of->n_sizes; s++)
        bench_require(
            polytile_array_wrap(ctx, "left", POLYTILE_I64, 1, &one, &of->left[s], &left[s - 1]),
            ctx);
    const double begin_s = bench_now_s();
    for (int64_t f = 0; f < n_frames + depth; f++) {
        if (f >= depth)
            bench_require(polytile_stream_pull(stream, of->n_sizes, left, NULL), ctx);
        if (f < n_frames)
            bench_require(polytile_stream_push(stream, 1, &volume, NULL), ctx);
    }
    const double taken_s = bench_now_s() - begin_s;
    for (int s = 1; s <= of->n_sizes; s++)
        polytile_array_destroy(left[s - 1]);
    polytile_array_destroy(volume);
    return taken_s / (double)n_frames;
}

/** All mappings count the same. */
static void compare_counts(cuts *of) {
    const size_t n_bytes = ((size_t)of->n_sizes + 1) * sizeof *of->left;
    if (!of->has_seconds)
        memcpy(of->expected, of->left, n_bytes);
    if (memcmp(of->expected, of->left, n_bytes) == 0)
        return;
    fprintf(stderr, "cuts: two mappings count differently\n");
    exit(1);
}

/** Plan and run a mapping once more; the least period counts. */
static void try_mapping(cuts *of, int n_on_first, outcome *best) {
    polytile_context *ctx = NULL;
    polytile_graph *graph = NULL;
    polytile_stream *stream = NULL;
    polytile_graph_summary summary;
    bench_require(polytile_context_create(&ctx), NULL);
    polytile_graph_plan *plan = plan_mapping(of, ctx, n_on_first, &graph);
    polytile_graph_plan_get_summary(plan, &summary);
    bench_require(polytile_stream_create(graph, plan, NULL, &stream), ctx);
    const double measured_s = stream_frames(of, ctx, stream);
    compare_counts(of);
    if (!of->has_seconds)
        get_seconds(of, stream);
    best->predicted_s = summary.period_s;
    if (best->measured_s == 0 || measured_s < best->measured_s)
        best->measured_s = measured_s;
    polytile_context_destroy(ctx);
}

/* All cuts. */

static void report(bench *b, const char *subject, const outcome *of) {
    bench_report(
        b, &(bench_figure){subject, "predicted_ms", 1e3 * of->predicted_s, BENCH_NO_TARGET, 0});
    bench_report(b,
                 &(bench_figure){subject, "measured_ms", 1e3 * of->measured_s, BENCH_NO_TARGET, 0});
}

/** Each mapping once a round, since other work on the machine comes and goes. The first run says
 * what actors take. */
static void try_all(cuts *of, outcome *one, outcome *cut, outcome *automatic) {
    outcome unprofiled = {0};
    try_mapping(of, ALL_ON_ONE, &unprofiled);
    for (int round = 0; round < N_ROUNDS; round++) {
        try_mapping(of, ALL_ON_ONE, one);
        try_mapping(of, AUTOMATIC, automatic);
        for (int n = 1; n < of->n_sizes; n++)
            try_mapping(of, n, &cut[n]);
    }
}

static void try_cuts(bench *b, cuts *of) {
    int best_predicted = 1, best_measured = 1;
    outcome *cut = calloc((size_t)of->n_sizes + 1, sizeof *cut);
    outcome one = {0}, automatic = {0};
    char subject[64];
    if (cut == NULL)
        abort();
    try_all(of, &one, cut, &automatic);
    report(b, "one unit", &one);
    for (int n = 1; n < of->n_sizes; n++) {
        snprintf(subject, sizeof subject, "%d and %d openings", n, of->n_sizes - n);
        report(b, subject, &cut[n]);
        if (cut[n].predicted_s < cut[best_predicted].predicted_s)
            best_predicted = n;
        if (cut[n].measured_s < cut[best_measured].measured_s)
            best_measured = n;
    }
    report(b, "automatic", &automatic);
    bench_report(
        b, &(bench_figure){"best cut", "openings_predicted", best_predicted, BENCH_NO_TARGET, 0});
    bench_report(
        b, &(bench_figure){"best cut", "openings_measured", best_measured, BENCH_NO_TARGET, 0});
    bench_report(b, &(bench_figure){"automatic over best cut", "predicted",
                                    automatic.predicted_s / cut[best_predicted].predicted_s,
                                    BENCH_AT_MOST, 1.05});
    bench_report(b, &(bench_figure){"automatic over best cut", "measured",
                                    automatic.measured_s / cut[best_measured].measured_s,
                                    BENCH_AT_MOST, 1.05});
    bench_report(b, &(bench_figure){"one unit over automatic", "measured",
                                    one.measured_s / automatic.measured_s, BENCH_NO_TARGET, 0});
    free(cut);
}

/** Some boxes of many sizes. */
static void draw_volume(cuts *of) {
    const int64_t n = of->extent;
    of->volume = calloc((size_t)(n * n * n), 1);
    if (of->volume == NULL)
        abort();
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int64_t k = 0; k < n; k++)
                of->volume[(i * n + j) * n + k] = (i * j + k) % 11 > 2 && i % 17 > 1 && k % 13 > 0;
}

/** Read what stands before --json; returns how many arguments that is, -1: they are wrong. */
static int read_arguments(cuts *of, int argc, char **argv) {
    int n = 0;
    while (n + 1 < argc && strcmp(argv[n + 1], "--json") != 0)
        n++;
    if (n == 1 || n > 4)
        return -1;
    for (int d = 0; n > 1 && d < 2; d++)
        of->device[d] = argv[d + 1];
    of->extent = n > 2 ? atoll(argv[3]) : of->extent;
    of->n_sizes = n > 3 ? atoi(argv[4]) : of->n_sizes;
    return of->extent < 1 || of->n_sizes < 2 || of->n_sizes > MOST_SIZES ? -1 : n;
}

int main(int argc, char **argv) {
    static cuts of = {
        .device = {"host(threads=1)", "host(memory=1GiB,threads=1)"}, .extent = 24, .n_sizes = 40};
    bench b;
    const int n = read_arguments(&of, argc, argv);
    if (n < 0) {
        fputs(usage, stderr);
        return 2;
    }
    if (!bench_begin(&b, "cuts", argc - n, argv + n))
        return 2;
    draw_volume(&of);
    try_cuts(&b, &of);
    free(of.volume);
    return bench_end(&b);
}
