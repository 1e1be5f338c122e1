#include "distribute/show/ranks_picture.h"

#include "access/set/boxes.h"
#include "partition/show/words.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <stdio.h>

/* One index space, cut into ranks. */

static const double caption_height = 46, labels_height = 34, gap = 20;
static const double least_label_width = 46, least_label_height = 22;

char *pti_ranks_colour(const polytile_ranks_plan *plan, int rank, char *buffer) {
    int last = plan->outer.n_members - 1;
    return pti_svg_order_colour(last == 0 ? 0 : (double)rank / last, buffer);
}

void pti_ranks_panel_boxes(const pti_ranks_panel *of, int rank, pti_boxes *boxes) {
    if (of->array < 0)
        pti_boxes_copy(boxes, &of->plan->outer.member[rank].threads);
    else
        pti_ownership_boxes(&of->plan->outer.ownerships[of->array], rank, boxes);
}

static polytile_domain hull_of(const pti_ranks_panel *of, int rank) {
    const pti_outer_plan *outer = &of->plan->outer;
    return of->array < 0 ? pti_boxes_enclose(&outer->member[rank].threads, of->panel.space.n_dims)
                         : pti_ownership_hull(&outer->ownerships[of->array], rank);
}

static polytile_domain space_of(const polytile_ranks_plan *plan, int array) {
    return array < 0 ? plan->shared[0].instance->threads
                     : plan->launches.arrays->operand[array].domain;
}

/* The part of the busiest rank, or, where that has nothing, the first that there is. */
static polytile_domain find_part(const pti_ranks_panel *of) {
    polytile_domain part = hull_of(of, of->plan->outer.busiest);
    for (int q = 0; q < of->plan->outer.n_members && pti_box_is_empty(&part); q++)
        part = hull_of(of, q);
    return part;
}

pti_ranks_panel pti_ranks_panel_of(const polytile_ranks_plan *plan, int array) {
    pti_ranks_panel of = {.plan = plan, .array = array};
    of.panel.space = space_of(plan, array);
    polytile_domain part = find_part(&of);
    of.panel = pti_panel_of(&of.panel.space, &part);
    for (int d = 0; d < part.n_dims; d++)
        of.index[d] = part.range[d].lo + (part.range[d].hi - part.range[d].lo) / 2;
    return of;
}

bool pti_ranks_panel_shows(const pti_ranks_panel *of, const polytile_domain *box) {
    bool shows = !pti_box_is_empty(box);
    for (int d = 0; d < box->n_dims && shows; d++)
        shows = d == of->panel.row_dim || d == of->panel.col_dim ||
                (box->range[d].lo <= of->index[d] && of->index[d] <= box->range[d].hi);
    return shows;
}

double pti_ranks_panel_height(const pti_ranks_panel *of, double width) {
    return caption_height + pti_panel_height(&of->panel, width) + gap +
           (of->panel.row_dim < 0 && of->array >= 0 ? labels_height : 0);
}

/* The dimensions that are not drawn, as "[:, :, 12]"; nothing if there are none. */
static void add_plane(pti_text *words, const pti_ranks_panel *of) {
    int n_dims = of->panel.space.n_dims;
    if (n_dims <= 2)
        return;
    for (int d = 0; d < n_dims; d++) {
        pti_text_add(words, d == 0 ? "[" : ", ");
        if (d == of->panel.row_dim || d == of->panel.col_dim)
            pti_text_add(words, ":");
        else
            pti_text_add(words, "%" PRId64, of->index[d]);
    }
    pti_text_add(words, "]");
}

static void add_array(pti_text *words, const pti_ranks_panel *of) {
    const pti_operand *array = &of->plan->launches.arrays->operand[of->array];
    int64_t n_bytes = pti_ranks_band_bytes(of->plan, of->array);
    char size[32];
    pti_text_add(words, "%s", array->name);
    add_plane(words, of);
    pti_text_add(words, ": ");
    if (n_bytes == 0)
        pti_text_add(words, "nothing travels");
    else
        pti_text_add(words, "%s travel%s", polytile_size_format(n_bytes, size),
                     of->plan->outer.n_groups > 1 ? " at the first exchange" : "");
}

static void add_threads(pti_text *words, const pti_ranks_panel *of) {
    const pti_outer_plan *outer = &of->plan->outer;
    pti_text_add(words, "threads%s of %s", outer->n_launches > 1 ? " of the first launch" : "",
                 of->plan->shared[0].instance->kernel_name);
    add_plane(words, of);
}

static void draw_caption(pti_text *svg, const pti_ranks_panel *of, double x, double y) {
    pti_text words = {0};
    if (of->array < 0)
        add_threads(&words, of);
    else
        add_array(&words, of);
    if (!words.failed)
        pti_svg_label(svg, "head", x, y, "%s", words.data);
    svg->failed = svg->failed || words.failed;
    pti_text_free(&words);
}

/* Its number in its middle, where the part is large enough for it. */
static void draw_number(pti_text *svg, const pti_ranks_panel *of, int rank) {
    polytile_domain hull = hull_of(of, rank);
    bool is_whole = of->array < 0 ? of->plan->outer.member[rank].threads.n_boxes == 1
                                  : pti_ownership_is_whole(&of->plan->outer.ownerships[of->array]);
    if (!is_whole || !pti_ranks_panel_shows(of, &hull))
        return;
    pti_svg_box at = pti_panel_place(&of->panel, &hull);
    if (at.width >= least_label_width && at.height >= least_label_height)
        pti_svg_label(svg, "body halo middle", at.x + at.width / 2, at.y + at.height / 2 + 4,
                      "rank %d", rank);
}

static void draw_rank(pti_text *svg, const pti_ranks_panel *of, int rank, pti_boxes *boxes) {
    char colour[8], tooltip[96], size[32];
    int64_t count;
    pti_ranks_panel_boxes(of, rank, boxes);
    count = pti_boxes_count(boxes);
    if (of->array < 0)
        snprintf(tooltip, sizeof tooltip, "rank %d: %" PRId64 " threads", rank, count);
    else
        snprintf(tooltip, sizeof tooltip, "rank %d: %s", rank,
                 polytile_size_format(
                     count * of->plan->launches.arrays->operand[of->array].element_bytes, size));
    for (int b = 0; b < boxes->n_boxes && b < PTI_PICTURE_MOST_RECTS; b++)
        if (pti_ranks_panel_shows(of, &boxes->box[b]))
            pti_panel_draw_box(svg, &of->panel, "superblock", &boxes->box[b],
                               pti_ranks_colour(of->plan, rank, colour), tooltip);
}

bool pti_ranks_shows_inner(const polytile_ranks_plan *plan) {
    polytile_plan_summary summary;
    polytile_plan_get_summary(plan->inner, &summary);
    return plan->inner->chain == NULL && summary.n_kernels <= PTI_PICTURE_MOST_RECTS;
}

static void draw_inner(pti_text *svg, const pti_ranks_panel *of) {
    const pti_schedule *schedule = of->plan->inner->schedule;
    for (int64_t k = 0; k < schedule->n_superblocks; k++) {
        const polytile_domain *box = &schedule->superblock[k];
        char tooltip[64];
        snprintf(tooltip, sizeof tooltip, "superblock %" PRId64, k);
        if (pti_ranks_panel_shows(of, box))
            pti_panel_draw_box(svg, &of->panel, "inner", box, NULL, tooltip);
    }
}

static void draw_busiest(pti_text *svg, const pti_ranks_panel *of) {
    polytile_domain hull = hull_of(of, of->plan->outer.busiest);
    if (of->plan->outer.member[of->plan->outer.busiest].threads.n_boxes == 1 &&
        pti_ranks_panel_shows(of, &hull))
        pti_panel_draw_box(svg, &of->panel, "chosen", &hull, NULL, NULL);
}

void pti_ranks_panel_draw(pti_text *svg, pti_ranks_panel *of, double x, double y, double width) {
    pti_boxes boxes = {0};
    int n_ranks = of->plan->outer.n_members;
    char *const *names = of->array < 0 ? of->plan->shared[0].instance->index_name : NULL;
    draw_caption(svg, of, x, y + 16);
    pti_panel_fit(&of->panel,
                  (pti_svg_box){x, y + caption_height, width, pti_panel_height(&of->panel, width)});
    pti_panel_draw_space(svg, &of->panel, names);
    for (int q = 0; q < n_ranks; q++)
        draw_rank(svg, of, q, &boxes);
    if (of->array < 0) {
        if (pti_ranks_shows_inner(of->plan))
            draw_inner(svg, of);
        draw_busiest(svg, of);
    } else {
        pti_ranks_draw_bands(svg, of);
    }
    for (int q = 0; q < n_ranks; q++)
        draw_number(svg, of, q);
    svg->failed = svg->failed || boxes.failed;
    pti_boxes_free(&boxes);
}
