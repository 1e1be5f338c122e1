#include "common/bench.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

bool bench_begin(bench *b, const char *name, int argc, char **argv) {
    *b = (bench){.name = name};
    if (argc != 1 && !(argc == 3 && strcmp(argv[1], "--json") == 0)) {
        fprintf(stderr, "usage: %s [--json FILE]\n", name);
        return false;
    }
    if (argc == 3 && (b->json = fopen(argv[2], "w")) == NULL) {
        perror(argv[2]);
        return false;
    }
    if (b->json != NULL)
        fprintf(b->json, "{\"benchmark\": \"%s\", \"figures\": [", name);
    printf("%-44s %-22s %12s  %s\n", name, "figure", "value", "target");
    return true;
}

static const struct {
    const char *sign;
    const char *json;
} relations[] = {
    [BENCH_NO_TARGET] = {"", "none"},
    [BENCH_AT_MOST] = {"<=", "at most"},
    [BENCH_AT_LEAST] = {">=", "at least"},
};

const char *bench_relation_sign(bench_relation relation) {
    return relations[relation].sign;
}

bool bench_is_reached(bench_relation relation, double value, double target) {
    switch (relation) {
    case BENCH_AT_MOST:
        return value <= target;
    case BENCH_AT_LEAST:
        return value >= target;
    default:
        return true;
    }
}

static void print_json(bench *b, const bench_figure *figure, bool reached) {
    fprintf(b->json, "%s\n  {\"subject\": \"%s\", \"figure\": \"%s\", \"value\": %.9g",
            b->n_figures > 0 ? "," : "", figure->subject, figure->name, figure->value);
    if (figure->relation != BENCH_NO_TARGET)
        fprintf(b->json, ", \"relation\": \"%s\", \"target\": %.9g, \"reached\": %s",
                relations[figure->relation].json, figure->target, reached ? "true" : "false");
    fputc('}', b->json);
}

void bench_report(bench *b, const bench_figure *figure) {
    bool reached = bench_is_reached(figure->relation, figure->value, figure->target);
    printf("%-44s %-22s %12.6g", figure->subject, figure->name, figure->value);
    if (figure->relation != BENCH_NO_TARGET)
        printf("  %s %g%s", relations[figure->relation].sign, figure->target,
               reached ? "" : "  MISSED");
    putchar('\n');
    fflush(stdout);
    if (b->json != NULL)
        print_json(b, figure, reached);
    b->n_figures++;
    b->n_missed += !reached;
}

int bench_end(bench *b) {
    printf("%s: %d figures, %d of them missed their target\n", b->name, b->n_figures, b->n_missed);
    if (b->json == NULL)
        return EXIT_SUCCESS;
    fprintf(b->json, "\n], \"missed\": %d}\n", b->n_missed);
    bool written = !ferror(b->json);
    if (fclose(b->json) == 0 && written)
        return EXIT_SUCCESS;
    fprintf(stderr, "%s: the JSON file could not be written\n", b->name);
    return EXIT_FAILURE;
}

void bench_require(polytile_status status, const polytile_context *ctx) {
    if (status == POLYTILE_OK)
        return;
    fprintf(stderr, "%s: %s\n", polytile_status_text(status),
            ctx != NULL ? polytile_last_error(ctx) : "");
    exit(EXIT_FAILURE);
}

double bench_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void bench_add_time(bench_times *times, double time_s) {
    times->time_s[times->n_times++] = time_s;
}

/** Seconds that a comparison may take beyond its least number of repetitions. */
static const double comparison_s = 5.0;

bool bench_is_enough(const bench_times *times, double elapsed_s) {
    return times->n_times >= BENCH_REPETITIONS &&
           (elapsed_s >= comparison_s || times->n_times == BENCH_MOST_REPETITIONS);
}

double bench_least(const bench_times *times) {
    double least = times->time_s[0];
    for (int t = 1; t < times->n_times; t++)
        least = times->time_s[t] < least ? times->time_s[t] : least;
    return least;
}

static int compare_times(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double bench_median(const bench_times *times) {
    bench_times sorted = *times;
    qsort(sorted.time_s, (size_t)sorted.n_times, sizeof(double), compare_times);
    return sorted.time_s[sorted.n_times / 2];
}

void *bench_allocate(int64_t n_bytes) {
    char *memory =
        mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        exit(EXIT_FAILURE);
    }
    madvise(memory, (size_t)n_bytes, MADV_HUGEPAGE);
#pragma omp parallel for
    for (int64_t byte = 0; byte < n_bytes; byte += 4096)
        memory[byte] = 1;
    return memory;
}

void bench_free(void *memory, int64_t n_bytes) {
    munmap(memory, (size_t)n_bytes);
}
