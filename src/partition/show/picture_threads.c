#include "base/checked.h"
#include "partition/show/picture.h"
#include "partition/show/slices.h"
#include "partition/show/words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double slice_gap = 16, slice_caption = 34, least_order_step = 5;
enum { MOST_CELLS = 64 };

typedef struct slice_view {
    const pti_picture *picture;
    const pti_slices *slices;
    int slice;
    pti_panel panel;
} slice_view;

static const polytile_domain *superblock_of(const slice_view *view, int64_t k) {
    const polytile_domain *superblock = &view->picture->schedule->superblock[k];
    return pti_slices_have(view->slices, view->slice, superblock) ? superblock : NULL;
}

static int64_t count_superblocks(const slice_view *view) {
    int64_t n = 0;
    for (int64_t k = 0; k < view->picture->schedule->n_superblocks; k++)
        n += superblock_of(view, k) != NULL;
    return n;
}

/** A number goes to the start of its superblock, beside the line of the run order: along the row if
 * the longest number has room there, or down the column. */
static void draw_number(const pti_picture *picture, pti_svg_box at, int64_t number) {
    static const double digit_width = 6.2, digit_height = 8, room = 6;
    int n_digits = snprintf(NULL, 0, "%" PRId64, picture->schedule->n_superblocks - 1);
    double length = digit_width * n_digits + room;
    if (at.width >= length && at.height >= digit_height + 3)
        pti_svg_label(picture->svg, "number", at.x + 3, at.y + digit_height + 2, "%" PRId64,
                      number);
    else if (at.height >= length && at.width >= digit_height)
        pti_svg_label_down(picture->svg, "number", at.x + 2, at.y + 3, number);
}

static void draw_rects(const slice_view *view) {
    const pti_picture *picture = view->picture;
    pti_text tooltip = {0};
    char colour[8];
    for (int64_t k = 0; k < picture->schedule->n_superblocks; k++) {
        const polytile_domain *superblock = superblock_of(view, k);
        if (superblock == NULL)
            continue;
        pti_svg_box at = pti_panel_place(&view->panel, superblock);
        pti_svg_rect(picture->svg, at.width < 4 || at.height < 4 ? "plain" : "superblock", at,
                     pti_picture_colour(picture, k, colour),
                     pti_picture_tooltip(picture, k, &tooltip));
        draw_number(picture, at, k);
    }
    picture->svg->failed |= tooltip.failed;
    pti_text_free(&tooltip);
}

/** The line through the superblocks in run order; it breaks where the order leaves the slice. */
static void draw_order(const slice_view *view) {
    pti_text *svg = view->picture->svg;
    bool drawing = false;
    pti_text_add(svg, "<path class=\"order\" marker-start=\"url(#first)\" "
                      "marker-end=\"url(#last)\" d=\"");
    for (int64_t k = 0; k < view->picture->schedule->n_superblocks; k++) {
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

typedef struct cells {
    int64_t n_rows;
    int64_t n_cols;
    double *place; /* the sum of the places in the run order, then their mean; owned */
    int64_t *count;
} cells;

static int64_t cell_index(const pti_panel *panel, int dim, polytile_range span, int64_t n_cells) {
    if (dim < 0)
        return 0;
    polytile_range space = panel->space.range[dim];
    double middle = ((double)span.lo + (double)span.hi + 1) / 2 - (double)space.lo;
    double extent = (double)space.hi - (double)space.lo + 1;
    return pti_min((int64_t)(middle / extent * (double)n_cells), n_cells - 1);
}

static void fill_cells(const slice_view *view, cells *grid) {
    const pti_panel *panel = &view->panel;
    for (int64_t k = 0; k < view->picture->schedule->n_superblocks; k++) {
        const polytile_domain *superblock = superblock_of(view, k);
        if (superblock == NULL)
            continue;
        int64_t row = panel->row_dim < 0
                          ? 0
                          : cell_index(panel, panel->row_dim, superblock->range[panel->row_dim],
                                       grid->n_rows);
        int64_t col =
            cell_index(panel, panel->col_dim, superblock->range[panel->col_dim], grid->n_cols);
        grid->place[row * grid->n_cols + col] += (double)k;
        grid->count[row * grid->n_cols + col]++;
    }
}

static void draw_cells(const slice_view *view, const cells *grid) {
    const pti_picture *picture = view->picture;
    double last = fmax((double)picture->schedule->n_superblocks - 1, 1);
    double width = view->panel.at.width / (double)grid->n_cols;
    double height = view->panel.at.height / (double)grid->n_rows;
    for (int64_t k = 0; k < grid->n_rows * grid->n_cols; k++) {
        char colour[8];
        if (grid->count[k] == 0)
            continue;
        pti_svg_box at = {view->panel.at.x + (double)(k % grid->n_cols) * width,
                          view->panel.at.y + (double)(k / grid->n_cols) * height, width, height};
        double place = grid->place[k] / (double)grid->count[k] / last;
        pti_svg_rect(picture->svg, "plain", at, pti_svg_order_colour(place, colour), NULL);
    }
}

/** Too many superblocks to see: cells, coloured by the mean place of theirs in the run order. */
static void draw_coarse(const slice_view *view) {
    const pti_slices *slices = view->slices;
    cells grid = {
        .n_rows = slices->row_dim < 0 ? 1 : pti_min(slices->n_cuts[slices->row_dim], MOST_CELLS),
        .n_cols = pti_min(slices->n_cuts[slices->col_dim], MOST_CELLS)};
    size_t n = (size_t)(grid.n_rows * grid.n_cols);
    grid.place = calloc(n, sizeof *grid.place);
    grid.count = calloc(n, sizeof *grid.count);
    if (grid.place == NULL || grid.count == NULL) {
        view->picture->svg->failed = true;
    } else {
        fill_cells(view, &grid);
        draw_cells(view, &grid);
    }
    free(grid.place);
    free(grid.count);
}

static void draw_coarse_note(const slice_view *view, int64_t n) {
    const pti_slices *slices = view->slices;
    pti_svg_box at = view->panel.at;
    char count[32];
    pti_svg_label(view->picture->svg, "small", at.x, at.y + at.height + 15,
                  "%s superblocks, too many to draw: each of the %" PRId64 "x%" PRId64
                  " cells has the colour of its mean place",
                  pti_count_format(n, count),
                  slices->row_dim < 0 ? 1 : pti_min(slices->n_cuts[slices->row_dim], MOST_CELLS),
                  pti_min(slices->n_cuts[slices->col_dim], MOST_CELLS));
}

/** Whether the line of the run order can be told from the superblocks it goes through. */
static bool order_is_visible(const slice_view *view, int64_t n) {
    const pti_slices *slices = view->slices;
    pti_svg_box at = view->panel.at;
    double rows = slices->row_dim < 0 ? 1 : (double)slices->n_cuts[slices->row_dim];
    double step = fmin(at.width / (double)slices->n_cuts[slices->col_dim], at.height / rows);
    return n > 1 && step >= least_order_step;
}

static void draw_slice(const slice_view *view) {
    const pti_picture *picture = view->picture;
    const polytile_domain *chosen = superblock_of(view, picture->chosen);
    int64_t n = count_superblocks(view);
    pti_panel_draw_space(picture->svg, &view->panel, picture->plan->instance->index_name);
    if (n > PTI_PICTURE_MOST_RECTS) {
        draw_coarse(view);
        draw_coarse_note(view, n);
    } else {
        draw_rects(view);
        if (order_is_visible(view, n))
            draw_order(view);
    }
    if (chosen != NULL)
        pti_svg_rect(picture->svg, "chosen", pti_panel_place(&view->panel, chosen), NULL, NULL);
}

/** What a slice leaves out: "at k = 0:127". */
static void describe_slice(const slice_view *view, pti_text *words) {
    const pti_instance *instance = view->picture->plan->instance;
    for (int d = 0; d < instance->n_indices; d++) {
        if (d == view->slices->row_dim || d == view->slices->col_dim)
            continue;
        polytile_range at =
            d == view->slices->slice_dim ? view->slices->at[view->slice] : view->slices->fixed[d];
        pti_text_add(words, "%s%s = %" PRId64 ":%" PRId64, words->length == 0 ? "" : ", ",
                     instance->index_name[d], at.lo, at.hi);
        if (view->slices->n_cuts[d] == 1)
            pti_text_add(words, " (all)");
    }
}

static void draw_slice_caption(const slice_view *view) {
    pti_text words = {0};
    describe_slice(view, &words);
    if (words.length > 0)
        pti_svg_label(view->picture->svg, "small", view->panel.at.x, view->panel.at.y - 19, "%s",
                      words.data);
    view->picture->svg->failed |= words.failed;
    pti_text_free(&words);
}

static void draw_layers_note(const pti_picture *picture, const pti_slices *slices,
                             pti_svg_box area) {
    if (slices->n_layers > slices->n_slices)
        pti_svg_label(picture->svg, "small", area.x, area.y + area.height + 15,
                      "%d of %" PRId64 " slices", slices->n_slices, slices->n_layers);
}

static pti_panel panel_of(const pti_picture *picture, const pti_slices *slices) {
    return (pti_panel){.row_dim = slices->row_dim,
                       .col_dim = slices->col_dim,
                       .space = picture->plan->instance->threads};
}

static int slice_columns(const pti_slices *slices) {
    return (int)ceil(sqrt((double)slices->n_slices));
}

static double slice_width(const pti_slices *slices, double width) {
    int n = slice_columns(slices);
    return (width - (n - 1) * 3 * slice_gap) / n;
}

void pti_picture_threads(const pti_picture *picture, pti_svg_box area) {
    pti_slices slices;
    if (!pti_slices_choose(picture->schedule, picture->chosen, &slices)) {
        picture->svg->failed = true;
        return;
    }
    int n_cols = slice_columns(&slices), n_rows = (slices.n_slices + n_cols - 1) / n_cols;
    double width = slice_width(&slices, area.width);
    double height = area.height / n_rows - slice_caption;
    for (int k = 0; k < slices.n_slices; k++) {
        slice_view view = {picture, &slices, k, panel_of(picture, &slices)};
        pti_panel_fit(&view.panel,
                      (pti_svg_box){area.x + k % n_cols * (width + 3 * slice_gap),
                                    area.y + k / n_cols * (height + slice_caption) + slice_caption,
                                    width, height});
        draw_slice(&view);
        draw_slice_caption(&view);
    }
    draw_layers_note(picture, &slices, area);
}

double pti_picture_threads_height(const pti_picture *picture, double width) {
    pti_slices slices;
    if (!pti_slices_choose(picture->schedule, picture->chosen, &slices)) {
        picture->svg->failed = true;
        return width;
    }
    int n_cols = slice_columns(&slices), n_rows = (slices.n_slices + n_cols - 1) / n_cols;
    pti_panel panel = panel_of(picture, &slices);
    return n_rows * (pti_panel_height(&panel, slice_width(&slices, width)) + slice_caption);
}
