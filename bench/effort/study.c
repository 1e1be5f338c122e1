#include "study.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const int64_t max_number = INT64_C(1) << 20;

/** What study_end() frees; no study has more. */
enum { MAX_MATRICES = 3 };
static void *matrices[MAX_MATRICES];
static int n_matrices = 0;

static int count_words(const char *text) {
    int n_words = text[0] != '\0';
    for (const char *at = text; *at != '\0'; at++)
        n_words += *at == ' ';
    return n_words;
}

void study_begin(int argc, char **argv, const char *usage) {
    if (argc == count_words(usage) + 1)
        return;
    fprintf(stderr, "usage: %s %s\n", argv[0], usage);
    exit(2);
}

int64_t study_number(const char *argument) {
    char *end;
    const intmax_t number = strtoimax(argument, &end, 10);
    if (end != argument && *end == '\0' && number >= 1 && number <= max_number)
        return number;
    fprintf(stderr, "\"%s\" is not a whole number from 1 to %" PRId64 "\n", argument, max_number);
    exit(2);
}

static void *allocate(int64_t n) {
    void *matrix = malloc((size_t)(n * n) * sizeof(int32_t));
    if (matrix == NULL) {
        fprintf(stderr, "no memory for a matrix of %" PRId64 " x %" PRId64 "\n", n, n);
        exit(1);
    }
    matrices[n_matrices++] = matrix;
    return matrix;
}

static int element(int64_t place, int seed) {
    return (int)((place * 7 + seed) % 31) - 15;
}

int *study_create_ints(int64_t n, int seed) {
    int *matrix = allocate(n);
#pragma omp parallel for
    for (int64_t k = 0; k < n * n; k++)
        matrix[k] = element(k, seed);
    return matrix;
}

float *study_create_floats(int64_t n, int seed) {
    float *matrix = allocate(n);
#pragma omp parallel for
    for (int64_t k = 0; k < n * n; k++)
        matrix[k] = (float)element(k, seed);
    return matrix;
}

/** The bits of an element, shuffled together with its place; sums of these may be taken in any
 * order. */
static uint64_t mix(uint64_t bits, uint64_t place) {
    const uint64_t x = (bits ^ (place << 32)) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
}

static uint64_t checksum(const uint32_t *bits, int64_t n_elements) {
    uint64_t sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int64_t k = 0; k < n_elements; k++)
        sum += mix(bits[k], (uint64_t)k);
    return sum;
}

void study_end(const void *result, int64_t n) {
    printf("%016" PRIx64 "\n", checksum(result, n * n));
    while (n_matrices > 0)
        free(matrices[--n_matrices]);
}
