#ifndef EXAMPLES_SALIENCY_FFT_H
#define EXAMPLES_SALIENCY_FFT_H

#include "common/session.h"

/* Fourier transforms of frames: FFTW on hosts, cuFFT on GPUs if this program was built with it. */

/** The spectrum of a frame. */
#define FORWARD_DECLARATION "forward[i, j]: in h[:, :]; out f[i, j]"
/** The maps of their spectra, times the elements of a frame. */
#define INVERSE_DECLARATION "inverse[k, i, j]: in g[k, :, :]; out c[k, i, j]"

/** Plan the transforms of frames of an extent, and bind them. Errors: UNSUPPORTED, NO_MEMORY,
 * DEVICE. */
polytile_status saliency_fft_bind(session *s, polytile_graph *graph, const int64_t *extent);

/** Free what was planned, after the stream. */
void saliency_fft_end(void);

/** Start cuFFT on all GPUs of the command line, before anything runs there, since that takes
 * memory. 0: it works; else what it said, or that it is not there. */
int saliency_cufft_begin(const session *s, const int64_t *extent);
void saliency_cufft_end(void);
polytile_launcher saliency_cufft_forward, saliency_cufft_inverse;

/** Whether a launch is of all elements of a frame, as transforms have to be. */
static inline bool saliency_fft_is_whole(const polytile_sub_kernel *launch, const int64_t *extent) {
    const polytile_range *range = &launch->threads->range[launch->threads->n_dims - 2];
    return range[0].lo == 0 && range[0].hi == extent[0] - 1 && range[1].lo == 0 &&
           range[1].hi == extent[1] - 1;
}

/** Return a view's plane of a map; of a frame, which has no maps, all of it. */
static inline void *saliency_fft_plane(const polytile_view *view, int64_t map) {
    return (char *)view->origin + map * view->stride_bytes[0];
}

#endif
