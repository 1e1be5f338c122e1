/* A small program with OpenMP, beside which bench/start.c times add_polytile.c. */
#include "small.h"

int main(void) {
    small_fill();
#pragma omp parallel for
    for (int i = 0; i < SMALL_N; i++)
        small_z[i] = small_x[i] + small_y[i];
    return small_check();
}
