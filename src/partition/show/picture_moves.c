#include "partition/show/picture_chain.h"

#include "base/checked.h"

#include <inttypes.h>

/* Rows of every array under the slabs of the launches: what one slab brings, carries and takes. */

static const double head_height = 20, caption_height = 17, strip_height = 30, strip_gap = 12;
enum { MOST_ARRAYS = 6 };

/** How operations of a kind are drawn: their share of the strip's height, from the top. */
static const struct {
    const char *style;
    const char *words;
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

static void draw_rows(const strip *of, const char *style, polytile_range rows, double top,
                      double height) {
    pti_svg_box at = of->at;
    if (!pti_chain_place(of->picture, rows, &at))
        return;
    at.y += top * of->at.height;
    at.height *= height;
    pti_svg_rect(of->picture->svg, style, at, NULL, NULL);
}

/** Return the image of the array that a superblock uses; NULL if it uses none. */
static const pti_placement *image_of(const pti_schedule *schedule, const pti_op *op, int array) {
    const pti_call *call = &schedule->launch[op->launch].call;
    const pti_placement *image = NULL;
    for (int o = 0; o < call->instance->n_operands && image == NULL; o++)
        if (call->array[o] == array)
            image = pti_schedule_placement(schedule, op->launch, op->superblock, o);
    return image;
}

/** Draw the image that the chosen slab uses, and in it the band: all that its launches touch. */
static void draw_image(const strip *of) {
    const pti_chain_picture *picture = of->picture;
    const pti_schedule *schedule = picture->schedule;
    polytile_domain band = {0}, touched;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != PTI_LAUNCH || !pti_chain_is_chosen(picture, op) ||
            !pti_interleaving_touched(schedule, op->launch, op->superblock, of->array, &touched))
            continue;
        const pti_placement *image = image_of(schedule, op, of->array);
        if (band.n_dims == 0 && image != NULL)
            draw_rows(of, "held", image->layout.hull.range[of->axis], 0, 1);
        band = band.n_dims == 0 ? touched : pti_box_coarse_union(&band, &touched);
    }
    if (band.n_dims > 0)
        draw_rows(of, "band", band.range[of->axis], 0, 1);
}

/** Draw what operations of a kind move of the array; boxes of the same rows once. */
static void draw_moved_of_array(const strip *of, pti_op_kind kind) {
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

static int64_t sum_moved(const strip *of, pti_op_kind kind) {
    const pti_schedule *schedule = of->picture->schedule;
    int64_t n_bytes = 0;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++)
        if (op->kind == kind && pti_chain_is_chosen(of->picture, op) &&
            schedule->placement[op->placement].operand == of->array)
            n_bytes += op->bytes;
    return n_bytes;
}

static void write_caption(const strip *of) {
    static const pti_op_kind order[] = {PTI_UPLOAD, PTI_FILL, PTI_COPY, PTI_DOWNLOAD};
    const pti_operand *array = &of->picture->schedule->instance->operand[of->array];
    pti_words words = pti_words_of("%s %s", array->name, pti_words_type(array->type).text);
    for (size_t k = 0; k < sizeof order / sizeof *order; k++) {
        int64_t n_bytes = sum_moved(of, order[k]);
        if (n_bytes > 0)
            words = pti_words_of("%s, %s %s", words.text, moves[order[k]].words,
                                 pti_words_size(n_bytes).text);
    }
    pti_svg_label(of->picture->svg, "body", of->at.x, of->at.y - 5, "%s%s", words.text,
                  of->axis < 0 ? "; does not go along with the slabs" : "");
}

static double draw_strip(const pti_chain_picture *picture, int array, double y) {
    strip of = {.picture = picture, .array = array, .axis = pti_chain_array_axis(picture, array)};
    of.at = (pti_svg_box){picture->x, y + caption_height, picture->width, strip_height};
    write_caption(&of);
    if (of.axis < 0)
        return caption_height + strip_gap / 2;
    draw_rows(&of, "space", picture->schedule->instance->operand[array].domain.range[of.axis], 0,
              1);
    draw_image(&of);
    for (int kind = PTI_UPLOAD; kind <= PTI_DOWNLOAD; kind++) {
        if (kind != PTI_LAUNCH)
            draw_moved_of_array(&of, (pti_op_kind)kind);
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
        pti_svg_label(picture->svg, "small", picture->x, at + 8, "and %s",
                      pti_words_count(n_arrays - MOST_ARRAYS, "more array").text);
        at += caption_height;
    }
    return at - y;
}
