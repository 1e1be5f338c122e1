/* A hundred times C += A + B with polytile. */
#include "study.h"

#include <polytile/program.h>

POLYTILE_KERNEL(add, (i, j), (const int, A, 2), (const int, B, 2), (int, C, 2)) {
    for (int repetition = 0; repetition < 100; repetition++)
        PT_AT(C, i, j) += PT_AT(A, i, j) + PT_AT(B, i, j);
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N DEVICE");
    const int64_t n = study_number(argv[1]);
    int *A = study_create_ints(n, 1);
    int *B = study_create_ints(n, 2);
    int *C = study_create_ints(n, 0);

    polytile_program *p = polytile_program_open(argv[2]);
    polytile_program_bind(p, POLYTILE_I32, POLYTILE_EXTENTS(n, n), POLYTILE_NAMED(A, B, C));
    polytile_program_launch(p, "add[i, j]: in A[i, j], B[i, j]; inout C[i, j]", &add_kernel,
                            POLYTILE_EXTENTS(n, n));
    polytile_program_close(p);

    study_end(C, n);
    return 0;
}
