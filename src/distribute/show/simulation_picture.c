#include "distribute/show/simulation.h"

#include "distribute/policy/simulate.h"
#include "partition/show/page.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* A Gantt picture: of each policy a panel, in it a lane a unit, on it the pieces where they ran.
 * All panels have one scale. Pieces are coloured by their order in the launch. */

enum { LABEL_WIDTH = 96, TOP = 104, TITLE_HEIGHT = 24, PANEL_GAP = 22, LANES_HEIGHT = 160 };

static const double most_lane_height = 18, least_lane_height = 2, least_width = .7;

/** A Gantt chart: a lane a unit, with what it runs. */
typedef struct policy_chart {
    const polytile_simulation *of;
    pti_text *svg;
    double left;
    double per_second; /* pixels */
    double lane_height;
} policy_chart;

static policy_chart lay_out_chart(const polytile_simulation *simulation, pti_text *svg) {
    double longest_s = simulation->lower_bound_s;
    for (int k = 0; k < simulation->n_policies; k++)
        longest_s = fmax(longest_s, simulation->of[k].makespan_s);
    const double left = PTI_PAGE_MARGIN + LABEL_WIDTH;
    return (policy_chart){
        .of = simulation,
        .svg = svg,
        .left = left,
        .per_second = (PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - left) / (longest_s > 0 ? longest_s : 1),
        .lane_height =
            fmin(most_lane_height, fmax(least_lane_height, LANES_HEIGHT / simulation->n_units))};
}

/** A unit's piece with those after it that are too narrow to be seen alone; *next is where to go
 * on. */
static pti_simulated_piece join_narrow(const policy_chart *of, const pti_simulated *result,
                                       int64_t first, int64_t *next) {
    pti_simulated_piece joined = result->piece[first];
    for (*next = first + 1; *next < result->n_pieces; (*next)++) {
        const pti_simulated_piece *piece = &result->piece[*next];
        if (piece->unit != joined.unit)
            continue;
        if ((piece->end_s - joined.begin_s) * of->per_second > least_width ||
            piece->begin_s > joined.end_s)
            break;
        joined.end_s = piece->end_s;
        joined.rows.count = piece->rows.first + piece->rows.count - joined.rows.first;
    }
    return joined;
}

static void draw_piece(const policy_chart *of, const pti_simulated_piece *piece, double y) {
    const double width = (piece->end_s - piece->begin_s) * of->per_second;
    const pti_svg_box box = {of->left + piece->begin_s * of->per_second, y, width,
                             of->lane_height - (of->lane_height > 6 ? 2 : 0)};
    const pti_words tooltip = pti_words_of(
        "unit %d: rows %" PRId64 " to %" PRId64 ", %.6g s to %.6g s", piece->unit,
        piece->rows.first, piece->rows.first + piece->rows.count - 1, piece->begin_s, piece->end_s);
    pti_svg_rect(of->svg, width > 3 ? "superblock" : "plain", box,
                 pti_svg_order_colour((double)piece->rows.first, of->of->n_rows).text,
                 tooltip.text);
}

static void draw_lane(const policy_chart *of, const pti_simulated *result, int unit, double y) {
    int64_t next;
    if (of->lane_height > 9)
        pti_svg_label(of->svg, "small end", of->left - 8, y + of->lane_height / 2 + 3,
                      "unit %d: %g", unit, of->of->speed[unit]);
    for (int64_t p = 0; p < result->n_pieces; p = next) {
        next = p + 1;
        if (result->piece[p].unit != unit)
            continue;
        const pti_simulated_piece piece = join_narrow(of, result, p, &next);
        draw_piece(of, &piece, y);
    }
}

/** Return where the panel ends. */
static double draw_policy_panel(const policy_chart *of, const pti_simulated *result, double y) {
    const double bound_s = of->of->lower_bound_s;
    const double height = of->lane_height * of->of->n_units;
    const double end = of->left + result->makespan_s * of->per_second;
    pti_svg_label(of->svg, "head", PTI_PAGE_MARGIN, y + 12, "%s", result->policy);
    pti_svg_label(of->svg, "small end", PTI_PAGE_WIDTH - PTI_PAGE_MARGIN, y + 12,
                  "%s, %.4g times the least, %s", pti_words_seconds(result->makespan_s).text,
                  bound_s > 0 ? result->makespan_s / bound_s : 1,
                  pti_words_count(result->n_pieces, "piece").text);
    y += TITLE_HEIGHT;
    pti_svg_rect(of->svg, "space", (pti_svg_box){of->left, y, end - of->left, height}, NULL, NULL);
    for (int u = 0; u < of->of->n_units; u++)
        draw_lane(of, result, u, y + u * of->lane_height + 1);
    pti_svg_rect(of->svg, "band",
                 (pti_svg_box){of->left, y - 3, bound_s * of->per_second, height + 6}, NULL, NULL);
    return y + height;
}

void pti_simulation_draw(pti_text *svg, const pti_object *object) {
    const polytile_simulation *simulation = (const polytile_simulation *)object;
    pti_page page = {0};
    const policy_chart of = lay_out_chart(simulation, &page.body);
    double y = TOP;
    pti_text_add(&page.title, "%s on %s", pti_words_count(simulation->n_rows, "row").text,
                 pti_words_count(simulation->n_units, "unit").text);
    page.line[0] = pti_words_of("Who runs which rows when, by policy; time goes to the right. "
                                "Colours follow the order of the rows.");
    page.line[1] = pti_words_of("No policy needs less than %s, the dashed frame. Behind a unit is "
                                "its speed.",
                                pti_words_seconds(simulation->lower_bound_s).text);
    for (int k = 0; k < simulation->n_policies; k++)
        y = draw_policy_panel(&of, &simulation->of[k], y) + PANEL_GAP;
    pti_page_write(svg, &page, y);
}
