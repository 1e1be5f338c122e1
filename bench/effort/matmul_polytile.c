/* C = A B with polytile, one thread an element. */
#include "study.h"

#include <polytile/program.h>

POLYTILE_KERNEL(multiply, (i, j), (const int, A, 2), (const int, B, 2), (int, C, 2)) {
    int sum = 0;
    for (int64_t k = PT_FIRST(A, 1); k <= PT_LAST(A, 1); k++)
        sum += PT_AT(A, i, k) * PT_AT(B, k, j);
    PT_AT(C, i, j) = sum;
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N DEVICE");
    const int64_t n = study_number(argv[1]);
    int *A = study_create_ints(n, 1);
    int *B = study_create_ints(n, 2);
    int *C = study_create_ints(n, 0);

    polytile_program *p = polytile_program_open(argv[2]);
    polytile_program_bind(p, POLYTILE_I32, POLYTILE_EXTENTS(n, n), POLYTILE_NAMED(A, B, C));
    polytile_program_launch(p, "multiply[i, j]: in A[i, :], B[:, j]; out C[i, j]", &multiply_kernel,
                            POLYTILE_EXTENTS(n, n));
    polytile_program_close(p);

    study_end(C, n);
    return 0;
}
