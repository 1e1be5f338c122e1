/* Crauser's algorithm, of which a launcher enqueues a round of some sources at a time, on several
 * streams: auto against the best number of streams; and the faster of that and a thread block a
 * source against the best of all these, and of graphs with WHILE nodes by hand, a source each. All
 * alternate, so that what disturbs one disturbs the others. */
#include "apsp_kernels.h"
#include "gpu/cases.h"
#include "gpu/lanes.h"
#include "gpu/paths.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_SOURCES = 32, N_TO_LEARN = 26, N_REPETITIONS = 9, MOST_VARIANTS = 9 };

/** A way to be timed: the library's, or by hand. */
typedef struct runner {
    paths_way way;
    lanes_by_hand *by_hand; /* NULL: the library's */
    int32_t *distances;     /* owned */
} runner;

/** A way to find them, what it is called, how it is opened, and how long it took. */
typedef struct variant {
    char name[40];
    void (*open)(paths *of, const char *streams, runner *r);
    const char *streams;
    runner runner;
    bench_times times;
} variant;

/** What is found, and by whom. */
typedef struct contest {
    const char *name;
    paths of;
    int n_variants;
    variant variant[MOST_VARIANTS];
} contest;

static void open_lanes(paths *of, const char *streams, runner *r) {
    const polytile_implementation body = apsp_crauser_implementation();
    char device[48];
    snprintf(device, sizeof device, "cuda:0(streams=%s)", streams);
    *r = (runner){.distances = paths_allocate_distances(of)};
    paths_open(of, device, NULL, APSP_CRAUSER_DECLARATION, &body, r->distances, &r->way);
    paths_attach(&r->way);
}

static double time_runner(const runner *r) {
    const double start_s = bench_now_s();
    if (r->by_hand != NULL) {
        GPU_CALL(lanes_by_hand_run(r->by_hand));
    } else {
        paths_launch(&r->way);
        bench_require(polytile_queue_wait(r->way.queue), r->way.ctx);
    }
    return bench_now_s() - start_s;
}

/** With streams=auto, after as many launches as it takes to choose. */
static void open_lanes_that_learnt(paths *of, const char *streams, runner *r) {
    (void)streams;
    open_lanes(of, "auto", r);
    for (int k = 0; k < N_TO_LEARN; k++)
        time_runner(r);
}

static void open_block(paths *of, const char *streams, runner *r) {
    (void)streams;
    *r = (runner){.distances = paths_allocate_distances(of)};
    paths_open_block(of, "cuda:0", NULL, r->distances, &r->way);
    paths_attach(&r->way);
}

static void open_by_hand(paths *of, const char *streams, runner *r) {
    const graph_lists *lists = &of->lists;
    const lanes_graph made = {of->n_vertices, of->n_arcs,    of->n_sources, lists->first,
                              lists->target,  lists->weight, lists->least};
    (void)streams;
    *r = (runner){.distances = paths_allocate_distances(of)};
    GPU_CALL(lanes_by_hand_create(&made, &r->by_hand));
}

/** All ways find the same distances. */
static void close_runner(paths *of, runner *r) {
    if (r->by_hand != NULL) {
        GPU_CALL(lanes_by_hand_destroy(r->by_hand, r->distances));
    } else {
        paths_detach(&r->way);
        polytile_context_destroy(r->way.ctx);
    }
    paths_check(of, r->distances);
    free(r->distances);
}

static void add_variant(contest *c, const variant *added) {
    variant *v = &c->variant[c->n_variants++];
    *v = *added;
    v->open(&c->of, v->streams, &v->runner);
}

static void add_numbers_of_streams(contest *c) {
    static const char *const trials[] = {"1", "2", "4", "8", "16", "32"};
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        variant v = {.open = open_lanes, .streams = trials[k]};
        if (atoll(trials[k]) > c->of.n_sources)
            break;
        snprintf(v.name, sizeof v.name, "streams=%s", trials[k]);
        add_variant(c, &v);
    }
}

static void time_in_turns(contest *c) {
    for (int k = 0; k <= N_REPETITIONS; k++)
        for (int v = 0; v < c->n_variants; v++) {
            const double time_s = time_runner(&c->variant[v].runner);
            if (k > 0)
                bench_add_time(&c->variant[v].times, time_s);
        }
}

/** The variant with the least median of some. */
static const variant *find_best(const contest *c, int first, int end) {
    const variant *best = &c->variant[first];
    for (int v = first + 1; v < end; v++)
        if (bench_median(&c->variant[v].times) < bench_median(&best->times))
            best = &c->variant[v];
    return best;
}

/** Medians and least times in milliseconds a source, to the standard error. */
static void print_times(const contest *c) {
    const double scale = 1e3 / (double)c->of.n_sources;
    for (int v = 0; v < c->n_variants; v++)
        fprintf(stderr, "%s, %s: %.3f ms a source, at least %.3f\n", c->name, c->variant[v].name,
                scale * bench_median(&c->variant[v].times),
                scale * bench_least(&c->variant[v].times));
}

static void report(const contest *c, const variant *ours, const variant *against, double target) {
    char name[56], rival[56];
    snprintf(name, sizeof name, "%s, %s", c->name, ours->name);
    snprintf(rival, sizeof rival, "the best, %s", against->name);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = rival,
                                 .ours = &ours->times,
                                 .rival = &against->times,
                                 .relation = BENCH_AT_MOST,
                                 .target = target});
}

static void compare_graph(const char *name, const char *generator, int scale, int64_t n_sources) {
    contest c = {.name = name};
    gpu_begin(GPU_WAITS_AS_EVER);
    paths_make(generator, scale, n_sources, &c.of);
    add_numbers_of_streams(&c);
    const int in_auto = c.n_variants;
    add_variant(&c, &(variant){.name = "streams=auto", .open = open_lanes_that_learnt});
    add_variant(&c, &(variant){.name = "a thread block a source", .open = open_block});
    const int n_ours = c.n_variants;
    if (lanes_has_while_nodes())
        add_variant(&c, &(variant){.name = "graphs by hand", .open = open_by_hand});
    time_in_turns(&c);
    print_times(&c);
    report(&c, &c.variant[in_auto], find_best(&c, 0, in_auto), 1.05);
    report(&c, find_best(&c, in_auto, n_ours), find_best(&c, 0, c.n_variants), 1.1);
    for (int v = 0; v < c.n_variants; v++)
        close_runner(&c.of, &c.variant[v].runner);
}

void apsp_lanes_rmat(void) {
    compare_graph("R-MAT 2^20", "rmat", 20, N_SOURCES);
}

void apsp_lanes_uniform(void) {
    compare_graph("uniform 2^20", "uniform", 20, N_SOURCES);
}

void apsp_lanes_small(void) {
    compare_graph("R-MAT 2^14", "rmat", 14, N_SOURCES);
}

/** Its paths take thousands of rounds; so there are fewer of them. */
void apsp_lanes_grid(void) {
    compare_graph("grid 256x256", "grid", 16, N_SOURCES / 4);
}
