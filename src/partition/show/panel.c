#include "partition/show/panel.h"
#include "base/checked.h"

#include <inttypes.h>
#include <math.h>

static const double line_height = 26, widest_aspect = 4, tallest_aspect = 1.25;
static const double least_gap = 3;
enum { MOST_BARS = 2048 };

static bool spans_space(const polytile_domain *space, const polytile_domain *box, int dim) {
    return box->range[dim].lo == space->range[dim].lo && box->range[dim].hi == space->range[dim].hi;
}

pti_panel pti_panel_of(const polytile_domain *space, const polytile_domain *box) {
    pti_panel panel = {.row_dim = -1, .col_dim = -1, .space = *space};
    int first = -1, second = -1;
    for (int pass = 0; pass < 2; pass++)
        for (int d = 0; d < space->n_dims; d++) {
            bool wanted = spans_space(space, box, d) == (pass == 1);
            if (wanted && first < 0)
                first = d;
            else if (wanted && second < 0)
                second = d;
        }
    panel.row_dim = second < 0 ? -1 : (int)pti_min(first, second);
    panel.col_dim = second < 0 ? first : (int)pti_max(first, second);
    return panel;
}

static double extent_along(const pti_panel *panel, int dim) {
    polytile_range r = panel->space.range[dim];
    return (double)r.hi - (double)r.lo + 1;
}

double pti_panel_height(const pti_panel *panel, double width) {
    if (panel->row_dim < 0)
        return line_height;
    double aspect = extent_along(panel, panel->row_dim) / extent_along(panel, panel->col_dim);
    return width * fmin(fmax(aspect, 1 / widest_aspect), tallest_aspect);
}

void pti_panel_fit(pti_panel *panel, pti_svg_box area) {
    double width = area.width, height = pti_panel_height(panel, width);
    if (height > area.height) {
        width = panel->row_dim < 0 ? width : width * area.height / height;
        height = area.height;
    }
    panel->at = (pti_svg_box){area.x, area.y, width, height};
}

bool pti_panel_shows(const pti_panel *panel, const polytile_domain *box) {
    bool shows = !pti_box_is_empty(box);
    for (int d = 0; d < box->n_dims && shows; d++)
        shows = d == panel->row_dim || d == panel->col_dim ||
                (box->range[d].lo <= panel->cut[d].lo && panel->cut[d].lo <= box->range[d].hi);
    return shows;
}

/** Find the offset and length, in pixels, of a span of indices along one dimension. */
static void place_span(const pti_panel *panel, int dim, polytile_range span, double pixels,
                       double *offset, double *length) {
    polytile_range space = panel->space.range[dim];
    double scale = pixels / extent_along(panel, dim);
    *offset = ((double)pti_max(span.lo, space.lo) - (double)space.lo) * scale;
    *length = ((double)pti_min(span.hi, space.hi) - (double)space.lo + 1) * scale - *offset;
    *length = fmax(*length, 1);
    *offset = fmin(*offset, pixels - *length);
}

pti_svg_box pti_panel_place(const pti_panel *panel, const polytile_domain *box) {
    pti_svg_box at = panel->at;
    double x, y = 0;
    place_span(panel, panel->col_dim, box->range[panel->col_dim], panel->at.width, &x, &at.width);
    if (panel->row_dim >= 0)
        place_span(panel, panel->row_dim, box->range[panel->row_dim], panel->at.height, &y,
                   &at.height);
    at.x += x;
    at.y += y;
    return at;
}

static void draw_columns(pti_text *svg, const pti_panel *panel, const char *name) {
    polytile_range r = panel->space.range[panel->col_dim];
    pti_svg_box at = panel->at;
    pti_svg_label(svg, "small", at.x, at.y - 5, "%" PRId64, r.lo);
    pti_svg_label(svg, "small end", at.x + at.width, at.y - 5, "%" PRId64, r.hi);
    if (name != NULL)
        pti_svg_label(svg, "body middle", at.x + at.width / 2, at.y - 5, "%s", name);
}

static void label_rows(pti_text *svg, const pti_panel *panel, const char *name) {
    polytile_range r = panel->space.range[panel->row_dim];
    pti_svg_box at = panel->at;
    pti_svg_label(svg, "small end", at.x - 5, at.y + 11, "%" PRId64, r.lo);
    pti_svg_label(svg, "small end", at.x - 5, at.y + at.height, "%" PRId64, r.hi);
    if (name != NULL)
        pti_svg_label(svg, "body end", at.x - 8, at.y + at.height / 2 + 4, "%s", name);
}

void pti_panel_draw_space(pti_text *svg, const pti_panel *panel, char *const *names) {
    pti_svg_rect(svg, "space", panel->at, NULL, NULL);
    draw_columns(svg, panel, names == NULL ? NULL : names[panel->col_dim]);
    if (panel->row_dim >= 0)
        label_rows(svg, panel, names == NULL ? NULL : names[panel->row_dim]);
}

/** Return the bars to draw along one dimension: the box's elements one by one if their gaps can be
 * seen, otherwise one. */
static int64_t count_bars(const pti_panel *panel, int dim, polytile_range span, double pixels) {
    if (dim < 0 || span.step == 1 ||
        (double)(span.step - 1) * pixels / extent_along(panel, dim) < least_gap)
        return 1;
    return (span.hi - span.lo) / span.step + 1;
}

static polytile_range bar_of(polytile_range span, int64_t n_bars, int64_t bar) {
    int64_t at = span.lo + bar * span.step;
    return n_bars == 1 ? span : (polytile_range){at, at, 1};
}

void pti_panel_draw_box(pti_text *svg, const pti_panel *panel, const char *style,
                        const polytile_domain *box, const char *fill, const char *tooltip) {
    int row = panel->row_dim, col = panel->col_dim;
    int64_t n_rows = row < 0 ? 1 : count_bars(panel, row, box->range[row], panel->at.height);
    int64_t n_cols = count_bars(panel, col, box->range[col], panel->at.width);
    if (n_rows > MOST_BARS || n_cols > MOST_BARS || n_rows * n_cols > MOST_BARS)
        n_rows = n_cols = 1;
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t c = 0; c < n_cols; c++) {
            polytile_domain bar = *box;
            if (row >= 0)
                bar.range[row] = bar_of(box->range[row], n_rows, r);
            bar.range[col] = bar_of(box->range[col], n_cols, c);
            pti_svg_rect(svg, style, pti_panel_place(panel, &bar), fill, tooltip);
        }
}
