#include "common/csr.h"

#include "sparse_matrix.h"

#include <stdlib.h>
#include <string.h>

enum { DEGREE = 16, SEED = 1, N_VALUES = 7 };

/** Write where the rows begin. Returns the entries. */
static int64_t place_rows(const sparse_generator *generator, const sparse_source *source,
                          int32_t *P) {
    int64_t n_entries = 0;
    for (int64_t i = 0; i < source->n_rows; i++) {
        P[i] = (int32_t)n_entries;
        n_entries += generator->count_entries(source, i);
    }
    P[source->n_rows] = (int32_t)n_entries;
    return n_entries;
}

static void fill_entries(const bench_csr *of, const sparse_generator *generator,
                         const sparse_source *source) {
#pragma omp parallel for schedule(dynamic, 1024)
    for (int64_t i = 0; i < of->n_rows; i++)
        for (int64_t e = of->P[i]; e < of->P[i + 1]; e++) {
            of->K[e] =
                (int32_t)generator->get_column(source, i, e - of->P[i], of->P[i + 1] - of->P[i]);
            of->V[e] = (float)sparse_draw_value(source, e);
            if (of->R != NULL)
                of->R[e] = (int32_t)i;
        }
}

void bench_csr_create(bench_csr *of, const char *generator_name, int64_t n_entries, bool has_rows) {
    const sparse_generator *generator = sparse_find_generator(generator_name);
    const sparse_source source = {.n_rows = n_entries / DEGREE, .degree = DEGREE, .seed = SEED};
    if (generator == NULL)
        exit(EXIT_FAILURE);
    *of = (bench_csr){.n_rows = source.n_rows};
    of->P = bench_allocate((of->n_rows + 1) * 4);
    of->n_entries = place_rows(generator, &source, of->P);
    of->K = bench_allocate(of->n_entries * 4);
    of->R = has_rows ? bench_allocate(of->n_entries * 4) : NULL;
    of->V = bench_allocate(of->n_entries * 4);
    of->x = bench_allocate(of->n_rows * 4);
    of->y = bench_allocate(of->n_rows * 4);
    fill_entries(of, generator, &source);
    for (int64_t i = 0; i < of->n_rows; i++)
        of->x[i] = (float)(i % N_VALUES - N_VALUES / 2);
    bench_csr_clear(of);
}

void bench_csr_destroy(bench_csr *of) {
    bench_free(of->P, (of->n_rows + 1) * 4);
    bench_free(of->K, of->n_entries * 4);
    if (of->R != NULL)
        bench_free(of->R, of->n_entries * 4);
    bench_free(of->V, of->n_entries * 4);
    bench_free(of->x, of->n_rows * 4);
    bench_free(of->y, of->n_rows * 4);
    *of = (bench_csr){0};
}

int64_t bench_csr_bytes(const bench_csr *of) {
    const int64_t n_rows_of_entries = of->R != NULL ? of->n_entries : of->n_rows + 1;
    return 4 * (2 * of->n_entries + n_rows_of_entries + 2 * of->n_rows);
}

void bench_csr_multiply(const bench_csr *of, float *y) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < of->n_rows; i++) {
        float sum = 0;
        for (int64_t e = of->P[i]; e < of->P[i + 1]; e++)
            sum += of->V[e] * of->x[of->K[e]];
        y[i] = sum;
    }
}

void bench_csr_clear(const bench_csr *of) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < of->n_rows; i++)
        of->y[i] = 0;
}

typedef struct vector {
    const char *name; /* as kernels declare it */
    polytile_type type;
    int64_t extent;
    void *data;
} vector;

void bench_csr_wrap(const bench_csr *of, polytile_context *ctx, const polytile_kernel *kernel,
                    polytile_array **array) {
    const vector vectors[] = {
        {"V", POLYTILE_F32, of->n_entries, of->V}, {"K", POLYTILE_I32, of->n_entries, of->K},
        {"R", POLYTILE_I32, of->n_entries, of->R}, {"P", POLYTILE_I32, of->n_rows + 1, of->P},
        {"x", POLYTILE_F32, of->n_rows, of->x},    {"y", POLYTILE_F32, of->n_rows, of->y},
    };
    for (int a = 0; a < BENCH_CSR_ARRAYS; a++) {
        const vector *found = vectors;
        while (strcmp(found->name, polytile_kernel_get_array_name(kernel, a)) != 0)
            found++;
        bench_require(polytile_array_wrap(ctx, found->name, found->type, 1, &found->extent,
                                          found->data, &array[a]),
                      ctx);
    }
}
