#include "distribute/show/ranks_picture.h"

#include "access/set/boxes.h"

#include <inttypes.h>

/* One index space, cut into ranks. */

static const double least_label_width = 46, least_label_height = 22;

static polytile_domain hull_of_rank(const pti_ranks_panel *of, int rank) {
    const pti_members_plan *members = &of->plan->members;
    return of->array < 0
               ? pti_boxes_bounding(&members->member[rank].threads, of->panel.space.n_dims)
               : pti_ownership_hull(&members->ownerships[of->array], rank);
}

/** The hull of the busiest rank, or, where that has nothing, the first that there is. */
static polytile_domain find_hull(const pti_ranks_panel *of) {
    polytile_domain hull = hull_of_rank(of, of->plan->members.busiest);
    for (int q = 0; q < of->plan->members.n_members && pti_box_is_empty(&hull); q++)
        hull = hull_of_rank(of, q);
    return hull;
}

pti_ranks_panel pti_ranks_panel_of(const polytile_ranks_plan *plan, int array) {
    pti_ranks_panel of = {.plan = plan, .array = array};
    of.panel.space = array < 0 ? plan->shared[0].call.instance->threads
                               : plan->launches.arrays->operand[array].domain;
    polytile_domain hull = find_hull(&of);
    of.panel = pti_panel_of(&of.panel.space, &hull);
    for (int d = 0; d < hull.n_dims; d++) {
        int64_t middle = hull.range[d].lo + (hull.range[d].hi - hull.range[d].lo) / 2;
        of.panel.cut[d] = (polytile_range){middle, middle, 1};
    }
    return of;
}

static void draw_rank(pti_text *svg, const pti_ranks_panel *of, int rank, const pti_boxes *boxes) {
    int64_t count = pti_boxes_count(boxes);
    const pti_words has =
        of->array < 0
            ? pti_words_of("%" PRId64 " threads", count)
            : pti_words_size(count * of->plan->launches.arrays->operand[of->array].element_bytes);
    const pti_words tooltip = pti_words_of("%s %s: %s", pti_ranks_word(of->plan),
                                           pti_words_member(of->plan, rank).text, has.text);
    const pti_words colour = pti_svg_order_colour(rank, of->plan->members.n_members);
    for (int b = 0; b < boxes->n_boxes && b < PTI_PANEL_MOST_BOXES; b++)
        if (pti_panel_shows(&of->panel, &boxes->box[b]))
            pti_panel_draw_box(svg, &of->panel, "superblock", &boxes->box[b], colour.text,
                               tooltip.text);
}

static void draw_ranks(pti_text *svg, const pti_ranks_panel *of) {
    const pti_members_plan *members = &of->plan->members;
    pti_boxes owned = {0};
    for (int q = 0; q < members->n_members; q++) {
        if (of->array >= 0)
            pti_ownership_boxes(&members->ownerships[of->array], q, &owned);
        draw_rank(svg, of, q, of->array >= 0 ? &owned : &members->member[q].threads);
    }
    svg->failed |= owned.failed;
    pti_boxes_free(&owned);
}

bool pti_ranks_shows_inner(const polytile_ranks_plan *plan) {
    return plan->inner->chain == NULL && plan->inner->summary.n_kernels <= PTI_PANEL_MOST_BOXES;
}

static void draw_inner(pti_text *svg, const pti_ranks_panel *of) {
    const pti_schedule *schedule = of->plan->inner->schedule;
    for (int64_t k = 0; k < schedule->n_superblocks && pti_ranks_shows_inner(of->plan); k++)
        if (pti_panel_shows(&of->panel, &schedule->superblock[k]))
            pti_panel_draw_box(svg, &of->panel, "inner", &schedule->superblock[k], NULL,
                               pti_words_of("superblock %" PRId64, k).text);
}

static void draw_busiest(pti_text *svg, const pti_ranks_panel *of) {
    int busiest = of->plan->members.busiest;
    polytile_domain hull = hull_of_rank(of, busiest);
    if (of->plan->members.member[busiest].threads.n_boxes == 1 &&
        pti_panel_shows(&of->panel, &hull))
        pti_panel_draw_box(svg, &of->panel, "chosen", &hull, NULL, NULL);
}

void pti_ranks_panel_draw(pti_text *svg, const pti_ranks_panel *of) {
    bool is_of_threads = of->array < 0;
    pti_panel_draw_space(svg, &of->panel,
                         is_of_threads ? of->plan->shared[0].call.instance->index_name : NULL);
    draw_ranks(svg, of);
    if (is_of_threads) {
        draw_inner(svg, of);
        draw_busiest(svg, of);
    }
}

static bool is_whole(const pti_ranks_panel *of, int rank) {
    const pti_members_plan *members = &of->plan->members;
    return of->array < 0 ? members->member[rank].threads.n_boxes == 1
                         : pti_ownership_is_whole(&members->ownerships[of->array]);
}

void pti_ranks_panel_number(pti_text *svg, const pti_ranks_panel *of) {
    for (int q = 0; q < of->plan->members.n_members; q++) {
        polytile_domain hull = hull_of_rank(of, q);
        if (!is_whole(of, q) || !pti_panel_shows(&of->panel, &hull))
            continue;
        pti_svg_box at = pti_panel_place(&of->panel, &hull);
        if (at.width >= least_label_width && at.height >= least_label_height)
            pti_svg_label(svg, "body halo middle", at.x + at.width / 2, at.y + at.height / 2 + 4,
                          "%s %s", pti_ranks_word(of->plan), pti_words_member(of->plan, q).text);
    }
}
