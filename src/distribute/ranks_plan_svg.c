#include "distribute/ranks_picture.h"

#include "base/checked.h"
#include "partition/plan_words.h"
#include <polytile/size.h>

#include <math.h>
#include <stdio.h>

/* The picture of a plan of ranks: heading, the threads and the arrays cut into ranks, the legend, and
 * the bytes from rank to rank. */

static const double page_width = 960, margin = 28, body_top = 100, panel_width = 388;
static const double left[] = {84, 544};
static const double legend_height = 34, cell_width = 76, narrow_cell = 50, cell_height = 22;
enum { MOST_ARRAYS = 7, N_COLUMNS = 2 };

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

/* The threads, then the arrays, in two columns; where they end. */
static double draw_panels(pti_text *svg, const polytile_ranks_plan *plan) {
    int n_arrays = (int)pti_min(plan->outer.n_arrays, MOST_ARRAYS);
    double y = body_top;
    for (int first = -1; first < n_arrays; first += N_COLUMNS) {
        double height = 0;
        for (int k = 0; k < N_COLUMNS && first + k < n_arrays; k++) {
            pti_ranks_panel panel = pti_ranks_panel_of(plan, first + k);
            height = fmax(height, pti_ranks_panel_height(&panel, panel_width));
            pti_ranks_panel_draw(svg, &panel, left[k], y, panel_width);
        }
        y += height;
    }
    if (n_arrays < plan->outer.n_arrays)
        pti_svg_label(svg, "body", left[0], y, "... and %d more arrays",
                      plan->outer.n_arrays - n_arrays);
    return n_arrays < plan->outer.n_arrays ? y + 24 : y;
}

static void draw_legend(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    static const struct {
        const char *style, *words;
        double width;
    } swatches[] = {
        {"halo-band", "travels, drawn where it comes from", 246},
        {"inner", "superblocks inside the rank with the most to do", 0},
    };
    int n_steps = (int)pti_min(plan->outer.n_members, 12), last = plan->outer.n_members - 1;
    double x = margin + 44;
    char colour[8];
    pti_svg_label(svg, "body", margin, y, "rank 0");
    for (int k = 0; k < n_steps; k++)
        pti_svg_rect(svg, "plain", (pti_svg_box){x + 14 * k, y - 10, 14.3, 12},
                     pti_ranks_colour(plan, n_steps == 1 ? 0 : k * last / (n_steps - 1), colour),
                     NULL);
    pti_svg_label(svg, "body", x + 14 * n_steps + 6, y, "%d", last);
    x += 14 * n_steps + 60;
    for (size_t k = 0; k < sizeof swatches / sizeof *swatches; k++)
        x = pti_picture_swatch(svg, swatches[k].style, x, y, swatches[k].words, swatches[k].width);
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

/* The place of a cell in the table, whose heads are row and column -1. */
static pti_svg_box cell_of(const pti_outer_plan *outer, double y, int row, int column) {
    double width = outer->n_members > 10 ? narrow_cell : cell_width;
    return (pti_svg_box){left[0] + width * (column + 1), y + cell_height * (row + 1), width - 2,
                         cell_height - 2};
}

static void draw_cell(pti_text *svg, pti_svg_box at, const char *fill, const char *words) {
    pti_svg_rect(svg, "plain", at, fill, NULL);
    pti_svg_label(svg, "number middle", at.x + at.width / 2, at.y + 14, "%s", words);
}

static void draw_heads(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    char colour[8], words[32];
    for (int q = 0; q < plan->outer.n_members; q++) {
        snprintf(words, sizeof words, "from %d", q);
        draw_cell(svg, cell_of(&plan->outer, y, q, -1), pti_ranks_colour(plan, q, colour), words);
        snprintf(words, sizeof words, "to %d", q);
        draw_cell(svg, cell_of(&plan->outer, y, -1, q), pti_ranks_colour(plan, q, colour), words);
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

/* Who sends how much to whom; where that ends. */
static double draw_table(pti_text *svg, const polytile_ranks_plan *plan, double y) {
    const pti_outer_plan *outer = &plan->outer;
    int64_t most = find_most(outer);
    char colour[8], size[32];
    if (outer->n_flows == 0 || outer->n_members > PTI_RANKS_MOST_ARROWS)
        return y;
    pti_svg_label(svg, "head", left[0], y, "bytes from rank to rank, in all exchanges");
    draw_heads(svg, plan, y + 12);
    for (int f = 0; f < outer->n_flows;) {
        const pti_outer_flow *flow = &outer->flow[f];
        int64_t n_bytes = sum_way(outer, &f);
        draw_cell(svg, cell_of(outer, y + 12, flow->from, flow->to),
                  shade((double)n_bytes / (double)most, colour),
                  polytile_size_format(n_bytes, size));
    }
    return y + 12 + cell_height * (outer->n_members + 1) + 24;
}

static void draw_page(pti_text *svg, pti_text *body, const polytile_ranks_plan *plan,
                      const char *title) {
    double bottom = draw_panels(body, plan);
    draw_legend(body, plan, bottom + 12);
    bottom = draw_table(body, plan, bottom + legend_height + 14);
    pti_svg_open(svg, page_width, bottom, title);
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
    return pti_fail_memory(plan->object.context, "the picture of a plan", 1 << 20);
}
