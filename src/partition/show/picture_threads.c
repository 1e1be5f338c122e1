#include "partition/show/picture.h"

#include "base/checked.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double slice_gap = 16, slice_caption = 34, least_order_step = 5;
enum { MOST_CELLS = 64 };

/** A slice of the launch domain while it is drawn. */
typedef struct slice_view {
    const pti_picture *picture;
    const pti_slices *slices;
    pti_panel panel;
} slice_view;

static const polytile_domain *superblock_of(const slice_view *view, int64_t k) {
    const polytile_domain *superblock = &view->picture->plan->schedule->superblock[k];
    return pti_panel_shows(&view->panel, superblock) ? superblock : NULL;
}

static int64_t count_drawn_superblocks(const slice_view *view) {
    int64_t n = 0;
    for (int64_t k = 0; k < view->picture->plan->schedule->n_superblocks; k++)
        n += superblock_of(view, k) != NULL;
    return n;
}

/** Write a number at the start of its superblock, beside the line of the run order: along the row
 * if the longest number has room there, or down the column. */
static void draw_order_number(const pti_picture *picture, pti_svg_box at, int64_t number) {
    static const double digit_width = 6.2, digit_height = 8, room = 6;
    int n_digits = snprintf(NULL, 0, "%" PRId64, picture->plan->schedule->n_superblocks - 1);
    double length = digit_width * n_digits + room;
    if (at.width >= length && at.height >= digit_height + 3)
        pti_svg_label(picture->svg, "number", at.x + 3, at.y + digit_height + 2, "%" PRId64,
                      number);
    else if (at.height >= length && at.width >= digit_height)
        pti_svg_label_down(picture->svg, "number", at.x + 2, at.y + 3, number);
}

static void draw_superblocks(const slice_view *view) {
    const pti_picture *picture = view->picture;
    const pti_schedule *schedule = picture->plan->schedule;
    for (int64_t k = 0; k < schedule->n_superblocks; k++) {
        const polytile_domain *superblock = superblock_of(view, k);
        if (superblock == NULL)
            continue;
        pti_svg_box at = pti_panel_place(&view->panel, superblock);
        pti_svg_rect(picture->svg, at.width < 4 || at.height < 4 ? "plain" : "superblock", at,
                     pti_svg_order_colour((double)k, schedule->n_superblocks).text,
                     pti_words_superblock(schedule, k).text);
        draw_order_number(picture, at, k);
    }
}

/** Draw the line through the superblocks in run order; it breaks where the order leaves the
 * slice. */
static void draw_order(const slice_view *view) {
    pti_text *svg = view->picture->svg;
    bool drawing = false;
    pti_text_add(svg, "<path class=\"order\" marker-start=\"url(#first)\" "
                      "marker-end=\"url(#last)\" d=\"");
    for (int64_t k = 0; k < view->picture->plan->schedule->n_superblocks; k++) {
        const polytile_domain *superblock = superblock_of(view, k);
        if (superblock != NULL) {
            pti_svg_box at = pti_panel_place(&view->panel, superblock);
            pti_text_add(svg, "%c%.1f %.1f", drawing ? 'L' : 'M', at.x + at.width / 2,
                         at.y + at.height / 2);
        }
        drawing = superblock != NULL;
    }
    pti_text_add(svg, "\"/>\n");
}

/** Cells that stand for the superblocks that have their middle in them. */
typedef struct cells {
    int64_t n_rows;
    int64_t n_cols;
    double places[MOST_CELLS * MOST_CELLS]; /* in the run order, summed up */
    int64_t count[MOST_CELLS * MOST_CELLS];
} cells;

static int64_t cell_index(const pti_panel *panel, int dim, const polytile_domain *superblock,
                          int64_t n_cells) {
    polytile_range space = panel->space.range[dim], span = superblock->range[dim];
    double middle = ((double)span.lo + (double)span.hi + 1) / 2 - (double)space.lo;
    double extent = (double)space.hi - (double)space.lo + 1;
    return pti_min((int64_t)(middle / extent * (double)n_cells), n_cells - 1);
}

static void fill_cells(const slice_view *view, cells *grid) {
    const pti_panel *panel = &view->panel;
    for (int64_t k = 0; k < view->picture->plan->schedule->n_superblocks; k++) {
        const polytile_domain *superblock = superblock_of(view, k);
        if (superblock == NULL)
            continue;
        int64_t cell = cell_index(panel, panel->row_dim, superblock, grid->n_rows) * grid->n_cols +
                       cell_index(panel, panel->col_dim, superblock, grid->n_cols);
        grid->places[cell] += (double)k;
        grid->count[cell]++;
    }
}

static void draw_cells(const slice_view *view, const cells *grid) {
    double width = view->panel.at.width / (double)grid->n_cols;
    double height = view->panel.at.height / (double)grid->n_rows;
    for (int64_t k = 0; k < grid->n_rows * grid->n_cols; k++) {
        if (grid->count[k] == 0)
            continue;
        pti_svg_box at = {view->panel.at.x + (double)(k % grid->n_cols) * width,
                          view->panel.at.y + (double)(k / grid->n_cols) * height, width, height};
        double place = grid->places[k] / (double)grid->count[k];
        int64_t n_places = view->picture->plan->schedule->n_superblocks;
        pti_svg_rect(view->picture->svg, "plain", at, pti_svg_order_colour(place, n_places).text,
                     NULL);
    }
}

/** Too many superblocks to see: cells, coloured by the mean place of theirs in the run order. */
static void draw_coarse(const slice_view *view, int64_t n) {
    const pti_panel *panel = &view->panel;
    const int64_t *n_cuts = view->slices->n_cuts;
    cells *grid = calloc(1, sizeof *grid);
    if (grid == NULL) {
        view->picture->svg->failed = true;
        return;
    }
    grid->n_rows = pti_min(n_cuts[panel->row_dim], MOST_CELLS);
    grid->n_cols = pti_min(n_cuts[panel->col_dim], MOST_CELLS);
    fill_cells(view, grid);
    draw_cells(view, grid);
    pti_svg_label(view->picture->svg, "small", panel->at.x, panel->at.y + panel->at.height + 15,
                  "%s superblocks, too many to draw: each of the %" PRId64 "x%" PRId64
                  " cells has the colour of its mean place",
                  pti_words_number(n).text, grid->n_rows, grid->n_cols);
    free(grid);
}

/** Return whether the line of the run order stands out from the superblocks it goes through. */
static bool order_is_visible(const slice_view *view, int64_t n) {
    const pti_panel *panel = &view->panel;
    const int64_t *n_cuts = view->slices->n_cuts;
    double step = fmin(panel->at.width / (double)n_cuts[panel->col_dim],
                       panel->at.height / (double)n_cuts[panel->row_dim]);
    return n > 1 && step >= least_order_step;
}

static void draw_slice(const slice_view *view) {
    const pti_picture *picture = view->picture;
    const polytile_domain *chosen = superblock_of(view, picture->chosen);
    int64_t n = count_drawn_superblocks(view);
    pti_panel_draw_space(picture->svg, &view->panel, picture->plan->instance->index_name);
    if (n > PTI_PANEL_MOST_BOXES) {
        draw_coarse(view, n);
    } else {
        draw_superblocks(view);
        if (order_is_visible(view, n))
            draw_order(view);
    }
    if (chosen != NULL)
        pti_svg_rect(picture->svg, "chosen", pti_panel_place(&view->panel, chosen), NULL, NULL);
}

/** Write what a slice leaves out: "k = 0:127". */
static void draw_slice_caption(const slice_view *view) {
    const pti_panel *panel = &view->panel;
    pti_words words = {""};
    for (int d = 0; d < panel->space.n_dims; d++)
        if (d != panel->row_dim && d != panel->col_dim)
            words = pti_words_of("%s%s%s = %" PRId64 ":%" PRId64 "%s", words.text,
                                 words.text[0] == '\0' ? "" : ", ",
                                 view->picture->plan->instance->index_name[d], panel->cut[d].lo,
                                 panel->cut[d].hi, view->slices->n_cuts[d] == 1 ? " (all)" : "");
    if (words.text[0] != '\0')
        pti_svg_label(view->picture->svg, "small", panel->at.x, panel->at.y - 19, "%s", words.text);
}

static double slice_width(const pti_slices *slices, double width) {
    return (width - (slices->n_cols - 1) * 3 * slice_gap) / slices->n_cols;
}

void pti_picture_threads(const pti_picture *picture, const pti_slices *slices, pti_svg_box area) {
    double width = slice_width(slices, area.width);
    double height = area.height / slices->n_rows - slice_caption;
    for (int k = 0; k < slices->n_slices; k++) {
        slice_view view = {picture, slices, slices->panel};
        double x = area.x + k % slices->n_cols * (width + 3 * slice_gap);
        double y = area.y + k / slices->n_cols * (height + slice_caption) + slice_caption;
        if (slices->slice_dim >= 0)
            view.panel.cut[slices->slice_dim] = slices->at[k];
        pti_panel_fit(&view.panel, (pti_svg_box){x, y, width, height});
        draw_slice(&view);
        draw_slice_caption(&view);
    }
    if (slices->n_layers > slices->n_slices)
        pti_svg_label(picture->svg, "small", area.x, area.y + area.height + 15,
                      "%d of %" PRId64 " slices", slices->n_slices, slices->n_layers);
}

double pti_picture_threads_height(const pti_slices *slices, double width) {
    double height = pti_panel_height(&slices->panel, slice_width(slices, width));
    return slices->n_rows * (height + slice_caption);
}
