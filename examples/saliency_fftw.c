#include "saliency_fft.h"

#include <complex.h>
#include <fftw3.h>

/* Plans are made before the stream runs, since FFTW makes one at a time; they take any memory. */
static struct {
    int64_t extent[2];
    fftwf_plan forward, inverse;
} fftw;

enum { NOT_WHOLE = -1 };

static int transform(const polytile_sub_kernel *launch, fftwf_plan plan, bool has_maps) {
    const int64_t first = has_maps ? launch->threads->range[0].lo : 0,
                  last = has_maps ? launch->threads->range[0].hi : 0;
    if (!saliency_fft_is_whole(launch, fftw.extent))
        return NOT_WHOLE;
    for (int64_t k = first; k <= last; ++k)
        fftwf_execute_dft(plan, saliency_fft_plane(&launch->views[0], k),
                          saliency_fft_plane(&launch->views[1], k));
    return 0;
}

static int forward(const polytile_sub_kernel *launch) {
    return transform(launch, fftw.forward, false);
}

static int inverse(const polytile_sub_kernel *launch) {
    return transform(launch, fftw.inverse, true);
}

static polytile_status plan_transforms(session *s, const int64_t *extent) {
    const unsigned how = FFTW_ESTIMATE | FFTW_UNALIGNED | FFTW_PRESERVE_INPUT;
    const int rows = (int)extent[0], columns = (int)extent[1];
    const size_t n_bytes = (size_t)(extent[0] * extent[1]) * sizeof(fftwf_complex);
    fftwf_complex *in = fftwf_malloc(n_bytes), *out = fftwf_malloc(n_bytes);
    if (in != NULL && out != NULL) {
        fftw.extent[0] = extent[0];
        fftw.extent[1] = extent[1];
        fftw.forward = fftwf_plan_dft_2d(rows, columns, in, out, FFTW_FORWARD, how);
        fftw.inverse = fftwf_plan_dft_2d(rows, columns, in, out, FFTW_BACKWARD, how);
    }
    fftwf_free(in);
    fftwf_free(out);
    return fftw.forward != NULL && fftw.inverse != NULL
               ? POLYTILE_OK
               : session_fail(s, POLYTILE_NO_MEMORY,
                              "FFTW plans no transform of %d x %d elements; make frames smaller",
                              rows, columns);
}

static polytile_status begin_gpus(session *s, const int64_t *extent) {
    const int said = s->is_cuda && !s->options.plan_only ? saliency_cufft_begin(s, extent) : 0;
    return said == 0
               ? POLYTILE_OK
               : session_fail(s, POLYTILE_UNSUPPORTED,
                              "cuFFT does not start (%d): build with it, or run on host", said);
}

polytile_status saliency_fft_bind(session *s, polytile_graph *graph, const int64_t *extent) {
    static const polytile_implementation forward_kernel = {.host_launcher = forward,
                                                           .cuda_launcher = saliency_cufft_forward};
    static const polytile_implementation inverse_kernel = {.host_launcher = inverse,
                                                           .cuda_launcher = saliency_cufft_inverse};
    if (!s->options.plan_only)
        TRY(plan_transforms(s, extent));
    TRY(begin_gpus(s, extent));
    TRY(polytile_graph_bind(graph, "forward", &forward_kernel));
    return polytile_graph_bind(graph, "inverse", &inverse_kernel);
}

void saliency_fft_end(void) {
    saliency_cufft_end();
    fftwf_destroy_plan(fftw.forward);
    fftwf_destroy_plan(fftw.inverse);
    fftw.forward = fftw.inverse = NULL;
}
