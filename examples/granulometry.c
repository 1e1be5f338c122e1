/* Granulometry: how much of a volume openings of growing sizes leave. */
#include "granulometry_graph.h"
#include "granulometry_kernels.h"

#include "common/clock.h"
#include "common/frames.h"
#include "common/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const example_spec spec = {
    .name = "granulometry",
    .summary =
        "Counts the elements of a volume that openings of growing sizes leave. An opening of size\n"
        "n is n erosions and n dilations by a cube of 3 x 3 x 3 elements; neighbours outside do\n"
        "not count. What one size removes is what the volume has of that size. Each opening is\n"
        "three actors of a graph, which the library maps to the devices; volumes stream through.",
    .default_n = 64,
    .least_n = 1,
    .extras = EXAMPLE_STREAM | EXAMPLE_VOLUME | EXAMPLE_SIZES | EXAMPLE_SEED,
    .uses_stream = true,
    .n_inputs = 1,
    .n_outputs = 1,
    .files =
        "files: --input the volume (FILE.npy: u8, three dimensions; else bytes, with --extents),\n"
        "--output the counts (i64, from size 0)",
};

typedef struct granulometry {
    volume volume;
    int64_t n_sizes;
    polytile_array *counts; /* of all sizes, from 0 */
    polytile_array **count; /* one a size, an element each; of the session's memory */
    int64_t *expected;      /* likewise; NULL: nothing is compared */
    frames frames;
} granulometry;

/* Planning. */

static polytile_status bind_kernels(polytile_graph *graph) {
    TRY(polytile_graph_bind(graph, "erode", erode_implementation()));
    TRY(polytile_graph_bind(graph, "dilate", dilate_implementation()));
    return polytile_graph_bind(graph, "count", count_implementation());
}

static polytile_status parse_graph(session *s, granulometry *g) {
    char *text = NULL;
    polytile_status status = granulometry_write_graph(s, &g->volume, g->n_sizes, &text);
    if (status == POLYTILE_OK)
        status = frames_parse(s, text, &g->frames);
    free(text);
    return status;
}

/** A run of each kernel for each erosion, dilation and count. */
static int64_t count_kernels(int64_t n_sizes) {
    return 1 + n_sizes * (n_sizes + 1) + n_sizes;
}

static void summarise(const session *s, const granulometry *g, result *r) {
    const volume *v = &g->volume;
    r->type = POLYTILE_U8;
    r->n_dims = VOLUME_DIMS;
    for (int d = 0; d < VOLUME_DIMS; ++d)
        r->shape[d] = v->extent[d];
    r->counts[0] = (result_count){"sizes", g->n_sizes};
    r->counts[1] = (result_count){"frames", s->options.repeat};
    r->plan.n_kernels = count_kernels(g->n_sizes);
    r->plan.lower_bound_h2d_bytes = r->graph.h2d_bytes > 0 ? v->n_elements : 0;
    r->plan.lower_bound_bytes = r->plan.lower_bound_h2d_bytes;
}

static polytile_status plan(session *s, granulometry *g, result *r) {
    TRY(parse_graph(s, g));
    TRY(bind_kernels(g->frames.graph));
    TRY(frames_plan(s, &g->frames, false, r));
    summarise(s, g, r);
    return POLYTILE_OK;
}

/* Running. */

/** The result of each size is an element of the counts. */
static polytile_status open_counts(session *s, granulometry *g) {
    const field_shape shape = {POLYTILE_I64, 1, {g->n_sizes + 1}};
    const int64_t one = 1, n_bytes = (g->n_sizes + 1) * (int64_t)sizeof *g->count;
    void *list;
    TRY(field_create_output(s, 0, "counts", &shape, &g->counts));
    if (s->options.plan_only)
        return POLYTILE_OK;
    TRY(session_allocate(s, "the list of counts", n_bytes, false, &list));
    g->count = list;
    int64_t *counts = polytile_array_get_data(g->counts);
    for (int64_t size = 0; size <= g->n_sizes; ++size)
        TRY(polytile_array_wrap(s->ctx, "count", POLYTILE_I64, 1, &one, counts + size,
                                &g->count[size]));
    return POLYTILE_OK;
}

static int64_t count_wrong(const int64_t *counts, const int64_t *expected, int64_t n_sizes) {
    int64_t worst = 0;
    for (int64_t size = 0; size <= n_sizes; ++size)
        worst = llabs(counts[size] - expected[size]) > worst ? llabs(counts[size] - expected[size])
                                                             : worst;
    return worst;
}

/** Find what has to come out; of a pack, in two ways, which have to agree. */
static polytile_status find_expected(session *s, granulometry *g) {
    const int64_t n_bytes = (g->n_sizes + 1) * (int64_t)sizeof *g->expected;
    void *plain, *closed;
    if (!s->options.check)
        return POLYTILE_OK;
    TRY(session_allocate(s, "the expected counts", n_bytes, false, &plain));
    TRY(session_allocate(s, "the pack's counts", n_bytes, false, &closed));
    g->expected = plain;
    TRY(volume_count_plainly(s, &g->volume, g->n_sizes, g->expected));
    if (!g->volume.is_pack)
        return POLYTILE_OK;
    volume_count_pack(s, &g->volume, g->n_sizes, closed);
    if (count_wrong(closed, g->expected, g->n_sizes) == 0)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INTERNAL, "plain loops do not count what the balls have");
}

/** Take the next frame's counts, and compare them. */
static polytile_status pull(const granulometry *g, result *r) {
    const int64_t *counts = polytile_array_get_data(g->counts);
    TRY(polytile_stream_pull(g->frames.stream, (int)g->n_sizes + 1, g->count, NULL));
    if (g->expected != NULL)
        r->max_error = fmax(r->max_error, (double)count_wrong(counts, g->expected, g->n_sizes));
    return POLYTILE_OK;
}

/** Stream the volume as often as --repeat says, with as many frames in flight as always may be. */
static polytile_status stream(const session *s, granulometry *g, result *r) {
    const int64_t n_frames = s->options.repeat, depth = polytile_stream_get_depth(g->frames.stream);
    for (int64_t f = 0; f < n_frames + depth; ++f) {
        if (f >= depth)
            TRY(pull(g, r));
        if (f < n_frames)
            TRY(polytile_stream_push(g->frames.stream, 1, &g->volume.array, NULL));
    }
    return POLYTILE_OK;
}

/** Print the granulometric curve and its derivative, for people. */
static void print_curve(const granulometry *g) {
    const int64_t *counts = polytile_array_get_data(g->counts);
    printf("%6s %14s %14s\n", "size", "left", "removed");
    for (int64_t size = 0; size <= g->n_sizes; ++size)
        printf("%6" PRId64 " %14" PRId64 " %14" PRId64 "\n", size, counts[size],
               size == 0 ? 0 : counts[size - 1] - counts[size]);
}

static polytile_status run(session *s, granulometry *g, result *r) {
    TRY(find_expected(s, g));
    TRY(polytile_stream_create(g->frames.graph, g->frames.plan, NULL, &g->frames.stream));
    const double begin_s = clock_now_s();
    TRY(stream(s, g, r));
    frames_report(&g->frames, s->options.repeat, clock_now_s() - begin_s, r);
    r->checked = g->expected != NULL;
    TRY(frames_write_profile(s, &g->frames));
    if (!s->options.json)
        print_curve(g);
    return POLYTILE_OK;
}

static polytile_status count_openings(session *s, result *r) {
    granulometry g = {.n_sizes = s->options.sizes};
    TRY(volume_open(s, spec.default_n, &g.volume));
    TRY(open_counts(s, &g));
    TRY(plan(s, &g, r));
    return s->options.plan_only ? POLYTILE_OK : run(s, &g, r);
}

int main(int argc, char **argv) {
    return example_main(&spec, argc, argv, count_openings);
}
