/* Thread blocks of the tuning table against the best of all there are, and against the one with
 * which most threads run at once; with --rows also the rows of a table that has the best ones. */
#include "base/clock.h"
#include "gpu/block_sweep/sweep.h"
#include "launch/tuning/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double least_geomean = 0.97;

/** The table is not below the occupancy's block if it takes at most this much longer, which is what
 * times differ by from run to run. */
static const double most_noise = 0.01;

static const char *block_text(const pti_cuda_extents *block, int n_dims, char *text, size_t n) {
    if (n_dims == 1)
        snprintf(text, n, "%lld", (long long)block->x);
    else if (n_dims == 2)
        snprintf(text, n, "%lld, %lld", (long long)block->y, (long long)block->x);
    else
        snprintf(text, n, "%lld, %lld, %lld", (long long)block->z, (long long)block->y,
                 (long long)block->x);
    return text;
}

static void print_time(FILE *out, const sweep_time *time, int n_dims) {
    char text[64];
    fprintf(out, " %-11s %-6s %8.4f", block_text(&time->block, n_dims, text, sizeof text),
            pti_cache_words[time->cache], 1e3 * time->time_s);
}

static void print_head(FILE *out) {
    fprintf(out, "%-12s %-27s %-27s %-27s %s\n", "kernel", " best (block, cache, ms)", " table",
            " occupancy", "best/table");
}

static void print_result(FILE *out, const sweep_kernel *kernel, const sweep_result *result) {
    fprintf(out, "%-12s", kernel->name);
    print_time(out, &result->best, kernel->n_dims);
    print_time(out, &result->table, kernel->n_dims);
    print_time(out, &result->occupancy, kernel->n_dims);
    fprintf(out, "    %.3f%s\n", result->best.time_s / result->table.time_s,
            result->has_row ? "" : "  (no row)");
    fflush(out);
}

/** The library's name of an architecture, or one made of the compute capability. */
static void name_architecture(int capability, char *name, size_t n_bytes) {
    pti_tuning_table *table;
    pti_text why = {0};
    int line;
    snprintf(name, n_bytes, "sm_%d", capability);
    if (pti_tuning_table_read((const char *)pti_tuning_library_text, pti_tuning_library_bytes,
                              &table, &line, &why) == POLYTILE_OK) {
        for (int a = 0; a < table->n_architectures; a++) {
            for (int k = 0; k < table->architecture[a].n_capabilities; k++) {
                if (table->architecture[a].capability[k] == capability)
                    snprintf(name, n_bytes, "%s", table->architecture[a].name);
            }
        }
        pti_tuning_table_free(table);
    }
    pti_text_free(&why);
}

/** Whether an earlier kernel gave the row for this one. */
static bool has_earlier(int k) {
    for (int e = 0; e < k; e++) {
        if (sweep_kernels[e].n_dims == sweep_kernels[k].n_dims &&
            memcmp(&sweep_kernels[e].character, &sweep_kernels[k].character,
                   sizeof sweep_kernels[k].character) == 0)
            return true;
    }
    return false;
}

static void print_row(const sweep_kernel *kernel, const sweep_time *best, const char *architecture,
                      const char *gpu_name, bool is_last) {
    pti_traits traits = pti_traits_of(&kernel->character);
    char text[64];
    printf("    { \"architecture\": \"%s\"", architecture);
    for (int t = 0; t < PTI_N_TRAITS; t++) {
        if (traits.level[t] != 0)
            printf(", \"%s\": \"%s\"", pti_trait_texts[t].name,
                   pti_trait_texts[t].words[traits.level[t]]);
    }
    printf(", \"block\": [%s]", block_text(&best->block, kernel->n_dims, text, sizeof text));
    if (best->cache != PTI_CACHE_NONE)
        printf(", \"cache\": \"%s\"", pti_cache_words[best->cache]);
    printf(",\n      \"source\": \"bench/block_sweep, %s, %s\" }%s\n", kernel->name, gpu_name,
           is_last ? "" : ",");
}

static void print_rows(const sweep_gpu *gpu, const sweep_result *results) {
    char architecture[PTI_TUNING_NAME_BYTES];
    struct cudaDeviceProp properties;
    int last = 0;
    name_architecture(gpu->cuda->capability, architecture, sizeof architecture);
    if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess)
        strcpy(properties.name, "unknown GPU");
    for (int k = 0; k < SWEEP_N_KERNELS; k++)
        last = has_earlier(k) ? last : k;
    for (int k = 0; k < SWEEP_N_KERNELS; k++) {
        if (!has_earlier(k))
            print_row(&sweep_kernels[k], &results[k].best, architecture, properties.name,
                      k == last);
    }
}

/** Print the figures of all kernels together; whether they are reached. */
static bool judge(FILE *out, const sweep_result *results, double taken_s) {
    double sum = 0;
    int n_below = 0;
    for (int k = 0; k < SWEEP_N_KERNELS; k++) {
        sum += log(results[k].best.time_s / results[k].table.time_s);
        n_below += results[k].table.time_s > (1 + most_noise) * results[k].occupancy.time_s;
    }
    double geomean = exp(sum / SWEEP_N_KERNELS);
    bool is_reached = geomean >= least_geomean && n_below == 0;
    fprintf(out,
            "geometric mean %.3f (>= %.2f), below the occupancy's block %d times (0): %s; %.1f s\n",
            geomean, least_geomean, n_below, is_reached ? "reached" : "MISSED", taken_s);
    return is_reached;
}

/** Blocks that were measured before must not stand in for the table's. */
static void ignore_cache(void) {
    setenv("POLYTILE_CACHE", "off", 1);
}

int main(int argc, char **argv) {
    sweep_gpu gpu;
    sweep_result results[SWEEP_N_KERNELS];
    bool has_rows = argc == 2 && strcmp(argv[1], "--rows") == 0;
    FILE *out = has_rows ? stderr : stdout;
    if (argc > 1 && !has_rows) {
        fprintf(stderr, "usage: %s [--rows]\n", argv[0]);
        return 2;
    }
    ignore_cache();
    sweep_open(&gpu);
    double start_s = pti_now_s();
    print_head(out);
    for (int k = 0; k < SWEEP_N_KERNELS; k++) {
        results[k] = sweep_run(&gpu, &sweep_kernels[k]);
        print_result(out, &sweep_kernels[k], &results[k]);
    }
    bool is_reached = judge(out, results, pti_now_s() - start_s);
    if (has_rows)
        print_rows(&gpu, results);
    sweep_close(&gpu);
    return is_reached ? EXIT_SUCCESS : EXIT_FAILURE;
}
