/* Volumes that are read, or generated as packs of balls. */
#include "granulometry_volume.h"

#include "common/generate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Packs: a ball in each of the cells of a lattice, with a free layer around it. Balls that touch
 * neither each other nor the border are opened each by itself. */

enum { CELLS_A_SIDE = 4, LEAST_CELL = 5, FREE_LAYERS = 2 };

typedef struct pack {
    int64_t cell; /* elements along a side */
    int64_t most_radius;
    int64_t n_cells[VOLUME_DIMS];
    uint64_t seed;
} pack;

static pack pack_of(const session *s, const volume *v) {
    pack p = {.cell = v->extent[0] / CELLS_A_SIDE, .seed = (uint64_t)s->options.seed};
    for (int d = 1; d < VOLUME_DIMS; ++d)
        if (v->extent[d] / CELLS_A_SIDE < p.cell)
            p.cell = v->extent[d] / CELLS_A_SIDE;
    if (p.cell < LEAST_CELL)
        p.cell = LEAST_CELL;
    p.most_radius = (p.cell - FREE_LAYERS - 1) / 2;
    for (int d = 0; d < VOLUME_DIMS; ++d)
        p.n_cells[d] = v->extent[d] / p.cell;
    return p;
}

static int64_t radius_of(const pack *p, int64_t i, int64_t j, int64_t k) {
    const int64_t cell = (i * p->n_cells[1] + j) * p->n_cells[2] + k;
    return 1 + (small_integer(cell, p->seed, p->most_radius) + p->most_radius) % p->most_radius;
}

static int64_t square(int64_t n) {
    return n * n;
}

static int64_t at_least(int64_t n, int64_t bound) {
    return n > bound ? n : bound;
}

static int64_t distance_of(int64_t i) {
    return i < 0 ? -i : i;
}

/** Return whether an element of a ball is left by an opening: whether a cube that has it fits the
 * ball. The cube nearest to the middle reaches max(|i|, size) along each axis. */
static bool is_left(int64_t radius, int64_t size, int64_t i, int64_t j, int64_t k) {
    return square(at_least(distance_of(i), size)) + square(at_least(distance_of(j), size)) +
               square(at_least(distance_of(k), size)) <=
           square(radius);
}

static void draw_ball(const volume *v, const pack *p, const int64_t *cell, uint8_t *data) {
    const int64_t r = radius_of(p, cell[0], cell[1], cell[2]);
    int64_t middle[VOLUME_DIMS];
    for (int d = 0; d < VOLUME_DIMS; ++d)
        middle[d] = cell[d] * p->cell + p->cell / 2;
    for (int64_t i = -r; i <= r; ++i)
        for (int64_t j = -r; j <= r; ++j)
            for (int64_t k = -r; k <= r; ++k)
                if (is_left(r, 0, i, j, k))
                    data[((middle[0] + i) * v->extent[1] + middle[1] + j) * v->extent[2] +
                         middle[2] + k] = 1;
}

static int64_t count_ball(int64_t radius, int64_t size) {
    int64_t n = 0;
    for (int64_t i = -radius; i <= radius; ++i)
        for (int64_t j = -radius; j <= radius; ++j)
            for (int64_t k = -radius; k <= radius; ++k)
                n += is_left(radius, size, i, j, k);
    return n;
}

/** A ball for each cell, in the order of the cells. */
static void draw_pack(const session *s, const volume *v) {
    const pack p = pack_of(s, v);
    uint8_t *data = polytile_array_get_data(v->array);
    int64_t cell[VOLUME_DIMS];
    for (cell[0] = 0; cell[0] < p.n_cells[0]; ++cell[0])
        for (cell[1] = 0; cell[1] < p.n_cells[1]; ++cell[1])
            for (cell[2] = 0; cell[2] < p.n_cells[2]; ++cell[2])
                draw_ball(v, &p, cell, data);
}

static int64_t count_balls(const pack *p, int64_t radius) {
    int64_t n = 0;
    for (int64_t i = 0; i < p->n_cells[0]; ++i)
        for (int64_t j = 0; j < p->n_cells[1]; ++j)
            for (int64_t k = 0; k < p->n_cells[2]; ++k)
                n += radius_of(p, i, j, k) == radius;
    return n;
}

void volume_count_pack(const session *s, const volume *v, int64_t n_sizes, int64_t *counts) {
    const pack p = pack_of(s, v);
    memset(counts, 0, (size_t)(n_sizes + 1) * sizeof *counts);
    for (int64_t radius = 1; radius <= p.most_radius; ++radius) {
        const int64_t n_balls = count_balls(&p, radius);
        for (int64_t size = 0; size <= n_sizes && size <= radius; ++size)
            counts[size] += n_balls * count_ball(radius, size);
    }
}

/* Files. */

static polytile_status fail_io(session *s, const char *what, const char *path) {
    return session_fail(s, POLYTILE_IO, "cannot %s %s: %s", what, path, strerror(errno));
}

/** Read a file of bytes that has to be as long as the volume. */
static polytile_status read_bytes(session *s, const char *path, FILE *file, const volume *v) {
    uint8_t *data = polytile_array_get_data(v->array);
    const size_t n_read = fread(data, 1, (size_t)v->n_elements, file);
    if (ferror(file))
        return fail_io(s, "read", path);
    if (n_read < (size_t)v->n_elements || fgetc(file) != EOF)
        return session_fail(s, POLYTILE_INVALID,
                            "%s has %s bytes than the %" PRId64 " of %" PRId64 "x%" PRId64
                            "x%" PRId64 " elements of one byte",
                            path, n_read < (size_t)v->n_elements ? "fewer" : "more", v->n_elements,
                            v->extent[0], v->extent[1], v->extent[2]);
    return POLYTILE_OK;
}

static polytile_status read_raw(session *s, const char *path, const volume *v) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return fail_io(s, "open", path);
    const polytile_status status = read_bytes(s, path, file, v);
    fclose(file);
    return status;
}

static polytile_status open_npy(session *s, const char *path, volume *v) {
    TRY(polytile_npy_open(s->ctx, "volume", path, false, &v->array));
    const field_shape shape = field_get_shape(v->array);
    if (shape.n_dims != VOLUME_DIMS || shape.type != POLYTILE_U8)
        return session_fail(s, POLYTILE_INVALID,
                            "%s has to have three dimensions and elements of u8; convert it, for "
                            "instance with numpy's astype('uint8')",
                            path);
    if (s->options.n_volume > 0)
        return session_fail(s, POLYTILE_INVALID, "%s says its extents; leave out --extents", path);
    memcpy(v->extent, shape.extent, sizeof v->extent);
    return field_require_n(s, v->extent[0]);
}

static bool is_npy(const char *path) {
    const size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static polytile_status count_elements(session *s, volume *v) {
    v->n_elements = 1;
    for (int d = 0; d < VOLUME_DIMS; ++d)
        if (__builtin_mul_overflow(v->n_elements, v->extent[d], &v->n_elements))
            return session_fail(s, POLYTILE_OVERFLOW, "the elements of the volume exceed 64 bits");
    return POLYTILE_OK;
}

static polytile_status choose_extents(session *s, int64_t default_n, volume *v) {
    if (s->options.n_volume > 0 && s->options.n > 0)
        return session_fail(s, POLYTILE_INVALID, "--n and --extents both give a size; give one");
    for (int d = 0; d < VOLUME_DIMS; ++d)
        v->extent[d] = s->options.n_volume > 0 ? s->options.volume[d]
                       : s->options.n > 0      ? s->options.n
                                               : default_n;
    return POLYTILE_OK;
}

polytile_status volume_open(session *s, int64_t default_n, volume *v) {
    const char *path = s->options.n_inputs > 0 ? s->options.input[0] : NULL;
    *v = (volume){.is_pack = path == NULL};
    if (path != NULL && is_npy(path)) {
        TRY(open_npy(s, path, v));
        return count_elements(s, v);
    }
    if (path != NULL && s->options.n_volume == 0)
        return session_fail(s, POLYTILE_INVALID,
                            "%s is no .npy file; say its extents by --extents, such as "
                            "512x512x512, to read it as bytes",
                            path);
    TRY(choose_extents(s, default_n, v));
    TRY(count_elements(s, v));
    const field_shape shape = {
        POLYTILE_U8, VOLUME_DIMS, {v->extent[0], v->extent[1], v->extent[2]}};
    TRY(field_create(s, "volume", &shape, &v->array));
    if (s->options.plan_only)
        return POLYTILE_OK;
    if (path != NULL)
        return read_raw(s, path, v);
    draw_pack(s, v);
    return POLYTILE_OK;
}
