#include "gpu/table.h"

#include <stdlib.h>

bool gpu_table_begin(gpu_table *table, const char *json_path) {
    *table = (gpu_table){0};
    if (json_path != NULL && (table->json = fopen(json_path, "w")) == NULL) {
        perror(json_path);
        return false;
    }
    if (table->json != NULL)
        fputs("{\"benchmark\": \"gpu\", \"cases\": [", table->json);
    printf("%-46s %10s %10s %-2s  %-30s %10s %10s %8s %9s\n", "case", "median", "best", "",
           "against", "median", "best", "ratio", "target");
    fflush(stdout);
    return true;
}

static bool is_reached(const gpu_row *row) {
    return bench_is_reached(row->relation, row->ratio, row->target);
}

static void print_row(const gpu_row *row) {
    printf("%-46s %10.6f %10.6f %-2s  %-30s %10.6f %10.6f %8.4f", row->name, row->ours_median,
           row->ours_least, row->unit, row->against, row->rival_median, row->rival_least,
           row->ratio);
    if (row->relation != BENCH_NO_TARGET)
        printf(" %3s %5g  %s", bench_relation_sign(row->relation), row->target,
               is_reached(row) ? "reached" : "MISSED");
    if (row->plan_s > 0.0)
        printf("  (planned in %.2f ms)", 1e3 * row->plan_s);
    putchar('\n');
}

/** A text as a JSON string; what is no printable ASCII character becomes a space. */
static void write_string(FILE *json, const char *text) {
    fputc('"', json);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', json);
        fputc(*text < ' ' || *text > '~' ? ' ' : *text, json);
    }
    fputc('"', json);
}

static void write_row(FILE *json, const gpu_row *row) {
    fputs("{\"name\": ", json);
    write_string(json, row->name);
    fputs(", \"against\": ", json);
    write_string(json, row->against);
    fprintf(json,
            ", \"median_%s\": %.9g, \"least_%s\": %.9g, \"rival_median_%s\": %.9g, "
            "\"rival_least_%s\": %.9g, \"ratio\": %.9g, \"plan_s\": %.9g",
            row->unit, row->ours_median, row->unit, row->ours_least, row->unit, row->rival_median,
            row->unit, row->rival_least, row->ratio, row->plan_s);
    if (row->relation != BENCH_NO_TARGET)
        fprintf(json, ", \"relation\": \"%s\", \"target\": %.9g, \"reached\": %s",
                bench_relation_sign(row->relation), row->target,
                is_reached(row) ? "true" : "false");
    fputc('}', json);
}

static void write_case(FILE *json, const char *name, const gpu_results *results, double taken_s) {
    fprintf(json, "{\"case\": \"%s\", \"taken_s\": %.3f, \"failure\": ", name, taken_s);
    if (results->failure[0] == '\0')
        fputs("null", json);
    else
        write_string(json, results->failure);
    fputs(", \"rows\": [", json);
    for (int r = 0; r < results->n_rows; r++) {
        fputs(r > 0 ? ",\n    " : "\n    ", json);
        write_row(json, &results->row[r]);
    }
    fputs("]}", json);
}

void gpu_table_add(gpu_table *table, const char *case_name, const gpu_results *results,
                   double taken_s) {
    bool failed = results->failure[0] != '\0';
    for (int r = 0; r < results->n_rows; r++) {
        print_row(&results->row[r]);
        table->n_missed += !is_reached(&results->row[r]);
    }
    if (failed)
        printf("%-46s FAILED: %s\n", case_name, results->failure);
    fflush(stdout);
    table->n_failed += failed;
    if (table->json != NULL) {
        fputs(table->n_entries++ > 0 ? ",\n  " : "\n  ", table->json);
        write_case(table->json, case_name, results, taken_s);
        fflush(table->json);
    }
}

int gpu_table_end(gpu_table *table) {
    bool written = true;
    printf("%d targets missed, %d cases failed\n", table->n_missed, table->n_failed);
    if (table->json != NULL) {
        fprintf(table->json, "\n], \"missed\": %d, \"failed\": %d}\n", table->n_missed,
                table->n_failed);
        written = !ferror(table->json);
        written = fclose(table->json) == 0 && written;
    }
    if (!written)
        fputs("the JSON file could not be written\n", stderr);
    return written && table->n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
