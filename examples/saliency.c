/* Saliency: what of each frame of a clip draws the eye. */
#include "saliency_fft.h"
#include "saliency_graph.h"
#include "saliency_kernels.h"
#include "saliency_plain.h"

#include "common/clock.h"
#include "common/fields.h"
#include "common/frames.h"

#include <math.h>
#include <stdlib.h>

enum { CLIP_DIMS = 3, GENERATED_FRAMES = 6, LEAST_EXTENT = 4, MOST_EXTENT = 1 << 14 };

static const example_spec spec = {
    .name = "saliency",
    .summary =
        "Finds what of each frame of a clip draws the eye: a Hanning window, a Fourier transform,\n"
        "24 Gabor filters of 6 orientations and 4 frequencies with a transform back each, what\n"
        "they add to and take from each other, normalisation, and their sum. Each step is an "
        "actor\n"
        "of a graph, which the library maps to the devices; frames stream through. Transforms are\n"
        "those of FFTW on the host and of cuFFT on GPUs.",
    .default_n = 32,
    .least_n = LEAST_EXTENT,
    .extras = EXAMPLE_STREAM,
    .uses_stream = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the clip (f32: frames, rows, columns), --output its saliency, likewise",
};

typedef struct saliency {
    int64_t n_frames;
    int64_t extent[2]; /* of a frame */
    polytile_array *clip;
    polytile_array *maps;
    polytile_array **frame; /* of the clip, then of the maps; of the session's memory */
    double *expected;       /* of all frames; NULL: nothing is compared */
    frames frames;
} saliency;

static int64_t frame_elements(const saliency *c) {
    return c->extent[0] * c->extent[1];
}

/* The clip. */

/** A bright square that moves over stripes. */
static float generated_element(const saliency *c, int64_t f, int64_t i, int64_t j) {
    const int64_t side = c->extent[0] / 4 + 1, at = f * c->extent[0] / (2 * GENERATED_FRAMES);
    const bool is_square = i >= at && i < at + side && j >= at && j < at + side;
    return is_square ? 1.0f : 0.25f + 0.125f * (float)((i + 2 * j) % 5);
}

static void generate_clip(const saliency *c) {
    float *data = polytile_array_get_data(c->clip);
    for (int64_t f = 0; f < c->n_frames; ++f)
        for (int64_t i = 0; i < c->extent[0]; ++i)
            for (int64_t j = 0; j < c->extent[1]; ++j)
                *data++ = generated_element(c, f, i, j);
}

static polytile_status check_clip(session *s, const field_shape *shape) {
    if (shape->type != POLYTILE_F32)
        return session_fail(s, POLYTILE_INVALID, "the clip has to be of f32");
    for (int d = 1; d < CLIP_DIMS; ++d)
        if (shape->extent[d] < LEAST_EXTENT || shape->extent[d] > MOST_EXTENT)
            return session_fail(s, POLYTILE_INVALID,
                                "frames have to be of %d to %d elements a side", LEAST_EXTENT,
                                MOST_EXTENT);
    return POLYTILE_OK;
}

static polytile_status open_clip(session *s, saliency *c) {
    const int64_t n = s->options.n > 0 ? s->options.n : spec.default_n;
    field_shape shape = {POLYTILE_F32, CLIP_DIMS, {GENERATED_FRAMES, n, n}};
    TRY(field_open_input(s, 0, "clip", CLIP_DIMS, &c->clip));
    const bool is_given = c->clip != NULL;
    if (is_given && s->options.n > 0)
        return session_fail(s, POLYTILE_INVALID, "--n contradicts --input; leave it out");
    if (is_given)
        shape = field_get_shape(c->clip);
    TRY(check_clip(s, &shape));
    if (!is_given)
        TRY(field_create(s, "clip", &shape, &c->clip));
    c->n_frames = shape.extent[0];
    c->extent[0] = shape.extent[1];
    c->extent[1] = shape.extent[2];
    if (!is_given && !s->options.plan_only)
        generate_clip(c);
    return field_create_output(s, 0, "saliency", &shape, &c->maps);
}

/** Describe each frame of an array by itself. */
static polytile_status cut_frames(const session *s, const saliency *c, const char *name,
                                  const polytile_array *array, polytile_array **frame) {
    float *data = polytile_array_get_data(array);
    for (int64_t f = 0; f < c->n_frames; ++f)
        TRY(polytile_array_wrap(s->ctx, name, POLYTILE_F32, 2, c->extent,
                                data + f * frame_elements(c), &frame[f]));
    return POLYTILE_OK;
}

static polytile_status list_frames(session *s, saliency *c) {
    void *list;
    TRY(session_allocate(s, "the list of frames",
                         2 * c->n_frames * (int64_t)sizeof(polytile_array *), false, &list));
    c->frame = list;
    TRY(cut_frames(s, c, "frame", c->clip, c->frame));
    return cut_frames(s, c, "saliency", c->maps, c->frame + c->n_frames);
}

/* Planning. */

static polytile_status bind_kernels(session *s, const saliency *c) {
    polytile_graph *graph = c->frames.graph;
    TRY(polytile_graph_bind(graph, "hanning", hanning_implementation()));
    TRY(polytile_graph_bind(graph, "gabor", gabor_implementation()));
    TRY(polytile_graph_bind(graph, "interact", interact_implementation()));
    TRY(polytile_graph_bind(graph, "measure", measure_implementation()));
    TRY(polytile_graph_bind(graph, "normalise", normalise_implementation()));
    TRY(polytile_graph_bind(graph, "add", add_implementation()));
    return saliency_fft_bind(s, graph, c->extent);
}

static polytile_status plan(session *s, saliency *c, result *r) {
    char *text = NULL;
    polytile_status status = saliency_write_graph(s, c->extent, &text);
    if (status == POLYTILE_OK)
        status = frames_parse(s, text, &c->frames);
    free(text);
    TRY(status);
    TRY(bind_kernels(s, c));
    TRY(frames_plan(s, &c->frames, true, r));
    r->type = POLYTILE_F32;
    r->n_dims = 2;
    r->shape[0] = c->extent[0];
    r->shape[1] = c->extent[1];
    r->counts[0] = (result_count){"frames", c->n_frames * s->options.repeat};
    r->plan.n_kernels = r->graph.n_actors;
    r->plan.lower_bound_h2d_bytes =
        r->graph.h2d_bytes > 0 ? frame_elements(c) * (int64_t)sizeof(float) : 0;
    r->plan.lower_bound_bytes = 2 * r->plan.lower_bound_h2d_bytes;
    return POLYTILE_OK;
}

/* Running. */

static polytile_status find_expected(session *s, saliency *c) {
    void *expected;
    const float *clip = polytile_array_get_data(c->clip);
    if (!s->options.check)
        return POLYTILE_OK;
    TRY(session_allocate(s, "the expected saliency",
                         c->n_frames * frame_elements(c) * (int64_t)sizeof(double), false,
                         &expected));
    c->expected = expected;
    for (int64_t f = 0; f < c->n_frames; ++f)
        TRY(saliency_plain(s, c->extent, clip + f * frame_elements(c),
                           c->expected + f * frame_elements(c)));
    return POLYTILE_OK;
}

/** Stream the clip as often as --repeat says, with as many frames in flight as always may be. */
static polytile_status stream(const session *s, saliency *c) {
    const int64_t n = c->n_frames * s->options.repeat,
                  depth = polytile_stream_get_depth(c->frames.stream);
    for (int64_t f = 0; f < n + depth; ++f) {
        if (f >= depth)
            TRY(polytile_stream_pull(c->frames.stream, 1,
                                     &c->frame[c->n_frames + (f - depth) % c->n_frames], NULL));
        if (f < n)
            TRY(polytile_stream_push(c->frames.stream, 1, &c->frame[f % c->n_frames], NULL));
    }
    return POLYTILE_OK;
}

/** Transforms round, and their sums go another way. */
static void compare(const saliency *c, result *r) {
    const float *maps = polytile_array_get_data(c->maps);
    r->checked = c->expected != NULL;
    r->tolerance = 1e-4;
    for (int64_t k = 0; r->checked && k < c->n_frames * frame_elements(c); ++k) {
        const double error = fabs((double)maps[k] - c->expected[k]);
        r->max_error = error <= r->max_error ? r->max_error : error;
    }
}

static polytile_status run(session *s, saliency *c, result *r) {
    TRY(find_expected(s, c));
    TRY(list_frames(s, c));
    TRY(polytile_stream_create(c->frames.graph, c->frames.plan, NULL, &c->frames.stream));
    const double begin_s = clock_now_s();
    TRY(stream(s, c));
    frames_report(&c->frames, c->n_frames * s->options.repeat, clock_now_s() - begin_s, r);
    compare(c, r);
    return frames_write_profile(s, &c->frames);
}

static polytile_status find_saliency(session *s, result *r) {
    saliency c = {0};
    TRY(open_clip(s, &c));
    polytile_status status = plan(s, &c, r);
    if (status == POLYTILE_OK && !s->options.plan_only)
        status = run(s, &c, r);
    polytile_stream_destroy(c.frames.stream);
    saliency_fft_end();
    return status;
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, find_saliency);
}
