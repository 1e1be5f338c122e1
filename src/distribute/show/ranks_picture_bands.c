#include "distribute/show/ranks_picture.h"

#include "access/set/boxes.h"

#include <math.h>

/* What travels between ranks, drawn where it comes from, with arrows to where it goes. */

static const double reach = 26, corner_reach = 14, narrow_shift = 6, most_shift = 62;
static const double least_arrow = 30;

static int64_t transfer_bytes(const polytile_ranks_plan *plan, const pti_transfer *transfer) {
    return transfer->n_elements * plan->launches.arrays->operand[transfer->array].element_bytes;
}

int64_t pti_ranks_band_bytes(const polytile_ranks_plan *plan, int array) {
    const pti_exchange *first = &plan->members.first;
    int64_t n_bytes = 0;
    for (int t = 0; t < first->n_transfers; t++)
        if (first->transfer[t].array == array)
            n_bytes += transfer_bytes(plan, &first->transfer[t]);
    return n_bytes;
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

/* Which way a range lies of another in a dimension: 1 after it, -1 before it, 0 beside it. */
static int way_along(const polytile_domain *from, const polytile_domain *to, int dim) {
    if (dim < 0)
        return 0;
    return (to->range[dim].lo > from->range[dim].hi) - (to->range[dim].hi < from->range[dim].lo);
}

/* Arrows to and fro across one border are kept apart. */
static void keep_apart(arrow *of, pti_svg_box band, bool is_line, bool is_back) {
    double side = is_back ? 1 : -1;
    if (of->across != 0 && of->down == 0)
        of->y += side * (is_line ? narrow_shift : fmin(band.height / 12, most_shift));
    if (of->across == 0 && of->down != 0)
        of->x += side * fmin(band.width / 12, most_shift);
}

/* From so far inside the band to so far beyond it. */
static arrow find_arrow(const pti_panel *panel, const polytile_domain *from,
                        const polytile_domain *to, bool is_back) {
    pti_svg_box band = pti_panel_place(panel, from);
    int across = way_along(from, to, panel->col_dim), down = way_along(from, to, panel->row_dim);
    double beyond = across != 0 && down != 0 ? corner_reach : reach;
    double inside_x = fmin(band.width / 2, beyond), inside_y = fmin(band.height / 2, beyond);
    arrow found = {.x = band.x + band.width / 2 + across * (band.width / 2 - inside_x),
                   .y = band.y + band.height / 2 + down * (band.height / 2 - inside_y),
                   .across = across,
                   .down = down,
                   .length_x = across * (inside_x + beyond),
                   .length_y = down * (inside_y + beyond)};
    keep_apart(&found, band, panel->row_dim < 0, is_back);
    return found;
}

/* Return whether there is room where an arrow goes for it, and for words, too. */
static bool has_arrow_room(const arrow *of, pti_svg_box target) {
    return (of->across != 0 || of->down != 0) && (of->across == 0 || target.width >= least_arrow) &&
           (of->down == 0 || target.height >= least_arrow);
}

static bool has_room_for_words(const pti_ranks_panel *panel, pti_svg_box target) {
    const pti_member_grid *grid = &panel->plan->members.ownerships[panel->array].grid;
    int row = panel->panel.row_dim;
    bool goes_down = row >= 0 && grid->extent[row] > 1;
    bool goes_across = grid->extent[panel->panel.col_dim] > 1;
    return goes_down && goes_across ? target.width >= 170 && target.height >= 120
                                    : (goes_down || target.width >= 90) &&
                                          (row < 0 || goes_across || target.height >= 64);
}

static void draw_arrow(pti_text *svg, const arrow *of) {
    pti_text_add(svg,
                 "<line class=\"travel\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\" "
                 "marker-end=\"url(#last)\"/>\n",
                 of->x, of->y, of->x + of->length_x, of->y + of->length_y);
}

/* Write how much moves at the arrow's head, or below a panel of one row. */
static void draw_words(pti_text *svg, const pti_panel *panel, const arrow *of, int64_t n_bytes,
                       bool is_back) {
    static const char *const styles[] = {"small halo end", "small halo middle", "small halo"};
    double x = of->x + of->length_x + 5 * of->across, y = of->y + of->length_y + 4;
    const pti_words size = pti_words_size(n_bytes);
    if (panel->row_dim < 0)
        pti_svg_label(svg, "small middle", of->x,
                      panel->at.y + panel->at.height + (is_back ? 27 : 14),
                      is_back ? "< %s" : "%s >", size.text);
    else
        pti_svg_label(svg, styles[of->across + 1], x, y + (of->down > 0 ? 11 : 9 * of->down), "%s",
                      size.text);
}

static void draw_way(pti_text *svg, const pti_ranks_panel *panel, const pti_transfer *transfer) {
    const pti_ownership *ownership = &panel->plan->members.ownerships[panel->array];
    polytile_domain to = pti_ownership_hull(ownership, transfer->to);
    polytile_domain band = pti_boxes_bounding(&transfer->boxes, to.n_dims);
    bool is_back = transfer->from > transfer->to;
    if (!pti_panel_shows(&panel->panel, &to) || !pti_panel_shows(&panel->panel, &band))
        return;
    pti_svg_box target = pti_panel_place(&panel->panel, &to);
    arrow found = find_arrow(&panel->panel, &band, &to, is_back);
    if (!has_arrow_room(&found, target))
        return;
    draw_arrow(svg, &found);
    if (has_room_for_words(panel, target))
        draw_words(svg, &panel->panel, &found, transfer_bytes(panel->plan, transfer), is_back);
}

static void draw_band(pti_text *svg, const pti_ranks_panel *panel, const pti_transfer *transfer) {
    const pti_words tooltip =
        pti_words_of("%s %s to %s %s: %s", pti_ranks_word(panel->plan),
                     pti_words_member(panel->plan, transfer->from).text,
                     pti_ranks_word(panel->plan), pti_words_member(panel->plan, transfer->to).text,
                     pti_words_size(transfer_bytes(panel->plan, transfer)).text);
    for (int b = 0; b < transfer->boxes.n_boxes && b < PTI_PANEL_MOST_BOXES; b++)
        if (pti_panel_shows(&panel->panel, &transfer->boxes.box[b]))
            pti_panel_draw_box(svg, &panel->panel, "halo-band", &transfer->boxes.box[b], NULL,
                               tooltip.text);
}

void pti_ranks_draw_bands(pti_text *svg, const pti_ranks_panel *panel) {
    const pti_members_plan *members = &panel->plan->members;
    const pti_exchange *first = &members->first;
    bool has_arrows = members->n_members <= PTI_RANKS_MOST_ARROWS &&
                      pti_ownership_is_whole(&members->ownerships[panel->array]);
    for (int t = 0; t < first->n_transfers; t++)
        if (first->transfer[t].array == panel->array)
            draw_band(svg, panel, &first->transfer[t]);
    for (int t = 0; t < first->n_transfers && has_arrows; t++)
        if (first->transfer[t].array == panel->array)
            draw_way(svg, panel, &first->transfer[t]);
}
