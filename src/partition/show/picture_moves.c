#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/show/picture_chain.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <inttypes.h>

/* Rows of every array under the turns of the launches: what one slab brings, carries and takes. */

static const double head_height = 20, caption_height = 17, strip_height = 30, strip_gap = 12;
enum { MOST_ARRAYS = 6 };

/** How operations of a kind are drawn: their share of the strip's height, from the top. */
static const struct {
    const char *style;
    const char *words; /* "" if they are drawn, but bytes of them do not come from elsewhere */
    double top;
} moves[] = {
    [PTI_UPLOAD] = {"upload", "brings", 0},
    [PTI_COPY] = {"carried", "carries", 1. / 3},
    [PTI_FILL] = {"zeroed", "fills", 0},
    [PTI_LAUNCH] = {"", "", 0},
    [PTI_DOWNLOAD] = {"download", "takes", 2. / 3},
};

/** An array, and its dimension that follows the slabs; -1: none. */
typedef struct strip {
    const pti_chain_picture *picture;
    int array;
    int axis;
    pti_svg_box at;
} strip;

/** All that a superblock of a launch touches of an array; false if nothing. */
static bool find_touched(const pti_schedule *schedule, int launch, int64_t superblock, int array,
                         polytile_domain *hull) {
    const pti_schedule_launch *of = &schedule->launch[launch];
    bool is_found = false;
    for (int o = 0; o < of->instance->n_operands; o++) {
        polytile_domain touched;
        if (of->array[o] != array ||
            !pti_footprint_find_hull(of->instance, o, PTI_TOUCHES,
                                     &schedule->superblock[superblock], &touched))
            continue;
        *hull = is_found ? pti_box_coarse_union(hull, &touched) : touched;
        is_found = true;
    }
    return is_found;
}

static int differs_in(const polytile_domain *a, const polytile_domain *b) {
    for (int d = 0; d < a->n_dims; d++) {
        if (a->range[d].lo != b->range[d].lo || a->range[d].hi != b->range[d].hi)
            return d;
    }
    return -1;
}

/** The dimension of an array that follows a launch's slabs; -1 if none, or it has only one slab. */
static int axis_in_launch(const pti_chain_picture *picture, int launch, int array) {
    const pti_schedule_launch *of = &picture->schedule->launch[launch];
    int64_t first = of->first_superblock, end = first + of->n_superblocks;
    int64_t next = first;
    polytile_domain a, b;
    while (next < end && picture->turns->slab_of[next] == picture->turns->slab_of[first])
        next++;
    if (next == end || !find_touched(picture->schedule, launch, first, array, &a) ||
        !find_touched(picture->schedule, launch, next, array, &b))
        return -1;
    return differs_in(&a, &b);
}

int pti_chain_array_axis(const pti_chain_picture *picture, int array) {
    int axis = -1;
    for (int k = 0; k < picture->n_lines && axis < 0; k++)
        axis = axis_in_launch(picture, picture->line[k], array);
    return axis;
}

static void draw_rows(const strip *of, const char *style, polytile_range rows, double top,
                      double height) {
    pti_svg_box at = of->at;
    if (!pti_chain_place(of->picture, rows, &at))
        return;
    at.y += top * of->at.height;
    at.height *= height;
    pti_svg_rect(of->picture->svg, style, at, NULL, NULL);
}

/** The image that the chosen slab uses, and in it the band: all that its launches touch. */
static void draw_image(const strip *of) {
    const pti_chain_picture *picture = of->picture;
    const pti_schedule *schedule = picture->schedule;
    polytile_domain band = {0}, touched;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != PTI_LAUNCH || !pti_chain_is_chosen(picture, op) ||
            !find_touched(schedule, op->launch, op->superblock, of->array, &touched))
            continue;
        const pti_placement *image = pti_schedule_placement(schedule, op->superblock, of->array);
        if (band.n_dims == 0 && image != NULL)
            draw_rows(of, "held", image->layout.hull.range[of->axis], 0, 1);
        band = band.n_dims == 0 ? touched : pti_box_coarse_union(&band, &touched);
    }
    if (band.n_dims > 0)
        draw_rows(of, "band", band.range[of->axis], 0, 1);
}

/** Draw what operations of a kind move of the array; boxes of the same rows once. */
static void draw_moved(const strip *of, pti_op_kind kind) {
    const pti_schedule *schedule = of->picture->schedule;
    polytile_range before = {0, -1, 1};
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != kind || !pti_chain_is_chosen(of->picture, op) ||
            schedule->placement[op->placement].operand != of->array)
            continue;
        polytile_range rows = op->box.range[of->axis];
        if (rows.lo != before.lo || rows.hi != before.hi)
            draw_rows(of, moves[kind].style, rows, moves[kind].top, 1. / 3);
        before = rows;
    }
}

static void add_moved_words(const strip *of, pti_op_kind kind, pti_text *words) {
    const pti_schedule *schedule = of->picture->schedule;
    int64_t bytes = 0;
    char size[32];
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind == kind && pti_chain_is_chosen(of->picture, op) &&
            schedule->placement[op->placement].operand == of->array)
            bytes += op->bytes;
    }
    if (bytes > 0)
        pti_text_add(words, ", %s %s", moves[kind].words, polytile_size_format(bytes, size));
}

static void caption(const strip *of) {
    static const pti_op_kind order[] = {PTI_UPLOAD, PTI_FILL, PTI_COPY, PTI_DOWNLOAD};
    const pti_operand *array = &of->picture->schedule->instance->operand[of->array];
    pti_text words = {0};
    pti_text_add(&words, "%s ", array->name);
    pti_words_type(&words, array->type);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        add_moved_words(of, order[k], &words);
    if (of->axis < 0)
        pti_text_add(&words, "; does not go along with the slabs");
    if (!words.failed)
        pti_svg_label(of->picture->svg, "body", of->at.x, of->at.y - 5, "%s", words.data);
    of->picture->svg->failed |= words.failed;
    pti_text_free(&words);
}

static double draw_strip(const pti_chain_picture *picture, int array, double y) {
    strip of = {.picture = picture, .array = array, .axis = pti_chain_array_axis(picture, array)};
    of.at = (pti_svg_box){picture->x, y + caption_height, picture->width, strip_height};
    caption(&of);
    if (of.axis < 0)
        return caption_height + strip_gap / 2;
    draw_rows(&of, "space", picture->schedule->instance->operand[array].domain.range[of.axis], 0,
              1);
    draw_image(&of);
    for (int kind = PTI_UPLOAD; kind <= PTI_DOWNLOAD; kind++) {
        if (kind != PTI_LAUNCH)
            draw_moved(&of, (pti_op_kind)kind);
    }
    return caption_height + strip_height + strip_gap;
}

double pti_chain_draw_moves(const pti_chain_picture *picture, double y) {
    int n_arrays = picture->schedule->instance->n_operands;
    double at = y + head_height;
    if (picture->schedule->in_place)
        return 0;
    pti_svg_label(picture->svg, "head", picture->x, y + 8,
                  "what slab %" PRId64 " of pass 0 brings, carries and takes", picture->slab);
    for (int a = 0; a < pti_min(n_arrays, MOST_ARRAYS); a++)
        at += draw_strip(picture, a, at);
    if (n_arrays > MOST_ARRAYS) {
        pti_svg_label(picture->svg, "small", picture->x, at + 8, "and %d more array%s",
                      n_arrays - MOST_ARRAYS, n_arrays == MOST_ARRAYS + 1 ? "" : "s");
        at += caption_height;
    }
    return at - y;
}
