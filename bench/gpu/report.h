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

/** A comparison's figures; all times in seconds, what is no time in its unit. */
typedef struct gpu_row {
    char name[56];
    char against[40];
    char unit[4];
    double ours_median;
    double ours_least;
    double rival_median;
    double rival_least;
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

/** Report what is no time, such as "GB": both sides are in this unit. */
void gpu_report_in(const char *unit, const gpu_comparison *comparison);

/** Report what was measured against one fixed figure in the same unit, such as what a call may take
 * at most; the comparison's rival is left NULL. */
void gpu_report_fixed(const char *unit, const gpu_comparison *comparison, double figure);

/** End this process's case with a text that says what failed. */
__attribute__((noreturn, format(printf, 1, 2))) void gpu_fail(const char *format, ...);

#ifdef __cplusplus
}
#endif

#endif
