#ifndef BENCH_GPU_TABLE_H
#define BENCH_GPU_TABLE_H

#include "gpu/report.h"

/* The results of all cases as a table for people and as JSON. */

typedef struct gpu_table {
    FILE *json; /* NULL: only the table */
    int n_entries;
    int n_missed;
    int n_failed;
} gpu_table;

/** Print the table's head; false, with a text on stderr, when the JSON file cannot be written. */
bool gpu_table_begin(gpu_table *table, const char *json_path);

/** Add what a case found out, and how it failed if it did. Units: seconds of the whole case. */
void gpu_table_add(gpu_table *table, const char *case_name, const gpu_results *results,
                   double taken_s);

/** Returns the exit code: failure when a case failed or the JSON could not be written. */
int gpu_table_end(gpu_table *table);

#endif
