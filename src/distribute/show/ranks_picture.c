#include "distribute/show/ranks_picture.h"

#include "base/checked.h"
#include "partition/show/page.h"

#include <inttypes.h>
#include <math.h>

/* The picture of a plan of ranks: heading, the threads and the arrays cut into ranks, who sends
 * how much to whom, the legend. */

static const double body_top = 100, panel_width = 388, left[] = {84, 544}, legend_height = 34;
static const double caption_height = 46, labels_height = 34, gap = 20;
enum { MOST_ARRAYS = 7, N_COLUMNS = 2, MOST_BESIDE = 7 };

static void write_title(pti_text *words, const polytile_ranks_plan *plan) {
    pti_write_kernels(words, &plan->launches);
    pti_text_add(words, " over %s: %s, %s", pti_words_members(plan).text,
                 pti_words_grid(&plan->members.grid).text, plan->layout);
}

static pti_words describe_exchanges(const polytile_ranks_plan *plan) {
    const pti_members_plan *members = &plan->members;
    const pti_words words = pti_words_exchanges(plan);
    if (members->combined_bytes == 0)
        return words;
    return pti_words_of("%s; %s combined across all", words.text,
                        pti_words_size(members->combined_bytes).text);
}

static pti_words describe_inner(const polytile_ranks_plan *plan) {
    const polytile_plan_summary *s = &plan->inner->summary;
    const pti_words where =
        s->limit_bytes == 0
            ? pti_words_of(" in place")
            : pti_words_of(" within %s, %s to the device, %s back",
                           pti_words_size(s->limit_bytes).text, pti_words_size(s->h2d_bytes).text,
                           pti_words_size(s->d2h_bytes).text);
    return pti_words_of("%s %s, which has the most to do: %s%s%s", pti_ranks_word(plan),
                        pti_words_member(plan, plan->members.busiest).text,
                        pti_words_count(s->n_kernels, "superblock").text, where.text,
                        plan->members.n_supersteps > 1 ? ", until the second exchange" : "");
}

static void draw_ranks_legend(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    const pti_swatch swatches[] = {
        {plan->members.first.n_transfers > 0 ? "halo-band" : NULL,
         "travels, drawn where it comes from", 246},
        {"chosen",
         plan->of.n_local > 1 ? "the device with the most to do" : "the rank with the most to do",
         208},
        {pti_ranks_shows_inner(plan) ? "inner" : NULL, "superblocks inside it", 0},
    };
    int n_ranks = plan->members.n_members;
    pti_svg_label(svg, "body", PTI_PAGE_MARGIN, y, "%s %s", pti_ranks_word(plan),
                  pti_words_member(plan, 0).text);
    double x = pti_page_draw_colours(svg, PTI_PAGE_MARGIN + (plan->of.n_local > 1 ? 66 : 44), y,
                                     (int)pti_min(n_ranks, 12), 14, n_ranks);
    if (n_ranks > 1)
        pti_svg_label(svg, "body", x + 6, y, "%s", pti_words_member(plan, n_ranks - 1).text);
    pti_page_draw_legend(svg, x + 54, y, sizeof swatches / sizeof *swatches, swatches);
}

/* Return the dimensions that are not drawn, as "[:, :, 12]"; nothing if there are none. */
static pti_words describe_plane(const pti_ranks_panel *panel) {
    int n_dims = panel->panel.space.n_dims;
    pti_words words = {""};
    for (int d = 0; d < n_dims && n_dims > 2; d++) {
        bool is_drawn = d == panel->panel.row_dim || d == panel->panel.col_dim;
        words = pti_words_of("%s%s%s%s", words.text, d == 0 ? "[" : ", ",
                             is_drawn ? ":" : pti_words_of("%" PRId64, panel->panel.cut[d].lo).text,
                             d == n_dims - 1 ? "]" : "");
    }
    return words;
}

/* When what is drawn of arrays travels. */
static pti_words describe_moment(const pti_members_plan *members) {
    if (members->n_supersteps == 1)
        return (pti_words){""};
    if (members->step[members->first_moving].n_launches == 0)
        return pti_words_of(" at the end");
    return members->first_moving == 0
               ? pti_words_of(" at the first exchange")
               : pti_words_of(" before launch %d",
                              members->step[members->first_moving].first_launch);
}

static void draw_caption(pti_text *svg, const pti_ranks_panel *panel, double x, double y) {
    const polytile_ranks_plan *plan = panel->plan;
    const pti_words plane = describe_plane(panel);
    int64_t n_bytes = pti_ranks_band_bytes(plan, panel->array);
    if (panel->array < 0)
        pti_svg_label(svg, "head", x, y, "threads%s of %s%s",
                      plan->members.n_launches > 1 ? " of the first launch" : "",
                      plan->shared[0].call.instance->kernel_name, plane.text);
    else if (n_bytes == 0)
        pti_svg_label(svg, "head", x, y, "%s%s: nothing travels",
                      plan->launches.arrays->operand[panel->array].name, plane.text);
    else
        pti_svg_label(svg, "head", x, y, "%s%s: %s travel%s",
                      plan->launches.arrays->operand[panel->array].name, plane.text,
                      pti_words_size(n_bytes).text, describe_moment(&plan->members).text);
}

/* Draw the threads (array -1) or an array below a caption; the height of both. */
static double draw_array_panel(pti_text *svg, const polytile_ranks_plan *plan, int array, double x,
                               double y) {
    pti_ranks_panel panel = pti_ranks_panel_of(plan, array);
    double height = pti_panel_height(&panel.panel, panel_width);
    draw_caption(svg, &panel, x, y + 16);
    pti_panel_fit(&panel.panel, (pti_svg_box){x, y + caption_height, panel_width, height});
    pti_ranks_panel_draw(svg, &panel);
    if (array >= 0)
        pti_ranks_draw_bands(svg, &panel);
    pti_ranks_panel_number(svg, &panel);
    return caption_height + height + gap +
           (panel.panel.row_dim < 0 && array >= 0 ? labels_height : 0);
}

/* Return whether the last panel leaves a column that is wide enough for the table. */
static bool fits_beside(const polytile_ranks_plan *plan, int n_arrays) {
    return n_arrays % N_COLUMNS == 0 && plan->members.n_members <= MOST_BESIDE &&
           pti_ranks_has_table(plan);
}

/* The threads, then the arrays, in two columns, and the table beside the last if there is a place
 * for it; where they end. */
static double draw_panels(pti_text *svg, const polytile_ranks_plan *plan, int n_arrays) {
    double y = body_top;
    for (int first = -1; first < n_arrays; first += N_COLUMNS) {
        double height = 0;
        for (int k = 0; k < N_COLUMNS && first + k < n_arrays; k++)
            height = fmax(height, draw_array_panel(svg, plan, first + k, left[k], y));
        if (first + 1 == n_arrays && fits_beside(plan, n_arrays))
            height = fmax(height, pti_ranks_table_draw(svg, plan, left[1], y, panel_width));
        y += height;
    }
    if (n_arrays == plan->members.n_arrays)
        return y;
    pti_svg_label(svg, "body", left[0], y, "... and %d more arrays",
                  plan->members.n_arrays - n_arrays);
    return y + 24;
}

void pti_ranks_draw(pti_text *svg, const pti_object *object) {
    const polytile_ranks_plan *plan = (const polytile_ranks_plan *)object;
    pti_page page = {.line = {describe_exchanges(plan), describe_inner(plan)}};
    int n_arrays = (int)pti_min(plan->members.n_arrays, MOST_ARRAYS);
    double bottom = draw_panels(&page.body, plan, n_arrays);
    if (pti_ranks_has_table(plan) && !fits_beside(plan, n_arrays))
        bottom += pti_ranks_table_draw(&page.body, plan, left[0], bottom,
                                       PTI_PAGE_WIDTH - PTI_PAGE_MARGIN - left[0]);
    if (pti_ranks_has_steps(plan))
        bottom += pti_ranks_steps_draw(&page.body, plan, left[0], bottom);
    draw_ranks_legend(&page.body, plan, bottom + 12);
    write_title(&page.title, plan);
    pti_page_write(svg, &page, bottom + legend_height);
}
