#include "base/checked.h"
#include "partition/picture.h"
#include "partition/plan_words.h"

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
    int64_t stride; /* every stride-th superblock is drawn */
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

/** The style of a bar; thin ones have no outline, which would hide their fill. */
static const char *style_of(const lines *of, const char *style, char *buffer, size_t size) {
    snprintf(buffer, size, "%s%s", style, of->height < thin ? " plain" : "");
    return buffer;
}

static void draw_caption(const lines *of, const pti_panel *panel, const char *words) {
    pti_svg_label(of->picture->svg, "head", panel->at.x, panel->at.y - 20, "%s", words);
}

static void draw_threads(const lines *of, const pti_panel *panel) {
    const pti_picture *picture = of->picture;
    pti_text tooltip = {0};
    for (int64_t line = 0; line < of->n; line++) {
        int64_t k = line * of->stride;
        char colour[8];
        pti_panel part = part_of_line(of, panel, line, 0, 1);
        pti_panel_draw_box(picture->svg, &part, "plain", &picture->schedule->superblock[k],
                           pti_picture_colour(picture, k, colour),
                           pti_picture_tooltip(picture, k, &tooltip));
        if (line % of->label_stride == 0)
            pti_svg_label(picture->svg, "small end", panel->at.x - 6,
                          part.at.y + part.at.height / 2 + 4, "%" PRId64, k);
    }
    picture->svg->failed |= tooltip.failed;
    pti_text_free(&tooltip);
}

static void draw_held(const lines *of, const pti_panel *panel, int operand) {
    char style[32];
    style_of(of, "held", style, sizeof style);
    for (int64_t line = 0; line < of->n; line++) {
        const pti_placement *placement =
            pti_schedule_placement(of->picture->schedule, line * of->stride, operand);
        pti_panel part = part_of_line(of, panel, line, 0, 1);
        if (placement != NULL)
            pti_panel_draw_box(of->picture->svg, &part, style, &placement->layout.hull, NULL, NULL);
    }
}

/** Where an array is both uploaded and downloaded, each takes half of a line's height. */
static void draw_moved(const lines *of, const pti_panel *panel, int operand, pti_op_kind kind) {
    const pti_operand *moved = &of->picture->plan->instance->operand[operand];
    bool is_shared = moved->reads && moved->writes;
    double first = is_shared && kind == PTI_DOWNLOAD ? .5 : 0;
    double last = is_shared && kind == PTI_UPLOAD ? .5 : 1;
    char style[32];
    style_of(of, pti_op_word(kind), style, sizeof style);
    const pti_schedule *schedule = of->picture->schedule;
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops; op++) {
        if (op->kind != kind || op->superblock % of->stride != 0 ||
            schedule->placement[op->placement].operand != operand)
            continue;
        pti_panel part = part_of_line(of, panel, op->superblock / of->stride, first, last);
        pti_panel_draw_box(of->picture->svg, &part, style, &op->box, NULL, NULL);
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

/** An array of more dimensions: its plane, with every drawn superblock's part of it in the colour
 * of that superblock. */
static void draw_plane_array(const lines *of, pti_panel *panel, int operand) {
    const pti_picture *picture = of->picture;
    char colour[8];
    pti_panel_draw_space(picture->svg, panel, NULL);
    for (int64_t line = of->n - 1; line >= 0; line--) {
        const pti_placement *placement =
            pti_schedule_placement(picture->schedule, line * of->stride, operand);
        if (placement != NULL)
            pti_panel_draw_box(picture->svg, panel, "superblock", &placement->layout.hull,
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
                      "one in %" PRId64 " of %s superblocks is drawn, a line each", of->stride,
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
