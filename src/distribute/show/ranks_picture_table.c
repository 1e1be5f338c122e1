#include "distribute/show/ranks_picture.h"

#include "base/checked.h"
#include <polytile/size.h>

#include <math.h>
#include <stdio.h>

/* Who sends how much to whom, as a table. */

static const double heading_height = 28, most_width = 76, cell_height = 22, gap = 20;

bool pti_ranks_has_table(const polytile_ranks_plan *plan) {
    return plan->outer.n_flows > 0 && plan->outer.n_members <= PTI_RANKS_MOST_ARROWS;
}

/* Light where little travels; in a buffer of at least 8 bytes, which it returns. */
static char *shade(double share, char *buffer) {
    static const double full[] = {242, 140, 56};
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(255 - (.15 + .6 * share) * (255 - full[c]));
    snprintf(buffer, 8, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
    return buffer;
}

/* Where the table of bytes begins, and the width of its cells. */
typedef struct table {
    double x;
    double y;
    double width;
} table;

/* A cell of the table, whose heads are row and column -1. */
static pti_svg_box cell_of(const table *of, int row, int column) {
    return (pti_svg_box){of->x + of->width * (column + 1), of->y + cell_height * (row + 1),
                         of->width - 2, cell_height - 2};
}

static void draw_cell(pti_text *svg, pti_svg_box at, const char *fill, const char *words) {
    pti_svg_rect(svg, "plain", at, fill, NULL);
    pti_svg_label(svg, "number middle", at.x + at.width / 2, at.y + 14, "%s", words);
}

static void draw_heads(pti_text *svg, const polytile_ranks_plan *plan, const table *of) {
    char colour[8], words[32];
    for (int q = 0; q < plan->outer.n_members; q++) {
        snprintf(words, sizeof words, "from %d", q);
        draw_cell(svg, cell_of(of, q, -1), pti_ranks_colour(plan, q, colour), words);
        snprintf(words, sizeof words, "to %d", q);
        draw_cell(svg, cell_of(of, -1, q), pti_ranks_colour(plan, q, colour), words);
    }
}

/* The bytes of all arrays from one rank to another; flows of the same way follow one another. */
static int64_t sum_way(const pti_outer_plan *outer, int *f) {
    const pti_outer_flow *first = &outer->flow[*f];
    int64_t n_bytes = 0;
    for (; *f < outer->n_flows && outer->flow[*f].to == first->to &&
           outer->flow[*f].from == first->from;
         ++*f)
        n_bytes += outer->flow[*f].n_bytes;
    return n_bytes;
}

static int64_t find_most(const pti_outer_plan *outer) {
    int64_t most = 1;
    for (int f = 0; f < outer->n_flows;)
        most = pti_max(most, sum_way(outer, &f));
    return most;
}

double pti_ranks_table_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y,
                            double width) {
    const pti_outer_plan *outer = &plan->outer;
    const table of = {x, y + heading_height, fmin(most_width, width / (outer->n_members + 1))};
    int64_t most = find_most(outer);
    char colour[8], size[32];
    pti_svg_label(svg, "head", x, y + 16, "bytes from rank to rank%s",
                  outer->n_groups > 1 ? ", in all exchanges" : "");
    draw_heads(svg, plan, &of);
    for (int f = 0; f < outer->n_flows;) {
        const pti_outer_flow *flow = &outer->flow[f];
        int64_t n_bytes = sum_way(outer, &f);
        draw_cell(svg, cell_of(&of, flow->from, flow->to),
                  shade((double)n_bytes / (double)most, colour),
                  polytile_size_format(n_bytes, size));
    }
    return heading_height + cell_height * (outer->n_members + 1) + gap;
}
