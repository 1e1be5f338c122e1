#include "distribute/share/home.h"

#include "access/footprint/affine.h"
#include "access/set/boxes.h"
#include "base/checked.h"

const pti_ownership *pti_home_owner(const pti_shared_launch *launch,
                                    const pti_ownership *ownerships, int operand) {
    return &ownerships[launch->call.array[operand]];
}

/* Narrow a box to the threads for which an expression may be at least so much; each index is bound
 * with the others at their best. False: there are none. */
static bool keep_at_least(const pti_affine *affine, int64_t least, polytile_domain *threads) {
    int64_t slack = pti_affine_max(affine, threads) - least;
    for (int k = 0; slack >= 0 && k < threads->n_dims; k++) {
        polytile_range *range = &threads->range[k];
        int64_t factor = affine->index[k];
        if (factor > 0)
            range->lo = pti_max(range->lo, range->hi - slack / factor);
        if (factor < 0)
            range->hi = pti_min(range->hi, range->lo + slack / -factor);
    }
    return slack >= 0;
}

static bool keep_at_most(const pti_affine *affine, int64_t most, polytile_domain *threads) {
    static const pti_affine zero;
    pti_affine negative = pti_affine_difference(&zero, affine);
    return keep_at_least(&negative, -most, threads);
}

/* Return the anchor of the threads of an index: of those for which all other indices make it
 * least. */
static pti_affine anchor_along(const pti_affine *anchor, int index, const polytile_domain *all) {
    pti_affine others = *anchor;
    others.index[index] = 0;
    return (pti_affine){.constant = pti_affine_min(&others, all), .index = {anchor->index[index]}};
}

/* Narrow one index to where its anchor lies in a part of an array's dimension; what lies outside
 * the array counts as its nearest element. all: the launch's threads. */
static bool keep_anchors(const pti_affine *anchor, int index, polytile_range part,
                         polytile_range whole, const polytile_domain *all,
                         polytile_domain *threads) {
    polytile_domain alone = {.n_dims = 1, .range = {threads->range[index]}};
    const pti_affine affine = anchor_along(anchor, index, all);
    if ((part.lo > whole.lo && !keep_at_least(&affine, part.lo, &alone)) ||
        (part.hi < whole.hi && !keep_at_most(&affine, part.hi, &alone)))
        return false;
    threads->range[index] = alone.range[0];
    return !pti_range_is_empty(alone.range[0]);
}

/* What stays the same while the threads of a member are listed. */
typedef struct follower_list {
    const pti_home *home;
    const pti_section *section;
    const pti_ownership *ownership;
    const polytile_domain *all; /* the launch's threads */
    int coordinate[POLYTILE_MAX_DIMS];
    pti_boxes *threads;
} follower_list;

/* Append the threads of a box that follow what the member owns in dimension dim and those
 * after. */
static void list_followers(const follower_list *list, int dim, const polytile_domain *box) {
    const pti_ownership *ownership = list->ownership;
    if (dim == ownership->domain.n_dims) {
        pti_boxes_append(list->threads, box);
        return;
    }
    int index = list->home->index[dim];
    if (index == POLYTILE_MAX_DIMS) {
        list_followers(list, dim + 1, box);
        return;
    }
    int64_t n_ranges = pti_ownership_count(ownership, dim, list->coordinate[dim]);
    for (int64_t k = 0; k < n_ranges && !list->threads->failed; k++) {
        polytile_range part = pti_ownership_range(ownership, dim, list->coordinate[dim], k);
        polytile_domain narrowed = *box;
        if (keep_anchors(&list->section->subscript[dim].lo, index, part,
                         ownership->domain.range[dim], list->all, &narrowed))
            list_followers(list, dim + 1, &narrowed);
    }
}

static follower_list begin_list(const pti_home *home, const pti_shared_launch *launch,
                                const pti_ownership *ownerships, int member, pti_boxes *threads) {
    follower_list list = {
        .home = home,
        .section = &launch->call.instance->section[home->section],
        .ownership = pti_home_owner(launch, ownerships, home->operand),
        .all = &launch->call.instance->threads,
        .threads = threads,
    };
    pti_member_grid_locate(&list.ownership->grid, member, list.coordinate);
    return list;
}

/* Return whether a member is the first of those that follow the same elements. */
static bool is_first(const follower_list *list) {
    bool is_first = true;
    for (int d = 0; d < list->ownership->grid.n_dims; d++)
        is_first =
            is_first && (list->home->index[d] != POLYTILE_MAX_DIMS || list->coordinate[d] == 0);
    return is_first;
}

pti_ownership pti_home_slots(const pti_shared_launch *launch, const pti_ownership *ownerships) {
    const pti_instance *instance = launch->call.instance;
    int o = 0;
    while (o + 1 < instance->n_operands && instance->operand[o].is_scratch)
        o++;
    const pti_ownership *like = pti_home_owner(launch, ownerships, o);
    pti_distribution distribution = like->distribution;
    distribution.only_dim = 0;
    return pti_ownership_of(&instance->threads, pti_member_grid_count(&like->grid), NULL,
                            &distribution);
}

static void list_slots(const pti_shared_launch *launch, const pti_ownership *ownerships, int member,
                       pti_boxes *threads) {
    const pti_ownership slots = pti_home_slots(launch, ownerships);
    pti_ownership_boxes(&slots, member, threads);
}

void pti_home_threads_once(const pti_home *home, const pti_shared_launch *launch,
                           const pti_ownership *ownerships, int member, pti_boxes *threads) {
    pti_boxes_clear(threads);
    if (home->is_of_slots) {
        list_slots(launch, ownerships, member, threads);
        return;
    }
    if (home->operand < 0) {
        if (member == 0)
            pti_boxes_append(threads, &launch->call.instance->threads);
        return;
    }
    follower_list list = begin_list(home, launch, ownerships, member, threads);
    if (is_first(&list))
        list_followers(&list, 0, &launch->call.instance->threads);
}

/* Take in all threads that reduce into what a member owns of the share's operand. Only indices that
 * follow it are narrowed, so that threads of the same indices stay together. */
static void add_writers(const follower_list *list, const pti_shared_launch *launch, int member) {
    pti_boxes owned = {0};
    pti_ownership_boxes(list->ownership, member, &owned);
    list->threads->failed = list->threads->failed || owned.failed;
    for (int b = 0; b < owned.n_boxes; b++) {
        polytile_domain box = launch->call.instance->threads;
        polytile_domain writers = pti_home_writers(launch, list->home->operand, &owned.box[b]);
        for (int d = 0; d < list->ownership->domain.n_dims; d++) {
            int index = list->home->index[d];
            if (index != POLYTILE_MAX_DIMS)
                box.range[index] = writers.range[index];
        }
        pti_boxes_add(list->threads, &box);
    }
    pti_boxes_merge(list->threads);
    pti_boxes_free(&owned);
}

static bool begins_anew(const pti_instance *instance) {
    bool begins = false;
    for (int p = 0; p < instance->n_operands; p++)
        begins = begins || instance->operand[p].fresh;
    return begins;
}

/* Join all threads into one launch: each launch begins what it reduces from the identity, so that
 * of several that meet in an element only the last would count. More threads do no harm. */
static void take_as_one(const pti_instance *instance, pti_boxes *threads) {
    if (threads->n_boxes < 2 || !begins_anew(instance))
        return;
    polytile_domain box = pti_boxes_bounding(threads, instance->n_indices);
    pti_boxes_assign(threads, &box);
}

void pti_home_threads(const pti_home *home, const pti_shared_launch *launch,
                      const pti_ownership *ownerships, int member, pti_boxes *threads) {
    pti_boxes_clear(threads);
    if (home->is_of_slots) {
        list_slots(launch, ownerships, member, threads);
        return;
    }
    if (home->operand < 0) {
        pti_boxes_append(threads, &launch->call.instance->threads);
        return;
    }
    follower_list list = begin_list(home, launch, ownerships, member, threads);
    if (!home->splits || is_first(&list))
        list_followers(&list, 0, &launch->call.instance->threads);
    if (home->widens) {
        add_writers(&list, launch, member);
        take_as_one(launch->call.instance, threads);
    }
}

/* Narrow threads to those whose section may meet a box: in each dimension it begins before the box
 * ends, and ends after the box begins. False if there are none. */
static bool find_touching(const pti_section *section, const polytile_domain *box,
                          polytile_domain *threads) {
    for (int d = 0; d < section->n_dims; d++)
        if (!keep_at_most(&section->subscript[d].lo, box->range[d].hi, threads) ||
            !keep_at_least(&section->subscript[d].hi, box->range[d].lo, threads))
            return false;
    return true;
}

polytile_domain pti_home_writers(const pti_shared_launch *launch, int operand,
                                 const polytile_domain *box) {
    const pti_instance *instance = launch->call.instance;
    const pti_operand *written = &instance->operand[operand];
    polytile_domain writers = pti_box_empty(instance->n_indices);
    if (pti_box_is_empty(box))
        return writers;
    for (int s = 0; s < written->n_sections; s++) {
        const pti_section *section = &instance->section[written->first_section + s];
        polytile_domain touching = instance->threads;
        if (pti_section_counts(section, PTI_WRITES) && find_touching(section, box, &touching))
            writers = pti_box_bounding(&writers, &touching);
    }
    return writers;
}
