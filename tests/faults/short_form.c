#include <polytile/program.h>

#include <stdio.h>

/* The short form, in which every error ends the process: twice the sum of two neighbours, by way of
 * an internal array. */

POLYTILE_KERNEL(add, (i), (const float, A, 1), (float, B, 1)) {
    PT_AT(B, i) = PT_AT(A, i) + PT_AT(A, i + 1);
}

POLYTILE_KERNEL(times, (i), (float, factor), (const float, B, 1), (float, C, 1)) {
    PT_AT(C, i) = factor * PT_AT(B, i);
}

enum { N = 100 };

int main(void) {
    static float A[N + 1], C[N];
    for (int i = 0; i <= N; i++)
        A[i] = (float)(i % 7);
    polytile_program *program = polytile_program_open("host(memory=1KiB,threads=1)");
    polytile_program_bind(program, POLYTILE_F32, POLYTILE_EXTENTS(N + 1), POLYTILE_NAMED(A));
    polytile_program_bind(program, POLYTILE_F32, POLYTILE_EXTENTS(N), "B", POLYTILE_DATA(NULL));
    polytile_program_bind(program, POLYTILE_F32, POLYTILE_EXTENTS(N), POLYTILE_NAMED(C));
    polytile_program_set(program, POLYTILE_PARAMETER("factor", 2));
    polytile_queue_pause(polytile_program_get_queue(program));
    polytile_program_launch(program, "add[i]: in A[i:i+1]; out B[i]", &add_kernel,
                            POLYTILE_EXTENTS(N));
    polytile_program_launch(program, "times[i](f32 factor): in B[i]; out C[i]", &times_kernel,
                            POLYTILE_EXTENTS(N));
    polytile_queue_resume(polytile_program_get_queue(program));
    polytile_program_close(program);
    for (int i = 0; i < N; i++)
        printf("%g\n", C[i]);
    return 0;
}
