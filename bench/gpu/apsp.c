/* Shortest paths from many sources: within little memory against all of it, on a GPU with the host
 * against the faster of them, and on two GPUs of which one has little memory against one. */
#include "gpu/cases.h"
#include "gpu/paths.h"
#include "gpu/several.h"

#include <stdio.h>

enum { SCALE = 15, N_REPETITIONS = 5, N_TRIALS = 2, PART = 8, MOST_WEIGHTS = 6 };

/** Two ways to be compared. */
typedef struct pair {
    paths_way ours;
    paths_way rival;
} pair;

static int32_t *make_graph(int64_t n_sources, paths *p) {
    paths_make("rmat", SCALE, n_sources, p);
    return paths_allocate_distances(p);
}

static double time_way(const paths_way *w) {
    const double start_s = bench_now_s();
    paths_attach(w);
    paths_launch(w);
    paths_detach(w);
    const double time_s = bench_now_s() - start_s;
    paths_check(w->of, w->distances);
    return time_s;
}

static double time_ours(void *subject) {
    const pair *of = subject;
    return time_way(&of->ours);
}

static double time_rival(void *subject) {
    const pair *of = subject;
    return time_way(&of->rival);
}

/** Compare a way with another one, which ends both. */
static void compare(pair *of, gpu_comparison comparison) {
    bench_times ours = {0}, rival = {0};
    gpu_alternate_few(N_REPETITIONS, time_ours, time_rival, of, &ours, &rival);
    comparison.ours = &ours;
    comparison.rival = &rival;
    gpu_report(&comparison);
    polytile_context_destroy(of->ours.ctx);
    polytile_context_destroy(of->rival.ctx);
}

void apsp_limit(void) {
    paths all;
    pair of;
    gpu_begin(GPU_WAITS_AS_EVER);
    int32_t *distances = make_graph(INT64_C(1) << SCALE, &all);
    paths_open_block(&all, "cuda:0(memory=256MiB)", NULL, distances, &of.ours);
    paths_open_block(&all, "cuda:0", NULL, distances, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 32768, limit 256 MiB",
                                  .against = "no limit",
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.2});
}

/** The median time of some repetitions by a policy. */
static double time_policy(paths *of, const char *devices, const char *policy, int32_t *distances) {
    bench_times times = {0};
    paths_way w;
    paths_open_block(of, devices, policy, distances, &w);
    for (int k = 0; k <= N_TRIALS; k++) {
        const double time_s = time_way(&w);
        if (k > 0)
            bench_add_time(&times, time_s);
    }
    polytile_context_destroy(w.ctx);
    return bench_median(&times);
}

/** The weights of a GPU beside a host that have the least time. */
static void find_best_weights(paths *of, const char *devices, int32_t *distances, char *best,
                              size_t n_bytes) {
    double best_s = 0;
    for (int k = 0, weight = 1; k < MOST_WEIGHTS; k++, weight *= 2) {
        char policy[32];
        snprintf(policy, sizeof policy, "weighted(%d,1)", weight);
        const double time_s = time_policy(of, devices, policy, distances);
        if (k == 0 || time_s < best_s) {
            best_s = time_s;
            snprintf(best, n_bytes, "%s", policy);
        }
    }
}

void apsp_with_host(void) {
    enum { N_SOURCES = 8192 };
    static const char both[] = "cuda:0,host";
    paths all;
    pair of;
    char weights[32];
    gpu_begin(GPU_WAITS_AS_EVER);
    int32_t *distances = make_graph(N_SOURCES, &all);
    const bool is_host_faster =
        time_policy(&all, "host", NULL, distances) < time_policy(&all, "cuda:0", NULL, distances);
    paths_open_block(&all, both, "guided", distances, &of.ours);
    paths_open_block(&all, is_host_faster ? "host" : "cuda:0", NULL, distances, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 8192, GPU and host",
                                  .against = is_host_faster ? "the host alone" : "the GPU alone",
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.02});
    find_best_weights(&all, both, distances, weights, sizeof weights);
    paths_open_block(&all, both, "guided", distances, &of.ours);
    paths_open_block(&all, both, weights, distances, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 8192, GPU and host",
                                  .against = weights,
                                  .relation = BENCH_AT_MOST,
                                  .target = 1.05});
}

/** Two GPUs, one of which may hold an eighth of the data, as fast as possible. */
void apsp_two(void) {
    char devices[SEVERAL_DEVICES_BYTES];
    paths all;
    pair of;
    if (several_count() < 2)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    int32_t *distances = make_graph(INT64_C(1) << SCALE, &all);
    snprintf(devices, sizeof devices, "cuda:0,cuda:1(memory=%lldB)",
             (long long)(4 * all.n_sources * all.n_vertices / PART));
    paths_open_block(&all, devices, NULL, distances, &of.ours);
    paths_open_block(&all, "cuda:0", NULL, distances, &of.rival);
    compare(&of, (gpu_comparison){.name = "apsp 32768, two GPUs, one within 1/8",
                                  .against = "one GPU",
                                  .relation = BENCH_AT_LEAST,
                                  .target = 1.9});
}
