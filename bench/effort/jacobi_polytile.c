/* Jacobi's method on a plate with fixed edges, with polytile: B from A, then A from B. */
#include "study.h"

#include <polytile/program.h>

POLYTILE_KERNEL(update, (i, j), (const float, A, 2), (float, B, 2)) {
    PT_AT(B, i, j) =
        (PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1) + PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j)) / 4;
}

POLYTILE_KERNEL(copy, (i, j), (const float, B, 2), (float, A, 2)) {
    PT_AT(A, i, j) = PT_AT(B, i, j);
}

int main(int argc, char **argv) {
    study_begin(argc, argv, "N STEPS DEVICE");
    const int64_t n = study_number(argv[1]);
    const int64_t n_steps = study_number(argv[2]);
    float *A = study_create_floats(n, 1);

    polytile_program *p = polytile_program_open(argv[3]);
    polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(n, n), "A, B", POLYTILE_DATA(A, NULL));
    for (int64_t step = 0; step < n_steps; step++) {
        polytile_program_launch(p, "update[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                                &update_kernel, POLYTILE_INTERIOR(1, n, n));
        polytile_program_launch(p, "copy[i, j]: in B[i, j]; out A[i, j]", &copy_kernel,
                                POLYTILE_INTERIOR(1, n, n));
    }
    polytile_program_close(p);

    study_end(A, n);
    return 0;
}
