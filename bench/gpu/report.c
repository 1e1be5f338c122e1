#include "gpu/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static gpu_results *current;

void gpu_report_into(gpu_results *results) {
    current = results;
}

void gpu_report(const gpu_comparison *comparison) {
    gpu_report_in("s", comparison);
}

void gpu_report_in(const char *unit, const gpu_comparison *c) {
    if (current->n_rows == GPU_MOST_ROWS)
        gpu_fail("%s: a case has at most %d rows; raise GPU_MOST_ROWS", c->name, GPU_MOST_ROWS);
    gpu_row *row = &current->row[current->n_rows++];
    *row = (gpu_row){.ours_median = bench_median(c->ours),
                     .ours_least = bench_least(c->ours),
                     .rival_median = bench_median(c->rival),
                     .rival_least = bench_least(c->rival),
                     .relation = c->relation,
                     .target = c->target,
                     .plan_s = c->plan_s};
    row->ratio = c->relation == BENCH_AT_LEAST ? row->rival_median / row->ours_median
                                               : row->ours_median / row->rival_median;
    snprintf(row->unit, sizeof row->unit, "%s", unit);
    snprintf(row->name, sizeof row->name, "%s", c->name);
    snprintf(row->against, sizeof row->against, "%s", c->against);
}

void gpu_report_fixed(const char *unit, const gpu_comparison *comparison, double figure) {
    gpu_comparison complete = *comparison;
    bench_times fixed = {.n_times = 1, .time_s = {figure}};
    complete.rival = &fixed;
    gpu_report_in(unit, &complete);
}

void gpu_fail(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(current->failure, sizeof current->failure, format, arguments);
    va_end(arguments);
    _exit(EXIT_FAILURE);
}
