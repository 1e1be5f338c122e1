/* A hundred times C += A + B with OpenMP. */
#include "study.h"

static void add(const int *A, const int *B, int *C, int64_t n) {
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            for (int repetition = 0; repetition < 100; repetition++)
                C[i * n + j] += A[i * n + j] + B[i * n + j];
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N");
    const int64_t n = study_number(argv[1]);
    int *A = study_create_ints(n, 1);
    int *B = study_create_ints(n, 2);
    int *C = study_create_ints(n, 0);

    add(A, B, C, n);

    study_end(C, n);
    return 0;
}
