/* Jacobi's method on a plate with fixed edges, with OpenMP: B from A, then A from B. */
#include "study.h"

static void update(const float *A, float *B, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            B[i * n + j] =
                (A[i * n + j - 1] + A[i * n + j + 1] + A[(i - 1) * n + j] + A[(i + 1) * n + j]) / 4;
}

static void copy(const float *B, float *A, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            A[i * n + j] = B[i * n + j];
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N STEPS");
    const int64_t n = study_number(argv[1]);
    const int64_t n_steps = study_number(argv[2]);
    float *A = study_create_floats(n, 1);
    float *B = study_create_floats(n, 0);

    for (int64_t step = 0; step < n_steps; step++) {
        update(A, B, n);
        copy(B, A, n);
    }

    study_end(A, n);
    return 0;
}
