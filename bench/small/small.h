#ifndef BENCH_SMALL_SMALL_H
#define BENCH_SMALL_SMALL_H

/* Three vectors of a small program: z = x + y. */

enum { SMALL_N = 1000 };
static float small_x[SMALL_N], small_y[SMALL_N], small_z[SMALL_N];

static void small_fill(void) {
    for (int i = 0; i < SMALL_N; i++) {
        small_x[i] = (float)i;
        small_y[i] = (float)(2 * i);
    }
}

/** The program's exit code: 1 for a wrong sum. */
static int small_check(void) {
    for (int i = 0; i < SMALL_N; i++) {
        if (small_z[i] != (float)(3 * i))
            return 1;
    }
    return 0;
}

#endif
