#include "base/checked.h"
#include "partition/show/picture.h"
#include "partition/show/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* A launch of one index. Every superblock has a line of its own, the first on top: in the panel of
 * the threads, and below in that of every array, where the line shows what it moves and holds. */

static const double caption_height = 44, panel_gap = 10, total_height = 180, least_label_step = 11,
                    thin = 8;
enum { MOST_LINES = 60, MOST_ARRAYS = 6 };

typedef struct lines {
    const pti_picture *picture;
    int64_t stride; /* superblocks a line */
    int64_t n;
    double height;        /* of one line */
    int64_t label_stride; /* every such line is numbered */
} lines;

static lines choose_lines(const pti_picture *picture) {
    int64_t n = picture->schedule->n_superblocks;
    lines of = {.picture = picture, .stride = pti_ceil_div(n, MOST_LINES)};
    of.n = pti_ceil_div(n, of.stride);
    of.height = fmin(total_height / (double)of.n, 20);
    of.label_stride = (int64_t)ceil(least_label_step / of.height);
    return of;
}

/** The part of a line from its share first to its share last, both 0 .. 1, as a panel. */
static pti_panel part_of_line(const lines *of, const pti_panel *panel, int64_t line, double first,
                              double last) {
    pti_panel part = *panel;
    double gap = of->height < thin ? 0 : 1;
    part.at.y += ((double)line + first) * of->height + gap / 2;
    part.at.height = (last - first) * of->height - gap;
    return part;
}

static void draw_caption(const lines *of, const pti_panel *panel, const char *words) {
    pti_svg_label(of->picture->svg, "head", panel->at.x, panel->at.y - 20, "%s", words);
}

/** Make a hull contain a box; a hull of no dimensions is empty. */
static void extend_hull(polytile_domain *hull, const polytile_domain *box) {
    *hull = hull->n_dims == 0 ? *box : pti_box_coarse_union(hull, box);
}

static int64_t first_after(const lines *of, int64_t line) {
    return pti_min((line + 1) * of->stride, of->picture->schedule->n_superblocks);
}

/** The threads of a line's superblocks. */
static polytile_domain threads_of_line(const lines *of, int64_t line) {
    polytile_domain hull = {0};
    for (int64_t k = line * of->stride; k < first_after(of, line); k++)
        extend_hull(&hull, &of->picture->schedule->superblock[k]);
    return hull;
}

/** What a line's superblocks hold of an operand; of no dimensions if they hold nothing. */
static polytile_domain held_of_line(const lines *of, int64_t line, int operand) {
    polytile_domain hull = {0};
    for (int64_t k = line * of->stride; k < first_after(of, line); k++) {
        const pti_placement *placement = pti_schedule_placement(of->picture->schedule, k, operand);
        if (placement != NULL)
            extend_hull(&hull, &placement->layout.hull);
    }
    return hull;
}

static void draw_threads(const lines *of, const pti_panel *panel) {
    const pti_picture *picture = of->picture;
    pti_text tooltip = {0};
    for (int64_t line = 0; line < of->n; line++) {
        int64_t k = line * of->stride;
        char colour[8];
        pti_panel part = part_of_line(of, panel, line, 0, 1);
        polytile_domain threads = threads_of_line(of, line);
        pti_panel_draw_box(picture->svg, &part, "plain", &threads,
                           pti_picture_colour(picture, k, colour),
                           pti_picture_tooltip(picture, k, &tooltip));
        if (line % of->label_stride == 0)
            pti_svg_label(picture->svg, "small end", panel->at.x - 6,
                          part.at.y + part.at.height / 2 + 4, "%" PRId64, k);
    }
    picture->svg->failed |= tooltip.failed;
    pti_text_free(&tooltip);
}

/** Thin bars have no outline, which would hide their fill. */
static void draw_bar(const lines *of, const pti_panel *part, const char *kind,
                     const polytile_domain *box) {
    char style[32];
    snprintf(style, sizeof style, "%s%s", kind, of->height < thin ? " plain" : "");
    if (box->n_dims > 0)
        pti_panel_draw_box(of->picture->svg, part, style, box, NULL, NULL);
}

static void draw_held(const lines *of, const pti_panel *panel, int operand) {
    for (int64_t line = 0; line < of->n; line++) {
        polytile_domain held = held_of_line(of, line, operand);
        pti_panel part = part_of_line(of, panel, line, 0, 1);
        draw_bar(of, &part, "held", &held);
    }
}

/** Where an array is both uploaded and downloaded, each takes half of a line's height. */
static pti_panel half_of_line(const lines *of, const pti_panel *panel, int operand, int64_t line,
                              pti_op_kind kind) {
    const pti_operand *moved = &of->picture->plan->instance->operand[operand];
    bool is_shared = moved->reads && moved->writes;
    return part_of_line(of, panel, line, is_shared && kind == PTI_DOWNLOAD ? .5 : 0,
                        is_shared && kind == PTI_UPLOAD ? .5 : 1);
}

/** Each box that is moved, or what contains them where a line stands for several superblocks. */
static void draw_moved(const lines *of, const pti_panel *panel, int operand, pti_op_kind kind) {
    const pti_schedule *schedule = of->picture->schedule;
    polytile_domain hull[MOST_LINES] = {0};
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        int64_t line = op->superblock / of->stride;
        if (op->kind != kind || schedule->placement[op->placement].operand != operand)
            continue;
        pti_panel part = half_of_line(of, panel, operand, line, kind);
        if (of->stride == 1)
            draw_bar(of, &part, pti_op_word(kind), &op->box);
        else
            extend_hull(&hull[line], &op->box);
    }
    for (int64_t line = 0; line < of->n; line++) {
        pti_panel part = half_of_line(of, panel, operand, line, kind);
        draw_bar(of, &part, pti_op_word(kind), &hull[line]);
    }
}

static void caption_array(const lines *of, const pti_panel *panel, int operand) {
    pti_text words = {0};
    pti_words_operand(&words, of->picture->plan->instance, operand);
    if (panel->space.n_dims > 2)
        pti_text_add(&words, " (dimensions %d, %d)", panel->row_dim, panel->col_dim);
    if (!words.failed)
        draw_caption(of, panel, words.data);
    of->picture->svg->failed |= words.failed;
    pti_text_free(&words);
}

static void draw_line_array(const lines *of, pti_panel *panel, int operand) {
    panel->row_dim = -1;
    pti_panel_draw_space(of->picture->svg, panel, NULL);
    draw_held(of, panel, operand);
    draw_moved(of, panel, operand, PTI_UPLOAD);
    draw_moved(of, panel, operand, PTI_DOWNLOAD);
    caption_array(of, panel, operand);
}

/** An array of more dimensions: its plane, with every line's part of it in its colour. */
static void draw_plane_array(const lines *of, pti_panel *panel, int operand) {
    const pti_picture *picture = of->picture;
    char colour[8];
    pti_panel_draw_space(picture->svg, panel, NULL);
    for (int64_t line = of->n - 1; line >= 0; line--) {
        polytile_domain held = held_of_line(of, line, operand);
        if (held.n_dims > 0)
            pti_panel_draw_box(picture->svg, panel, "superblock", &held,
                               pti_picture_colour(picture, line * of->stride, colour), NULL);
    }
    caption_array(of, panel, operand);
}

/** The dimensions of an operand that differ from superblock to superblock. */
static pti_panel panel_of(const lines *of, int operand, pti_svg_box at) {
    const polytile_domain *space = &of->picture->plan->instance->operand[operand].domain;
    const pti_placement *placement =
        pti_schedule_placement(of->picture->schedule, of->picture->chosen, operand);
    pti_panel panel = pti_panel_of(space, placement == NULL ? space : &placement->layout.hull);
    panel.at = at;
    return panel;
}

static void draw_operand(const lines *of, int operand, pti_svg_box at) {
    pti_panel panel = panel_of(of, operand, at);
    if (panel.row_dim < 0)
        draw_line_array(of, &panel, operand);
    else
        draw_plane_array(of, &panel, operand);
}

static double draw_notes(const lines *of, double x, double y) {
    char count[32];
    int n_hidden = of->picture->plan->instance->n_operands - MOST_ARRAYS;
    if (n_hidden > 0)
        pti_svg_label(of->picture->svg, "small", x, y += 16, "and %d more array%s", n_hidden,
                      n_hidden == 1 ? "" : "s");
    if (of->stride > 1)
        pti_svg_label(of->picture->svg, "small", x, y += 16,
                      "a line stands for %" PRId64 " of the %s superblocks", of->stride,
                      pti_count_format(of->picture->schedule->n_superblocks, count));
    return y;
}

double pti_picture_lines(const pti_picture *picture, double x, double y, double width) {
    const pti_instance *instance = picture->plan->instance;
    lines of = choose_lines(picture);
    double height = of.height * (double)of.n, at = y + caption_height;
    pti_panel threads = {.at = {x, at, width, height}, .row_dim = -1, .space = instance->threads};
    pti_panel_draw_space(picture->svg, &threads, instance->index_name);
    draw_threads(&of, &threads);
    draw_caption(&of, &threads, "threads");
    for (int k = 0; k < pti_min(instance->n_operands, MOST_ARRAYS); k++) {
        at += height + panel_gap + caption_height;
        draw_operand(&of, k, (pti_svg_box){x, at, width, height});
    }
    return draw_notes(&of, x, at + height) - y;
}
