/* The kernels of saliency but for the transforms, one body for every device. */
#include "saliency_kernels.h"

#include <polytile/kernel.h>

#include <math.h>

#define TWO_PI 6.28318530717958648f

/** What maps hold below this, of 1, does not count. */
#define THRESHOLD 0.2f

PT_FUNCTION float positive(float x) {
    return x > 0 ? x : 0;
}

PT_FUNCTION float edge(int64_t i, int64_t n) {
    return 0.5f - 0.5f * cosf(TWO_PI * ((float)i + 0.5f) / (float)n);
}

/** The frequency of an element of a spectrum, in periods an element. */
PT_FUNCTION float frequency(int64_t i, int64_t n) {
    return (float)(2 * i < n ? i : i - n) / (float)n;
}

/** A Gaussian around one frequency in one direction. */
PT_FUNCTION float gabor_filter(int64_t k, float u, float v) {
    const float angle = TWO_PI / 2 * (float)(k / SALIENCY_FREQUENCIES) / SALIENCY_ORIENTATIONS;
    const float centre = 0.3f / (float)(1 << (k % SALIENCY_FREQUENCIES)), width = centre / 3;
    const float along = u * cosf(angle) + v * sinf(angle) - centre;
    const float across = v * cosf(angle) - u * sinf(angle);
    return expf(-(along * along + across * across) / (2 * width * width));
}

/** The map of an orientation, which goes round, and a frequency. */
PT_FUNCTION int64_t map_number(int64_t orientation, int64_t of_frequency) {
    return (orientation + SALIENCY_ORIENTATIONS) % SALIENCY_ORIENTATIONS * SALIENCY_FREQUENCIES +
           of_frequency;
}

PT_FUNCTION float magnitude(pt_c64 z) {
    return sqrtf(PT_RE(z) * PT_RE(z) + PT_IM(z) * PT_IM(z));
}

POLYTILE_KERNEL(hanning, (i, j), (int64_t, ni), (int64_t, nj), (const float, x, 2),
                (pt_c64, h, 2)) {
    PT_AT(h, i, j) = PT_C64(PT_AT(x, i, j) * edge(i, ni) * edge(j, nj), 0);
}

POLYTILE_KERNEL(gabor, (k, i, j), (int64_t, ni), (int64_t, nj), (const pt_c64, f, 2),
                (pt_c64, g, 3)) {
    const float filter = gabor_filter(k, frequency(i, ni), frequency(j, nj));
    const pt_c64 z = PT_AT(f, i, j);
    PT_AT(g, k, i, j) = PT_C64(PT_RE(z) * filter, PT_IM(z) * filter);
}

#define MAGNITUDE_AT(orientation, of_frequency)                                                    \
    magnitude(PT_AT(c, map_number(orientation, of_frequency), i, j))

POLYTILE_KERNEL(interact, (k, i, j), (int64_t, ni), (int64_t, nj), (const pt_c64, c, 3),
                (float, m, 3)) {
    const int64_t o = k / SALIENCY_FREQUENCIES, f = k % SALIENCY_FREQUENCIES;
    float sum = MAGNITUDE_AT(o, f);
    if (f > 0)
        sum += 0.5f * MAGNITUDE_AT(o, f - 1);
    if (f + 1 < SALIENCY_FREQUENCIES)
        sum += 0.5f * MAGNITUDE_AT(o, f + 1);
    sum -= 0.5f * (MAGNITUDE_AT(o - 1, f) + MAGNITUDE_AT(o + 1, f));
    PT_AT(m, k, i, j) = positive(sum) / (float)(ni * nj);
}

POLYTILE_KERNEL(measure, (k, i, j), (const float, m, 3), (float, top, 1), (float, total, 1)) {
    PT_MAX(PT_AT(top, k), PT_AT(m, k, i, j));
    PT_SUM(PT_AT(total, k), PT_AT(m, k, i, j));
}

POLYTILE_KERNEL(normalise, (k, i, j), (int64_t, ni), (int64_t, nj), (const float, m, 3),
                (const float, top, 1), (const float, total, 1), (float, n, 3)) {
    const float most = PT_AT(top, k);
    const float scale = most > 0 ? 1 / most : 0;
    const float peak = 1 - PT_AT(total, k) * scale / (float)(ni * nj);
    PT_AT(n, k, i, j) = positive(PT_AT(m, k, i, j) * scale - THRESHOLD) * peak * peak;
}

POLYTILE_KERNEL(add, (i, j), (const float, n, 3), (float, s, 2)) {
    float sum = 0;
    for (int64_t k = 0; k < SALIENCY_MAPS; k++)
        sum += PT_AT(n, k, i, j);
    PT_AT(s, i, j) = sum;
}

const polytile_implementation *hanning_implementation(void) {
    return &hanning_kernel;
}

const polytile_implementation *gabor_implementation(void) {
    return &gabor_kernel;
}

const polytile_implementation *interact_implementation(void) {
    return &interact_kernel;
}

const polytile_implementation *measure_implementation(void) {
    return &measure_kernel;
}

const polytile_implementation *normalise_implementation(void) {
    return &normalise_kernel;
}

const polytile_implementation *add_implementation(void) {
    return &add_kernel;
}
