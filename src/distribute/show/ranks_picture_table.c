#include "distribute/show/ranks_picture.h"

#include "base/checked.h"

#include <math.h>

/* Who sends how much to whom, as a table. */

static const double heading_height = 28, most_width = 76, cell_height = 22, gap = 20;

bool pti_ranks_has_table(const polytile_ranks_plan *plan) {
    return plan->members.n_flows > 0 && plan->members.n_members <= PTI_RANKS_MOST_ARROWS;
}

/* Light where little travels, of a share 0 .. 1 of the most. */
static pti_words shade_of_share(double share) {
    static const double full[] = {242, 140, 56};
    int rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (int)(255 - (.15 + .6 * share) * (255 - full[c]));
    return pti_words_of("#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

/* Return a cell of the table, of which the corner is given; its heads are row and column -1. */
static pti_svg_box cell_of(pti_svg_box corner, int row, int column) {
    return (pti_svg_box){corner.x + corner.width * (column + 1), corner.y + cell_height * (row + 1),
                         corner.width - 2, cell_height - 2};
}

static void draw_cell(pti_text *svg, pti_svg_box at, const char *fill, const char *words) {
    pti_svg_rect(svg, "plain", at, fill, NULL);
    pti_svg_label(svg, "number middle", at.x + at.width / 2, at.y + 14, "%s", words);
}

static void draw_heads(pti_text *svg, const polytile_ranks_plan *plan, pti_svg_box corner) {
    for (int q = 0; q < plan->members.n_members; q++) {
        const pti_words colour = pti_svg_order_colour(q, plan->members.n_members);
        draw_cell(svg, cell_of(corner, q, -1), colour.text,
                  pti_words_of("from %s", pti_words_member(plan, q).text).text);
        draw_cell(svg, cell_of(corner, -1, q), colour.text,
                  pti_words_of("to %s", pti_words_member(plan, q).text).text);
    }
}

static int64_t find_most(const pti_members_plan *members) {
    int64_t most = 1;
    pti_ranks_way way;
    for (int f = 0; f < members->n_flows; f += way.n_flows) {
        way = pti_ranks_way_at(members, f);
        most = pti_max(most, way.n_bytes);
    }
    return most;
}

double pti_ranks_table_draw(pti_text *svg, const polytile_ranks_plan *plan, double x, double y,
                            double width) {
    const pti_members_plan *members = &plan->members;
    const pti_svg_box corner = {x, y + heading_height,
                                fmin(most_width, width / (members->n_members + 1)), cell_height};
    double most = (double)find_most(members);
    pti_ranks_way way;
    pti_svg_label(svg, "head", x, y + 16, "bytes from %s to %s%s", pti_ranks_word(plan),
                  pti_ranks_word(plan), members->n_supersteps > 1 ? ", in all exchanges" : "");
    draw_heads(svg, plan, corner);
    for (int f = 0; f < members->n_flows; f += way.n_flows) {
        way = pti_ranks_way_at(members, f);
        draw_cell(svg, cell_of(corner, way.flow->from, way.flow->to),
                  shade_of_share((double)way.n_bytes / most).text,
                  pti_words_size(way.n_bytes).text);
    }
    return heading_height + cell_height * (members->n_members + 1) + gap;
}
