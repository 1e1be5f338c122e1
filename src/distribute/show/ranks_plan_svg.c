#include "distribute/show/ranks_picture.h"

#include "base/checked.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <math.h>
#include <stdio.h>

/* The picture of a plan of ranks: heading, the threads and the arrays cut into ranks, who sends
 * how much to whom, the legend. */

static const double page_width = 960, margin = 28, body_top = 100, panel_width = 388;
static const double left[] = {84, 544};
static const double legend_height = 34;
enum { MOST_ARRAYS = 7, N_COLUMNS = 2, MOST_BESIDE = 7 };

static void describe(pti_text *words, const polytile_ranks_plan *plan) {
    const pti_member_grid *grid = &plan->outer.grid;
    pti_words_kernels(words, &plan->launches);
    pti_text_add(words, " over ");
    pti_words_count(words, plan->outer.n_members, "rank");
    for (int d = 0; d < grid->n_dims; d++)
        pti_text_add(words, "%s%d", d == 0 ? ": " : "x", grid->extent[d]);
    pti_text_add(words, ", %s", plan->layout);
}

static void describe_exchange(pti_text *words, const pti_outer_plan *outer) {
    char size[32];
    pti_text_add(words, "%s from rank to rank", polytile_size_format(outer->exchanged_bytes, size));
    if (outer->n_launches > 1) {
        pti_text_add(words, " in ");
        pti_words_count(words, outer->n_groups, "exchange");
        pti_text_add(words, ", before up to %d of %d launches each", outer->n_longest,
                     outer->n_launches);
    }
    if (outer->combined_bytes > 0)
        pti_text_add(words, "; %s combined across all",
                     polytile_size_format(outer->combined_bytes, size));
}

static void describe_inner(pti_text *words, const polytile_ranks_plan *plan) {
    polytile_plan_summary summary;
    char limit[32], up[32], down[32];
    polytile_plan_get_summary(plan->inner, &summary);
    pti_text_add(words, "rank %d, which has the most to do: ", plan->outer.busiest);
    pti_words_count(words, summary.n_kernels, "superblock");
    if (summary.limit_bytes == 0)
        pti_text_add(words, " in place");
    else
        pti_text_add(words, " within %s, %s to the device, %s back",
                     polytile_size_format(summary.limit_bytes, limit),
                     polytile_size_format(summary.h2d_bytes, up),
                     polytile_size_format(summary.d2h_bytes, down));
    if (plan->outer.n_groups > 1)
        pti_text_add(words, ", until the second exchange");
}

static void draw_heading(pti_text *svg, const polytile_ranks_plan *plan, const char *title) {
    pti_text exchange = {0}, inner = {0};
    describe_exchange(&exchange, &plan->outer);
    describe_inner(&inner, plan);
    if (!exchange.failed && !inner.failed) {
        pti_svg_label(svg, "title", margin, 38, "%s", title);
        pti_svg_label(svg, "body", margin, 60, "%s", exchange.data);
        pti_svg_label(svg, "body", margin, 78, "%s", inner.data);
    }
    svg->failed = svg->failed || exchange.failed || inner.failed;
    pti_text_free(&exchange);
    pti_text_free(&inner);
}

static double draw_colours(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    int n_steps = (int)pti_min(plan->outer.n_members, 12), last = plan->outer.n_members - 1;
    double x = margin + 44;
    char colour[8];
    pti_svg_label(svg, "body", margin, y, "rank 0");
    for (int k = 0; k < n_steps; k++)
        pti_svg_rect(svg, "plain", (pti_svg_box){x + 14 * k, y - 10, 14.3, 12},
                     pti_ranks_colour(plan, n_steps == 1 ? 0 : k * last / (n_steps - 1), colour),
                     NULL);
    if (last > 0)
        pti_svg_label(svg, "body", x + 14 * n_steps + 6, y, "%d", last);
    return x + 14 * n_steps + 54;
}

static void draw_legend(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    const struct {
        bool is_shown;
        const char *style, *words;
        double width;
    } swatches[] = {
        {plan->outer.first.n_transfers > 0, "halo-band", "travels, drawn where it comes from", 246},
        {true, "chosen", "the rank with the most to do", 208},
        {pti_ranks_shows_inner(plan), "inner", "superblocks inside it", 0},
    };
    double x = draw_colours(svg, plan, y);
    for (size_t k = 0; k < sizeof swatches / sizeof *swatches; k++)
        if (swatches[k].is_shown)
            x = pti_picture_swatch(svg, swatches[k].style, x, y, swatches[k].words,
                                   swatches[k].width);
}

/* Whether the last panel leaves a column that is wide enough for the table. */
static bool fits_beside(const polytile_ranks_plan *plan, int n_arrays) {
    return n_arrays % N_COLUMNS == 0 && plan->outer.n_members <= MOST_BESIDE &&
           pti_ranks_has_table(plan);
}

/* The threads, then the arrays, in two columns, and the table beside the last if there is a place
 * for it; where they end. */
static double draw_panels(pti_text *svg, const polytile_ranks_plan *plan, int n_arrays) {
    double y = body_top;
    for (int first = -1; first < n_arrays; first += N_COLUMNS) {
        double height = 0;
        for (int k = 0; k < N_COLUMNS && first + k < n_arrays; k++) {
            pti_ranks_panel panel = pti_ranks_panel_of(plan, first + k);
            height = fmax(height, pti_ranks_panel_height(&panel, panel_width));
            pti_ranks_panel_draw(svg, &panel, left[k], y, panel_width);
        }
        if (first + 1 == n_arrays && fits_beside(plan, n_arrays))
            height = fmax(height, pti_ranks_table_draw(svg, plan, left[1], y, panel_width));
        y += height;
    }
    if (n_arrays < plan->outer.n_arrays)
        pti_svg_label(svg, "body", left[0], y, "... and %d more arrays",
                      plan->outer.n_arrays - n_arrays);
    return n_arrays < plan->outer.n_arrays ? y + 24 : y;
}

static void draw_page(pti_text *svg, pti_text *body, const polytile_ranks_plan *plan,
                      const char *title) {
    int n_arrays = (int)pti_min(plan->outer.n_arrays, MOST_ARRAYS);
    double bottom = draw_panels(body, plan, n_arrays);
    if (pti_ranks_has_table(plan) && !fits_beside(plan, n_arrays))
        bottom += pti_ranks_table_draw(body, plan, left[0], bottom, page_width - margin - left[0]);
    draw_legend(body, plan, bottom + 12);
    pti_svg_open(svg, page_width, bottom + legend_height, title);
    draw_heading(svg, plan, title);
    if (body->failed || body->data == NULL)
        svg->failed = true;
    else
        pti_text_add(svg, "%s", body->data);
    pti_svg_close(svg);
}

polytile_status pti_ranks_to_svg(const polytile_ranks_plan *plan, char **text) {
    pti_text svg = {0}, body = {0}, title = {0};
    describe(&title, plan);
    if (title.failed)
        svg.failed = true;
    else
        draw_page(&svg, &body, plan, title.data);
    pti_text_free(&body);
    pti_text_free(&title);
    if (!svg.failed) {
        *text = svg.data;
        return POLYTILE_OK;
    }
    pti_text_free(&svg);
    return pti_fail_memory(plan->object.context, "the picture of a plan", PTI_UNKNOWN_BYTES);
}
