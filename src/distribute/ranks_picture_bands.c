#include "distribute/ranks_picture.h"

#include "distribute/enclose.h"
#include <polytile/size.h>

#include <math.h>
#include <stdio.h>

/* What travels between ranks, drawn where it comes from, with arrows to where it goes. */

static const double reach = 26, most_shift = 62, narrow_shift = 6;
static const double least_arrow = 30, least_words = 64;

int64_t pti_ranks_band_bytes(const polytile_ranks_plan *plan, int array) {
    int64_t n_elements = 0;
    for (int t = 0; t < plan->outer.first.n_transfers; t++)
        if (plan->outer.first.transfer[t].array == array)
            n_elements += plan->outer.first.transfer[t].n_elements;
    return n_elements * plan->launches.arrays->operand[array].element_bytes;
}

/* An arrow of one transfer. */
typedef struct arrow {
    double x; /* where it begins */
    double y;
    int across; /* -1, 0, 1: which way it goes, columns and rows */
    int down;
    double length_x;
    double length_y;
} arrow;

/* Which way a span lies of another: 1 behind it, -1 before it, 0 beside it. */
static int way(double from, double from_length, double to, double to_length) {
    const double slack = 1.5;
    if (to + slack >= from + from_length)
        return 1;
    return to + to_length <= from + slack ? -1 : 0;
}

/* Arrows to and fro across one border are kept apart. */
static void keep_apart(arrow *of, pti_svg_box band, bool is_line, bool is_back) {
    double side = is_back ? 1 : -1;
    if (of->across != 0 && of->down == 0)
        of->y += side * (is_line ? narrow_shift : fmin(band.height / 4, most_shift));
    if (of->across == 0 && of->down != 0)
        of->x += side * fmin(band.width / 4, most_shift);
}

static bool find_arrow(pti_svg_box band, pti_svg_box to, bool is_line, bool is_back, arrow *found) {
    *found = (arrow){.x = band.x + band.width / 2,
                     .y = band.y + band.height / 2,
                     .across = way(band.x, band.width, to.x, to.width),
                     .down = is_line ? 0 : way(band.y, band.height, to.y, to.height)};
    found->length_x = found->across * (band.width / 2 + reach);
    found->length_y = found->down * (band.height / 2 + reach);
    keep_apart(found, band, is_line, is_back);
    return (found->across != 0 || found->down != 0) &&
           (found->across == 0 || to.width >= least_arrow) &&
           (found->down == 0 || to.height >= least_arrow);
}

static void draw_arrow(pti_text *svg, const arrow *of) {
    pti_text_add(svg,
                 "<line class=\"travel\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" "
                 "marker-end=\"url(#last)\"/>\n",
                 of->x, of->y, of->x + of->length_x, of->y + of->length_y);
}

static void draw_words(pti_text *svg, const pti_panel *panel, const arrow *of, int64_t n_bytes,
                       bool is_back) {
    char size[32];
    double x = of->x + of->length_x, y = of->y + of->length_y;
    const char *words = polytile_size_format(n_bytes, size);
    if (panel->row_dim < 0)
        pti_svg_label(svg, "small middle", of->x,
                      panel->at.y + panel->at.height + (is_back ? 27 : 14), "%s %s",
                      is_back ? "<" : words, is_back ? words : ">");
    else if (of->down == 0)
        pti_svg_label(svg, "small halo middle", of->x + of->length_x / 2, of->y - 6, "%s", words);
    else if (of->across == 0)
        pti_svg_label(svg, is_back ? "small halo" : "small halo end", x + (is_back ? 8 : -8),
                      y - of->length_y / 2 + 4, "%s", words);
    else
        pti_svg_label(svg, of->across > 0 ? "small halo" : "small halo end", x + 4 * of->across,
                      y + (of->down > 0 ? 12 : -4), "%s", words);
}

static void draw_way(pti_text *svg, const pti_ranks_panel *of, const pti_transfer *transfer) {
    const pti_ownership *ownership = &of->plan->outer.ownerships[of->array];
    polytile_domain to = pti_ownership_hull(ownership, transfer->to);
    polytile_domain band = pti_enclose_all(&transfer->boxes, to.n_dims);
    bool is_back = transfer->from > transfer->to, is_line = of->panel.row_dim < 0;
    arrow found;
    if (!pti_ranks_panel_shows(of, &to) || !pti_ranks_panel_shows(of, &band))
        return;
    pti_svg_box target = pti_panel_place(&of->panel, &to);
    if (!find_arrow(pti_panel_place(&of->panel, &band), target, is_line, is_back, &found))
        return;
    draw_arrow(svg, &found);
    if (target.width >= least_words && (is_line || target.height >= least_words))
        draw_words(svg, &of->panel, &found,
                   transfer->n_elements *
                       of->plan->launches.arrays->operand[of->array].element_bytes,
                   is_back);
}

static void draw_band(pti_text *svg, const pti_ranks_panel *of, const pti_transfer *transfer) {
    char tooltip[128], size[32];
    int64_t n_bytes =
        transfer->n_elements * of->plan->launches.arrays->operand[of->array].element_bytes;
    snprintf(tooltip, sizeof tooltip, "rank %d to rank %d: %s", transfer->from, transfer->to,
             polytile_size_format(n_bytes, size));
    for (int b = 0; b < transfer->boxes.n_boxes && b < PTI_PICTURE_MOST_RECTS; b++)
        if (pti_ranks_panel_shows(of, &transfer->boxes.box[b]))
            pti_panel_draw_box(svg, &of->panel, "halo-band", &transfer->boxes.box[b], NULL,
                               tooltip);
}

void pti_ranks_draw_bands(pti_text *svg, const pti_ranks_panel *of) {
    const pti_outer_plan *outer = &of->plan->outer;
    const pti_exchange *exchange = &outer->first;
    bool has_arrows = outer->n_members <= PTI_RANKS_MOST_ARROWS &&
                      pti_ownership_is_whole(&outer->ownerships[of->array]);
    for (int t = 0; t < exchange->n_transfers; t++)
        if (exchange->transfer[t].array == of->array)
            draw_band(svg, of, &exchange->transfer[t]);
    for (int t = 0; t < exchange->n_transfers && has_arrows; t++)
        if (exchange->transfer[t].array == of->array)
            draw_way(svg, of, &exchange->transfer[t]);
}
