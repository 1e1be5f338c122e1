#include "partition/show/picture.h"

#include "access/pieces/shear.h"
#include "base/checked.h"

#include <inttypes.h>
#include <math.h>

/* A launch of one index. Every superblock has a line of its own, the first on top: in the panel of
 * the threads, and below in that of every array, where the line shows what it moves and holds. */

static const double caption_height = 44, panel_gap = 10, total_height = 180, least_label_step = 11,
                    thin = 8;
enum { MOST_LINES = 60, MOST_ARRAYS = 6 };

/** How superblocks are drawn as lines. */
typedef struct lines {
    const pti_picture *picture;
    const pti_schedule *schedule; /* the picture's */
    int64_t stride;               /* superblocks a line */
    int64_t n;
    double height;        /* of one line */
    int64_t label_stride; /* every such line is numbered */
} lines;

static lines choose_lines(const pti_picture *picture) {
    const pti_schedule *schedule = picture->plan->schedule;
    int64_t n = schedule->n_superblocks;
    lines of = {.picture = picture, .schedule = schedule, .stride = pti_ceil_div(n, MOST_LINES)};
    of.n = pti_ceil_div(n, of.stride);
    of.height = fmin(total_height / (double)of.n, 20);
    of.label_stride = (int64_t)ceil(least_label_step / of.height);
    return of;
}

/** Return the strip of a line from a first share of its height to a last, both 0 .. 1, as a
 * panel. */
static pti_panel strip_of_line(const lines *of, const pti_panel *panel, int64_t line, double first,
                               double last) {
    pti_panel strip = *panel;
    double gap = of->height < thin ? 0 : 1;
    strip.at.y += ((double)line + first) * of->height + gap / 2;
    strip.at.height = (last - first) * of->height - gap;
    return strip;
}

/** Make a hull contain a box; a hull of no dimensions is empty. */
static void extend_hull(polytile_domain *hull, const polytile_domain *box) {
    *hull = hull->n_dims == 0 ? *box : pti_box_coarse_union(hull, box);
}

static int64_t first_after(const lines *of, int64_t line) {
    return pti_min((line + 1) * of->stride, of->schedule->n_superblocks);
}

/** Return the threads of a line's superblocks. */
static polytile_domain threads_of_line(const lines *of, int64_t line) {
    polytile_domain hull = {0};
    for (int64_t k = line * of->stride; k < first_after(of, line); k++)
        extend_hull(&hull, &of->schedule->superblock[k]);
    return hull;
}

/** Return the hull of an operand's placements in a line; of no dimensions if there are none. */
static polytile_domain placements_of_line(const lines *of, int64_t line, int operand) {
    polytile_domain hull = {0};
    for (int64_t k = line * of->stride; k < first_after(of, line); k++) {
        const pti_placement *placement = pti_schedule_placement(of->schedule, 0, k, operand);
        if (placement == NULL)
            continue;
        const polytile_domain held = pti_operand_unsheared(
            &of->schedule->instance->operand[operand], &placement->layout.hull);
        extend_hull(&hull, &held);
    }
    return hull;
}

/** Draw the threads of each line's superblock, as a strip. */
static void draw_threads(const lines *of, const pti_panel *panel) {
    for (int64_t line = 0; line < of->n; line++) {
        int64_t k = line * of->stride;
        pti_panel strip = strip_of_line(of, panel, line, 0, 1);
        polytile_domain threads = threads_of_line(of, line);
        pti_panel_draw_box(of->picture->svg, &strip, "plain", &threads,
                           pti_svg_order_colour((double)k, of->schedule->n_superblocks).text,
                           pti_words_superblock(of->schedule, k).text);
        if (line % of->label_stride == 0)
            pti_svg_label(of->picture->svg, "small end", panel->at.x - 6,
                          strip.at.y + strip.at.height / 2 + 4, "%" PRId64, k);
    }
}

/** Thin bars have no outline, which would hide their fill. */
static void draw_bar(const lines *of, const pti_panel *strip, const char *kind,
                     const polytile_domain *box) {
    const pti_words style = pti_words_of("%s%s", kind, of->height < thin ? " plain" : "");
    if (box->n_dims > 0)
        pti_panel_draw_box(of->picture->svg, strip, style.text, box, NULL, NULL);
}

static void draw_placements(const lines *of, const pti_panel *panel, int operand) {
    for (int64_t line = 0; line < of->n; line++) {
        polytile_domain held = placements_of_line(of, line, operand);
        pti_panel strip = strip_of_line(of, panel, line, 0, 1);
        draw_bar(of, &strip, "held", &held);
    }
}

/** Where an array is both uploaded and downloaded, each takes half of a line's height. */
static pti_panel half_of_line(const lines *of, const pti_panel *panel, int operand, int64_t line,
                              pti_op_kind kind) {
    const pti_operand *moved = &of->picture->plan->instance->operand[operand];
    bool is_shared = moved->reads && moved->writes;
    return strip_of_line(of, panel, line, is_shared && kind == PTI_DOWNLOAD ? .5 : 0,
                         is_shared && kind == PTI_UPLOAD ? .5 : 1);
}

/** Each box that is moved, or what contains them where a line stands for several superblocks. */
static void draw_moved_of_line(const lines *of, const pti_panel *panel, int operand,
                               pti_op_kind kind) {
    const pti_schedule *schedule = of->schedule;
    polytile_domain hull[MOST_LINES] = {0};
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        int64_t line = op->superblock / of->stride;
        if (op->kind != kind || schedule->placement[op->placement].operand != operand)
            continue;
        pti_panel strip = half_of_line(of, panel, operand, line, kind);
        const polytile_domain box =
            pti_operand_unsheared(&schedule->instance->operand[operand], &op->box);
        if (of->stride == 1)
            draw_bar(of, &strip, pti_op_word(kind), &box);
        else
            extend_hull(&hull[line], &box);
    }
    for (int64_t line = 0; line < of->n; line++) {
        pti_panel strip = half_of_line(of, panel, operand, line, kind);
        draw_bar(of, &strip, pti_op_word(kind), &hull[line]);
    }
}

static void draw_line_array(const lines *of, pti_panel *panel, int operand) {
    panel->row_dim = -1;
    pti_panel_draw_space(of->picture->svg, panel, NULL);
    draw_placements(of, panel, operand);
    draw_moved_of_line(of, panel, operand, PTI_UPLOAD);
    draw_moved_of_line(of, panel, operand, PTI_DOWNLOAD);
}

/** Draw the plane of an array of more dimensions, with what every line holds of it in its
 * colour. */
static void draw_plane_array(const lines *of, const pti_panel *panel, int operand) {
    pti_panel_draw_space(of->picture->svg, panel, NULL);
    for (int64_t line = of->n - 1; line >= 0; line--) {
        polytile_domain held = placements_of_line(of, line, operand);
        double place = (double)(line * of->stride);
        if (held.n_dims > 0)
            pti_panel_draw_box(of->picture->svg, panel, "superblock", &held,
                               pti_svg_order_colour(place, of->schedule->n_superblocks).text, NULL);
    }
}

static void draw_operand(const lines *of, int operand, pti_svg_box at) {
    pti_panel panel = pti_picture_array_panel(of->picture, operand);
    panel.at = at;
    if (panel.row_dim < 0)
        draw_line_array(of, &panel, operand);
    else
        draw_plane_array(of, &panel, operand);
    pti_picture_caption_array(of->picture, &panel, operand, 20);
}

static double draw_notes(const lines *of, double x, double y) {
    int n_hidden = of->picture->plan->instance->n_operands - MOST_ARRAYS;
    if (n_hidden > 0)
        pti_svg_label(of->picture->svg, "small", x, y += 16, "and %s",
                      pti_words_count(n_hidden, "more array").text);
    if (of->stride > 1)
        pti_svg_label(of->picture->svg, "small", x, y += 16,
                      "a line stands for %" PRId64 " of the %s superblocks", of->stride,
                      pti_words_number(of->schedule->n_superblocks).text);
    return y;
}

double pti_picture_lines(const pti_picture *picture, double x, double y, double width) {
    const pti_instance *instance = picture->plan->instance;
    lines of = choose_lines(picture);
    double height = of.height * (double)of.n, at = y + caption_height;
    pti_panel threads = {.at = {x, at, width, height}, .row_dim = -1, .space = instance->threads};
    pti_panel_draw_space(picture->svg, &threads, instance->index_name);
    draw_threads(&of, &threads);
    pti_svg_label(picture->svg, "head", x, at - 20, "threads");
    for (int k = 0; k < pti_min(instance->n_operands, MOST_ARRAYS); k++) {
        at += height + panel_gap + caption_height;
        draw_operand(&of, k, (pti_svg_box){x, at, width, height});
    }
    return draw_notes(&of, x, at + height) - y;
}
