#ifndef BENCH_GPU_REPORT_H
#define BENCH_GPU_REPORT_H

#include "common/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a case found out. Each case runs in a process of its own; its rows are in memory that it
 * shares with the process that prints the table, and survive however the case ends. */

enum { GPU_MOST_ROWS = 16 };

/** Ours against a rival or a ceiling. */
typedef struct gpu_comparison {
    const char *name;    /* what was measured: "vector add, pinned, limit 1/8" */
    const char *against; /* what it is compared with: "plain copies both ways" */
    const bench_times *ours;
    const bench_times *rival;
    bench_relation relation; /* at least: of the rival's time over ours, a speed; else of ours over
                                the rival's */
    double target;
    double plan_s; /* what planning took beforehand; 0: nothing was planned */
} gpu_comparison;

/** A comparison's figures; all times in seconds. */
typedef struct gpu_row {
    char name[56];
    char against[40];
    double ours_median_s;
    double ours_least_s;
    double rival_median_s;
    double rival_least_s;
    double ratio; /* of the medians */
    bench_relation relation;
    double target;
    double plan_s;
} gpu_row;

typedef struct gpu_results {
    int n_rows;
    gpu_row row[GPU_MOST_ROWS];
    char failure[1024]; /* what ended the case; empty: nothing */
} gpu_results;

/** Where this process's rows go. */
void gpu_report_into(gpu_results *results);

void gpu_report(const gpu_comparison *comparison);

/** End this process's case with a text that says what failed. */
__attribute__((noreturn, format(printf, 1, 2))) void gpu_fail(const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
