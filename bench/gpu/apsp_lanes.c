/* Crauser's algorithm, of which a launcher enqueues a round of some sources at a time, on several
 * streams: auto against the best number of streams; and the faster of that and a thread block a
 * source against the best of all these, and of graphs with WHILE nodes by hand, a source each. */
#include "apsp_kernels.h"
#include "gpu/cases.h"
#include "gpu/lanes.h"
#include "gpu/paths.h"

#include <stdio.h>
#include <stdlib.h>

enum { N_SOURCES = 32, N_TO_LEARN = 26 };

/** What is found, and how often each way finds it. */
typedef struct contest {
    const char *name;
    int n_repetitions;
    paths of;
} contest;

/** A way to be timed: the library's, or by hand. */
typedef struct runner {
    paths_way way;
    lanes_by_hand *by_hand; /* NULL: the library's */
    int32_t *distances;     /* owned */
} runner;

typedef struct rivals {
    runner ours;
    runner rival;
} rivals;

/** What a rival is called, how it is opened, and how long it takes. */
typedef struct variant {
    char name[40];
    void (*open)(contest *c, const char *streams, runner *r);
    const char *streams;
    double time_s;
} variant;

static void open_lanes(contest *c, const char *streams, runner *r) {
    const polytile_implementation body = apsp_crauser_implementation();
    char device[48];
    snprintf(device, sizeof device, "cuda:0(streams=%s)", streams);
    *r = (runner){.distances = paths_allocate_distances(&c->of)};
    paths_open(&c->of, device, NULL, APSP_CRAUSER_DECLARATION, &body, r->distances, &r->way);
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
static void open_lanes_that_learnt(contest *c, const char *streams, runner *r) {
    (void)streams;
    open_lanes(c, "auto", r);
    for (int k = 0; k < N_TO_LEARN; k++)
        time_runner(r);
}

static void open_block(contest *c, const char *streams, runner *r) {
    (void)streams;
    *r = (runner){.distances = paths_allocate_distances(&c->of)};
    paths_open_block(&c->of, "cuda:0", NULL, r->distances, &r->way);
    paths_attach(&r->way);
}

static void open_by_hand(contest *c, const char *streams, runner *r) {
    const graph_lists *lists = &c->of.lists;
    const lanes_graph made = {c->of.n_vertices, c->of.n_arcs,  c->of.n_sources, lists->first,
                              lists->target,    lists->weight, lists->least};
    (void)streams;
    *r = (runner){.distances = paths_allocate_distances(&c->of)};
    GPU_CALL(lanes_by_hand_create(&made, &r->by_hand));
}

/** All ways find the same distances. */
static void close_runner(contest *c, runner *r) {
    if (r->by_hand != NULL) {
        GPU_CALL(lanes_by_hand_destroy(r->by_hand, r->distances));
    } else {
        paths_detach(&r->way);
        polytile_context_destroy(r->way.ctx);
    }
    paths_check(&c->of, r->distances);
    free(r->distances);
}

/** The median time of a variant, in milliseconds a source to the standard error. */
static void time_variant(contest *c, variant *v) {
    bench_times times = {0};
    runner r;
    v->open(c, v->streams, &r);
    for (int k = 0; k <= c->n_repetitions; k++) {
        const double time_s = time_runner(&r);
        if (k > 0)
            bench_add_time(&times, time_s);
    }
    close_runner(c, &r);
    v->time_s = bench_median(&times);
    fprintf(stderr, "%s, %s: %.3f ms a source\n", c->name, v->name,
            1e3 * v->time_s / (double)c->of.n_sources);
}

static variant find_best_streams(contest *c) {
    static const char *const trials[] = {"1", "2", "4", "8", "16", "32"};
    variant best = {.time_s = 0};
    for (size_t k = 0; k < sizeof trials / sizeof *trials; k++) {
        variant v = {.open = open_lanes, .streams = trials[k]};
        if (atoll(trials[k]) > c->of.n_sources)
            break;
        snprintf(v.name, sizeof v.name, "streams=%s", trials[k]);
        time_variant(c, &v);
        if (k == 0 || v.time_s < best.time_s)
            best = v;
    }
    return best;
}

/** The library's ways, whose kernel a program may choose. */
static variant find_ours(contest *c) {
    variant lanes = {.name = "streams=auto", .open = open_lanes_that_learnt};
    variant block = {.name = "a thread block a source", .open = open_block};
    time_variant(c, &lanes);
    time_variant(c, &block);
    return lanes.time_s < block.time_s ? lanes : block;
}

static variant find_best(contest *c, const variant *lanes, const variant *ours) {
    variant by_hand = {.name = "graphs by hand", .open = open_by_hand};
    variant best = lanes->time_s < ours->time_s ? *lanes : *ours;
    if (lanes_has_while_nodes())
        time_variant(c, &by_hand);
    return lanes_has_while_nodes() && by_hand.time_s < best.time_s ? by_hand : best;
}

static double time_ours(void *subject) {
    return time_runner(&((const rivals *)subject)->ours);
}

static double time_rival(void *subject) {
    return time_runner(&((const rivals *)subject)->rival);
}

static void compare(contest *c, const variant *ours, const variant *against, double target) {
    bench_times ours_times = {0}, rival_times = {0};
    rivals of;
    char name[56], rival[56];
    snprintf(name, sizeof name, "%s, %s", c->name, ours->name);
    snprintf(rival, sizeof rival, "the best, %s", against->name);
    ours->open(c, ours->streams, &of.ours);
    against->open(c, against->streams, &of.rival);
    gpu_alternate_few(2 * c->n_repetitions, time_ours, time_rival, &of, &ours_times, &rival_times);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = rival,
                                 .ours = &ours_times,
                                 .rival = &rival_times,
                                 .relation = BENCH_AT_MOST,
                                 .target = target});
    close_runner(c, &of.ours);
    close_runner(c, &of.rival);
}

static void compare_graph(const char *generator, int scale, int64_t n_sources, contest *c) {
    const variant in_auto = {.name = "streams=auto", .open = open_lanes_that_learnt};
    gpu_begin(GPU_WAITS_AS_EVER);
    paths_make(generator, scale, n_sources, &c->of);
    const variant best_streams = find_best_streams(c);
    const variant ours = find_ours(c);
    const variant best = find_best(c, &best_streams, &ours);
    compare(c, &in_auto, &best_streams, 1.05);
    compare(c, &ours, &best, 1.1);
}

void apsp_lanes_rmat(void) {
    contest c = {.name = "R-MAT 2^20", .n_repetitions = 5};
    compare_graph("rmat", 20, N_SOURCES, &c);
}

void apsp_lanes_uniform(void) {
    contest c = {.name = "uniform 2^20", .n_repetitions = 5};
    compare_graph("uniform", 20, N_SOURCES, &c);
}

void apsp_lanes_small(void) {
    contest c = {.name = "R-MAT 2^14", .n_repetitions = 5};
    compare_graph("rmat", 14, N_SOURCES, &c);
}

/** Its paths take thousands of rounds; so there are fewer of them. */
void apsp_lanes_grid(void) {
    contest c = {.name = "grid 256x256", .n_repetitions = 5};
    compare_graph("grid", 16, N_SOURCES / 4, &c);
}
