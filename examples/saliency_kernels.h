#ifndef EXAMPLES_SALIENCY_KERNELS_H
#define EXAMPLES_SALIENCY_KERNELS_H

#include <polytile/implementation.h>

/* Map k is of orientation k / 4 and frequency k % 4. Frames have ni x nj elements. */

enum { SALIENCY_FREQUENCIES = 4, SALIENCY_ORIENTATIONS = 6, SALIENCY_MAPS = 24 };

/** The frame, darker towards its edges. */
#define HANNING_DECLARATION "hanning[i, j](i64 ni, i64 nj): in x[i, j]; out h[i, j]"
/** Its spectrum through a filter for each map. */
#define GABOR_DECLARATION "gabor[k, i, j](i64 ni, i64 nj): in f[i, j]; out g[k, i, j]"
/** How much there is of each orientation and frequency, with what neighbours add and take. */
#define INTERACT_DECLARATION "interact[k, i, j](i64 ni, i64 nj): in c[:, i, j]; out m[k, i, j]"
/** The greatest element and the sum of each map. */
#define MEASURE_DECLARATION "measure[k, i, j]: in m[k, i, j]; out max top[k]; out sum total[k]"
/** Maps from 0 to 1, of which those with few peaks weigh most. */
#define NORMALISE_DECLARATION                                                                      \
    "normalise[k, i, j](i64 ni, i64 nj): in m[k, i, j], top[k], total[k]; out n[k, i, j]"
/** The sum of the maps. */
#define ADD_DECLARATION "add[i, j]: in n[:, i, j]; out s[i, j]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *hanning_implementation(void);
const polytile_implementation *gabor_implementation(void);
const polytile_implementation *interact_implementation(void);
const polytile_implementation *measure_implementation(void);
const polytile_implementation *normalise_implementation(void);
const polytile_implementation *add_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
