#ifndef BENCH_COMMON_BENCH_H
#define BENCH_COMMON_BENCH_H

#include <polytile/polytile.h>
#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the benchmarks share: repetitions, figures with their targets, a table and JSON. */

enum { BENCH_REPETITIONS = 9, BENCH_MOST_REPETITIONS = 65 };

/** How a figure should compare with its target. */
typedef enum bench_relation { BENCH_NO_TARGET, BENCH_AT_MOST, BENCH_AT_LEAST } bench_relation;

/** One measured figure: a row of the table and an object of the JSON. */
typedef struct bench_figure {
    const char *subject; /* what was measured, such as "jacobi 8192x8192" */
    const char *name;    /* which figure of it, with its unit: "plan_ms" */
    double value;
    bench_relation relation;
    double target;
} bench_figure;

/** One benchmark's run. */
typedef struct bench {
    const char *name;
    FILE *json; /* NULL: only the table */
    int n_figures;
    int n_missed;
} bench;

/** Seconds of one action, repeated. */
typedef struct bench_times {
    int n_times;
    double time_s[BENCH_MOST_REPETITIONS];
} bench_times;

/** "<=", ">=", or nothing without a target. */
const char *bench_relation_sign(bench_relation relation);
bool bench_is_reached(bench_relation relation, double value, double target);

/** Read the command line (--json FILE) and print the table's head; false after an error. */
bool bench_begin(bench *b, const char *name, int argc, char **argv);

void bench_report(bench *b, const bench_figure *figure);

/** Say how many targets were missed and end the JSON; returns the exit code. */
int bench_end(bench *b);

/** End the program with an error's text if a status is not POLYTILE_OK. */
void bench_require(polytile_status status, const polytile_context *ctx);

double bench_now_s(void);
void bench_add_time(bench_times *times, double time_s);
/** Whether a comparison has had enough repetitions: BENCH_REPETITIONS, and while they are short
 * more of them, since other work on the machine disturbs short ones. Units: seconds since the
 * first. */
bool bench_is_enough(const bench_times *times, double elapsed_s);
double bench_least(const bench_times *times);
double bench_median(const bench_times *times);

/** Page-aligned memory, written once by all threads; ends the program when there is none. */
void *bench_allocate(int64_t n_bytes);
void bench_free(void *memory, int64_t n_bytes);

#ifdef __cplusplus
}
#endif

#endif
