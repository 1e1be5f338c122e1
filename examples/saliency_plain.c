#include "saliency_plain.h"

#include "saliency_kernels.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

/** A frame on its way, and all maps. */
typedef struct plain {
    int64_t ni, nj;
    double complex *spectrum;
    double complex *between; /* transformed along rows */
    double complex *map[SALIENCY_MAPS];
    double *strength;
} plain;

static const double pi = 3.14159265358979323846;

/** Transform along one dimension of `n`, whose elements lie `step` apart: sums, term by term. */
static void transform_line(const double complex *from, double complex *to, int64_t n, int64_t step,
                           int sign) {
    for (int64_t u = 0; u < n; ++u) {
        double complex sum = 0;
        for (int64_t i = 0; i < n; ++i)
            sum += from[i * step] * cexp(sign * 2 * pi * I * (double)(u * i % n) / (double)n);
        to[u * step] = sum;
    }
}

static void transform(const plain *p, const double complex *from, double complex *to, int sign) {
    for (int64_t i = 0; i < p->ni; ++i)
        transform_line(from + i * p->nj, p->between + i * p->nj, p->nj, 1, sign);
    for (int64_t j = 0; j < p->nj; ++j)
        transform_line(p->between + j, to + j, p->ni, p->nj, sign);
}

static double edge(int64_t i, int64_t n) {
    return 0.5 - 0.5 * cos(2 * pi * ((double)i + 0.5) / (double)n);
}

static double frequency(int64_t i, int64_t n) {
    return (double)(2 * i < n ? i : i - n) / (double)n;
}

/** Filter the spectrum for a map, and transform it back. */
static void respond(plain *p, int k, double complex *filtered) {
    const double angle = pi * (k / SALIENCY_FREQUENCIES) / SALIENCY_ORIENTATIONS;
    const double centre = 0.3 / (1 << k % SALIENCY_FREQUENCIES), width = centre / 3;
    for (int64_t i = 0; i < p->ni; ++i)
        for (int64_t j = 0; j < p->nj; ++j) {
            const double u = frequency(i, p->ni), v = frequency(j, p->nj);
            const double along = u * cos(angle) + v * sin(angle) - centre;
            const double across = v * cos(angle) - u * sin(angle);
            filtered[i * p->nj + j] = p->spectrum[i * p->nj + j] *
                                      exp(-(along * along + across * across) / (2 * width * width));
        }
    transform(p, filtered, p->map[k], 1);
}

static double response(const plain *p, int orientation, int of_frequency, int64_t at) {
    const int o = (orientation + SALIENCY_ORIENTATIONS) % SALIENCY_ORIENTATIONS;
    return of_frequency < 0 || of_frequency >= SALIENCY_FREQUENCIES
               ? 0
               : cabs(p->map[o * SALIENCY_FREQUENCIES + of_frequency][at]);
}

/** Add a map, with what its neighbours add and take, to the saliency. */
static void add_map(const plain *p, int k, double *saliency) {
    const int o = k / SALIENCY_FREQUENCIES, f = k % SALIENCY_FREQUENCIES;
    const int64_t n = p->ni * p->nj;
    double most = 0, total = 0;
    for (int64_t at = 0; at < n; ++at) {
        const double around = response(p, o, f - 1, at) + response(p, o, f + 1, at) -
                              response(p, o - 1, f, at) - response(p, o + 1, f, at);
        p->strength[at] = fmax(0, response(p, o, f, at) + 0.5 * around);
        most = fmax(most, p->strength[at]);
        total += p->strength[at];
    }
    if (most <= 0)
        return;
    const double peak = 1 - total / most / (double)n;
    for (int64_t at = 0; at < n; ++at)
        saliency[at] += fmax(0, p->strength[at] / most - 0.2) * peak * peak;
}

static bool allocate(plain *p) {
    const size_t n = (size_t)(p->ni * p->nj);
    p->spectrum = calloc(n, sizeof *p->spectrum);
    p->between = calloc(n, sizeof *p->between);
    p->strength = calloc(n, sizeof *p->strength);
    bool is_there = p->spectrum != NULL && p->between != NULL && p->strength != NULL;
    for (int k = 0; k < SALIENCY_MAPS; ++k) {
        p->map[k] = calloc(n, sizeof *p->map[k]);
        is_there = is_there && p->map[k] != NULL;
    }
    return is_there;
}

static void find_maps(plain *p, const float *frame, double complex *other) {
    for (int64_t i = 0; i < p->ni; ++i)
        for (int64_t j = 0; j < p->nj; ++j)
            other[i * p->nj + j] = frame[i * p->nj + j] * edge(i, p->ni) * edge(j, p->nj);
    transform(p, other, p->spectrum, -1);
    for (int k = 0; k < SALIENCY_MAPS; ++k)
        respond(p, k, other);
}

polytile_status saliency_plain(session *s, const int64_t *extent, const float *frame,
                               double *saliency) {
    plain p = {.ni = extent[0], .nj = extent[1]};
    double complex *other = calloc((size_t)(p.ni * p.nj), sizeof *other);
    const bool has_memory = allocate(&p) && other != NULL;
    if (has_memory)
        find_maps(&p, frame, other);
    for (int64_t at = 0; at < p.ni * p.nj; ++at)
        saliency[at] = 0;
    for (int k = 0; has_memory && k < SALIENCY_MAPS; ++k)
        add_map(&p, k, saliency);
    for (int k = 0; k < SALIENCY_MAPS; ++k)
        free(p.map[k]);
    free(p.spectrum);
    free(p.between);
    free(p.strength);
    free(other);
    return has_memory ? POLYTILE_OK
                      : session_fail(s, POLYTILE_NO_MEMORY,
                                     "no memory is left for the plain maps; leave out --check");
}
