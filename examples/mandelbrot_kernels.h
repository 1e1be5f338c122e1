#ifndef EXAMPLES_MANDELBROT_KERNELS_H
#define EXAMPLES_MANDELBROT_KERNELS_H

#include <polytile/kernel.h>

/* A slot hands out the rows, and collects them; or the program does. */
#define MANDELBROT_DECLARATION                                                                     \
    "mandelbrot[s]: inout row[s, :], work[s], {[s] -> image[i, j] : s = 0}"
#define MANDELBROT_ASK_DECLARATION "mandelbrot[s]: inout row[s, :], work[s]"

/** The tags of messages. A worker's request names the row that it has computed, NO_ROW at first;
 * the answer the next one. */
enum { ASK_TAG, ANSWER_TAG, ROW_TAG, NO_ROW = -1 };

/** The most iterations of a point. */
enum { MANDELBROT_MOST = 1000 };

/** Return the iterations of the point in row i and column j of an n x n image, whose corners are
 * -2 - 1.25i and 0.5 + 1.25i. */
PT_FUNCTION int32_t mandelbrot_point(int64_t n, int64_t i, int64_t j) {
    const float re = -2.0f + 2.5f * (float)j / (float)n, im = -1.25f + 2.5f * (float)i / (float)n;
    float x = 0, y = 0;
    int32_t count = 0;
    for (; count < MANDELBROT_MOST && x * x + y * y <= 4.0f; ++count) {
        const float next_x = x * x - y * y + re;
        y = 2.0f * x * y + im;
        x = next_x;
    }
    return count;
}

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *mandelbrot_implementation(void);
const polytile_implementation *mandelbrot_ask_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
