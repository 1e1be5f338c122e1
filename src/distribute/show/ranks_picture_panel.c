#include "distribute/show/ranks_picture.h"

#include "access/set/boxes.h"

#include <inttypes.h>

/* One index space, cut into ranks. */

static const double least_label_width = 46, least_label_height = 22;

static polytile_domain hull_of_rank(const pti_ranks_panel *panel, int rank) {
    const pti_members_plan *members = &panel->plan->members;
    return panel->array < 0
               ? pti_boxes_bounding(&members->member[rank].threads, panel->panel.space.n_dims)
               : pti_ownership_hull(&members->ownerships[panel->array], rank);
}

/** Return the hull of the busiest rank, or, where that has nothing, the first that there is. */
static polytile_domain find_shown_hull(const pti_ranks_panel *panel) {
    polytile_domain hull = hull_of_rank(panel, panel->plan->members.busiest);
    for (int q = 0; q < panel->plan->members.n_members && pti_box_is_empty(&hull); q++)
        hull = hull_of_rank(panel, q);
    return hull;
}

pti_ranks_panel pti_ranks_panel_of(const polytile_ranks_plan *plan, int array) {
    pti_ranks_panel panel = {.plan = plan, .array = array};
    panel.panel.space = array < 0 ? plan->shared[0].call.instance->threads
                                  : plan->launches.arrays->operand[array].domain;
    polytile_domain hull = find_shown_hull(&panel);
    panel.panel = pti_panel_of(&panel.panel.space, &hull);
    for (int d = 0; d < hull.n_dims; d++) {
        int64_t middle = hull.range[d].lo + (hull.range[d].hi - hull.range[d].lo) / 2;
        panel.panel.cut[d] = (polytile_range){middle, middle, 1};
    }
    return panel;
}

static void draw_rank(pti_text *svg, const pti_ranks_panel *panel, int rank,
                      const pti_boxes *boxes) {
    int64_t count = pti_boxes_count(boxes);
    const pti_words has =
        panel->array < 0
            ? pti_words_of("%" PRId64 " threads", count)
            : pti_words_size(count *
                             panel->plan->launches.arrays->operand[panel->array].element_bytes);
    const pti_words tooltip = pti_words_of("%s %s: %s", pti_ranks_word(panel->plan),
                                           pti_words_member(panel->plan, rank).text, has.text);
    const pti_words colour = pti_svg_order_colour(rank, panel->plan->members.n_members);
    for (int b = 0; b < boxes->n_boxes && b < PTI_PANEL_MOST_BOXES; b++)
        if (pti_panel_shows(&panel->panel, &boxes->box[b]))
            pti_panel_draw_box(svg, &panel->panel, "superblock", &boxes->box[b], colour.text,
                               tooltip.text);
}

static void draw_ranks(pti_text *svg, const pti_ranks_panel *panel) {
    const pti_members_plan *members = &panel->plan->members;
    pti_boxes owned = {0};
    for (int q = 0; q < members->n_members; q++) {
        if (panel->array >= 0)
            pti_ownership_boxes(&members->ownerships[panel->array], q, &owned);
        draw_rank(svg, panel, q, panel->array >= 0 ? &owned : &members->member[q].threads);
    }
    svg->failed |= owned.failed;
    pti_boxes_free(&owned);
}

bool pti_ranks_shows_inner(const polytile_ranks_plan *plan) {
    return plan->inner->chain == NULL && plan->inner->summary.n_kernels <= PTI_PANEL_MOST_BOXES;
}

static void draw_inner(pti_text *svg, const pti_ranks_panel *panel) {
    const pti_schedule *schedule = panel->plan->inner->schedule;
    for (int64_t k = 0; k < schedule->n_superblocks && pti_ranks_shows_inner(panel->plan); k++)
        if (pti_panel_shows(&panel->panel, &schedule->superblock[k]))
            pti_panel_draw_box(svg, &panel->panel, "inner", &schedule->superblock[k], NULL,
                               pti_words_of("superblock %" PRId64, k).text);
}

static void draw_busiest(pti_text *svg, const pti_ranks_panel *panel) {
    int busiest = panel->plan->members.busiest;
    polytile_domain hull = hull_of_rank(panel, busiest);
    if (panel->plan->members.member[busiest].threads.n_boxes == 1 &&
        pti_panel_shows(&panel->panel, &hull))
        pti_panel_draw_box(svg, &panel->panel, "chosen", &hull, NULL, NULL);
}

void pti_ranks_panel_draw(pti_text *svg, const pti_ranks_panel *panel) {
    bool is_of_threads = panel->array < 0;
    pti_panel_draw_space(svg, &panel->panel,
                         is_of_threads ? panel->plan->shared[0].call.instance->index_name : NULL);
    draw_ranks(svg, panel);
    if (is_of_threads) {
        draw_inner(svg, panel);
        draw_busiest(svg, panel);
    }
}

static bool is_in_one_piece(const pti_ranks_panel *panel, int rank) {
    const pti_members_plan *members = &panel->plan->members;
    return panel->array < 0 ? members->member[rank].threads.n_boxes == 1
                            : pti_ownership_is_whole(&members->ownerships[panel->array]);
}

void pti_ranks_panel_number(pti_text *svg, const pti_ranks_panel *panel) {
    for (int q = 0; q < panel->plan->members.n_members; q++) {
        polytile_domain hull = hull_of_rank(panel, q);
        if (!is_in_one_piece(panel, q) || !pti_panel_shows(&panel->panel, &hull))
            continue;
        pti_svg_box at = pti_panel_place(&panel->panel, &hull);
        if (at.width >= least_label_width && at.height >= least_label_height)
            pti_svg_label(svg, "body halo middle", at.x + at.width / 2, at.y + at.height / 2 + 4,
                          "%s %s", pti_ranks_word(panel->plan),
                          pti_words_member(panel->plan, q).text);
    }
}
