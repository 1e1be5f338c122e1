#include "partition/window/fusion_group.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/cache_blocking/resident.h"
#include "partition/choose/strategy.h"
#include "partition/cost/predict.h"
#include "partition/schedule/stretch.h"
#include "partition/skew/folded.h"
#include "partition/skew/tiled.h"
#include "partition/window/fusion_in_place.h"

#include <stdlib.h>
#include <string.h>

double pti_asked_touched_bytes(const pti_instance *instance) {
    double n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        polytile_domain hull;
        pti_footprint_find_hull(instance, o, PTI_TOUCHES, &instance->threads, &hull);
        n_bytes += (double)pti_box_count(&hull) * (double)instance->operand[o].element_bytes *
                   pti_operand_passes(&instance->operand[o]);
    }
    return n_bytes;
}

/** The strategy of a step that is a launch, if it wants the fewest kernels, which it has by itself:
 * slabs are more; else NULL. */
static const char *strategy_apart(const pti_step_window *window, int step) {
    const polytile_plan_options *options = window->asked[step].options;
    const pti_strategy *strategy = pti_strategy_find(options == NULL ? NULL : options->strategy);
    return strategy->objective.fewest_kernels ? strategy->name : NULL;
}

/** Return whether a step is a launch that may be looked at with others: slots run all at once. */
static bool may_be_in_sequence(const pti_step *step) {
    return step->kind == PTI_STEP_LAUNCH && !step->call.instance->is_team;
}

/** Count the launches in sequence from a step on. All of them want the fewest kernels, and so run
 * by themselves, or none does. */
static int count_sequence(const pti_step_window *window, int first) {
    int n = 0;
    while (first + n < window->n_steps && may_be_in_sequence(&window->step[first + n]) &&
           (strategy_apart(window, first + n) == NULL) == (strategy_apart(window, first) == NULL))
        n++;
    return n;
}

/** The most launches of a pass that all of some launches allow; 0: as many as is good. */
static int64_t most_per_pass(const pti_step_window *window, int first, int n_launches) {
    int64_t most = 0;
    for (int k = first; k < first + n_launches; k++) {
        int64_t asked = window->asked[k].options->launches_per_pass;
        if (asked > 0)
            most = most == 0 ? asked : pti_min(most, asked);
    }
    return most;
}

/** What is assumed of the device where launches go on from what lies on it. */
static const polytile_link *near_link_of(const pti_step_window *window, int first) {
    const polytile_link *link = window->asked[first].options->link;
    link = link == NULL ? window->link : link;
    return link == NULL ? &polytile_link_default : link;
}

/** Return whether a look at the launches' dependences may be worth its time, all arrays being
 * resident: most windows are of few launches, or of small ones. */
static bool may_stay_near(const pti_step_window *window, int first, int n_launches) {
    pti_blocking_bound bound = {0};
    for (int l = first; l < first + n_launches; l++)
        pti_blocking_bound_add(&bound, near_link_of(window, first), window->asked[l].touched_bytes);
    return pti_blocking_bound_may_pay(&bound);
}

/** Return whether launches of a row may run in tiles and have fewer threads in the end: members
 * forget in the same window what the last one does not compute, so that tiles may lose it. Slabs in
 * the cache are a schedule of their own, which would have to keep it. */
static bool shrink_in_tiles(const pti_step_window *window, int first, int n_launches) {
    const pti_asked *asked = &window->asked[first];
    bool may = window->tile_room.image_bytes > 0 &&
               !pti_box_equals(&asked[0].whole.instance->threads,
                               &asked[n_launches - 1].whole.instance->threads);
    for (int l = 0; l < n_launches; l++)
        may = may && asked[l].tiles != PTI_TILES_NONE;
    return may;
}

/** The first step from one on that uses an array; NULL: none is known. */
static const pti_step *find_use(const pti_step_window *window, int first, int array) {
    for (int k = first; k < window->n_steps; k++) {
        if (pti_step_uses(&window->step[k], array))
            return &window->step[k];
    }
    return window->later_use == NULL ? NULL : window->later_use[array];
}

/** The hull of what launches write of an array; false if that is nothing. */
static bool find_written_hull(const pti_cut_launch *launch, int n_launches, int array,
                              polytile_domain *hull) {
    bool any = false;
    for (int l = 0; l < n_launches; l++) {
        const pti_instance *instance = launch[l].call.instance;
        for (int o = 0; o < instance->n_operands; o++) {
            polytile_domain box;
            if (launch[l].call.array[o] != array ||
                !pti_footprint_find_hull(instance, o, PTI_WRITES, &instance->threads, &box))
                continue;
            *hull = any ? pti_box_coarse_union(hull, &box) : box;
            any = true;
        }
    }
    return any;
}

/** Return whether nobody needs what the launches of a chain leave in an array. */
static bool is_dropped(const pti_step_window *window, int after, int array,
                       const pti_fusion_group *group) {
    const pti_step *use = find_use(window, after, array);
    polytile_domain written;
    if (use == NULL || use->kind == PTI_STEP_DROP)
        return use != NULL;
    return find_written_hull(group->launch, pti_chain_n_calls(&group->chain), array, &written) &&
           pti_step_buries(use, array, &written);
}

static bool list_launches(const pti_step_window *window, int first, int n_launches,
                          pti_fusion_group *group) {
    group->launch = calloc((size_t)n_launches + 1, sizeof *group->launch);
    for (int l = 0; group->launch != NULL && l < n_launches; l++)
        group->launch[l] = (pti_cut_launch){.call = window->step[first + l].call};
    return group->launch != NULL;
}

/** What is known of arrays beside the launches. */
static bool find_states(const pti_step_window *window, int after, pti_fusion_group *group) {
    size_t n_arrays = (size_t)window->arrays->n_operands;
    group->n_arrays = window->arrays->n_operands;
    group->dropped = calloc(n_arrays + 1, sizeof *group->dropped);
    group->unwritten = calloc(n_arrays + 1, sizeof *group->unwritten);
    for (size_t a = 0; group->dropped != NULL && a < n_arrays; a++)
        group->dropped[a] = window->residency != NULL && is_dropped(window, after, (int)a, group);
    return group->dropped != NULL && group->unwritten != NULL;
}

/** What nobody wrote is known only when all launches before have run. */
static bool refresh_unwritten(const pti_step_window *window, pti_fusion_group *group) {
    for (int a = 0; a < group->n_arrays && window->residency != NULL; a++)
        pti_boxes_copy(&group->unwritten[a], pti_residency_unwritten(window->residency, a));
    return group->chain.folded == NULL ||
           pti_folded_set_states(group->chain.folded, group->dropped, group->unwritten);
}

/** Return whether sub-kernels of all these launches may overlap on the device, as none of a
 * launcher may. */
static bool may_all_overlap(const pti_step_window *window, int first, int n_launches) {
    bool all_may = true;
    for (int k = first; k < first + n_launches; k++)
        all_may &= window->asked[k].may_overlap;
    return all_may;
}

/** Return whether all these launches may be cut into columns, which run side by side. */
static bool may_all_take_columns(const pti_step_window *window, int first, int n_launches) {
    bool all_may = true;
    for (int k = first; k < first + n_launches; k++)
        all_may &= window->asked[k].takes_columns;
    return all_may;
}

static pti_skew_request skew_request(const pti_step_window *window, int first,
                                     const pti_fusion_group *group) {
    const polytile_plan_options *options = window->asked[first].options;
    const struct pti_folded_chain *folded = group->chain.folded;
    const int n_calls = pti_chain_n_calls(&group->chain);
    const polytile_link *link = group->is_resident ? near_link_of(window, first) : window->link;
    return (pti_skew_request){
        .chain = &group->chain,
        .unwritten = window->residency == NULL ? NULL
                     : folded != NULL          ? folded->unwritten
                                               : group->unwritten,
        .dropped = folded != NULL ? folded->dropped : group->dropped,
        .arena_bytes = window->memory_bytes,
        .link = link == NULL ? &polytile_link_default : link,
        .most_per_pass = most_per_pass(window, first, n_calls),
        .one_after_other = !may_all_overlap(window, first, n_calls),
        .core_bytes = may_all_take_columns(window, first, n_calls) ? window->core_bytes : 0,
        .n_workers = pti_max(1, window->n_workers),
        .fewest_bytes = pti_strategy_find(options->strategy)->fewest_bytes};
}

/** Return the tiles in which what is asked for with a launch lets it run as one with others. */
static pti_tile_kernel tiles_of(const pti_asked *asked) {
    return asked->options->launches_per_pass != 1 ? asked->tiles : PTI_TILES_NONE;
}

/** Let launches of a chain that streams run as one where the device has tiles and that pays. */
static polytile_status find_tiled(const pti_step_window *window, int first,
                                  pti_fusion_group *group) {
    pti_chain *chain = &group->chain;
    const int n_halves = pti_chain_unit(chain);
    if (window->residency == NULL || group->is_resident)
        return POLYTILE_OK;
    pti_tile_kernel *tiles = calloc((size_t)chain->n_launches + 1, sizeof *tiles);
    if (tiles == NULL)
        return POLYTILE_NO_MEMORY;
    for (int l = 0; l < chain->n_launches; l++)
        tiles[l] = tiles_of(&window->asked[first + l / n_halves]);
    polytile_status status = pti_tiled_find(&window->tile_room, tiles, group->dropped, chain);
    free(tiles);
    return status;
}

/** Choose how the chain is cut; without a good way none of it is fused, for a reason but in
 * place: elsewhere there is none where memory ran out. */
static polytile_status choose_cut(const pti_step_window *window, int first,
                                  pti_fusion_group *group) {
    pti_skew_request wanted = skew_request(window, first, group);
    bool is_chosen;
    if (window->residency == NULL) {
        const polytile_status status = pti_fusion_choose_in_place(&wanted, group, &is_chosen);
        if (status != POLYTILE_OK)
            return status;
    } else if (group->is_resident) {
        is_chosen = pti_blocking_choose_resident(&wanted, &group->shape, &group->apart);
    } else {
        is_chosen = pti_skew_choose_tiled(&wanted, &group->chain, &group->shape, &group->apart) &&
                    pti_skew_pays(&wanted, &group->shape, &group->apart);
    }
    group->n_launches = is_chosen ? pti_chain_n_calls(&group->chain) : 0;
    bool has_reason = window->residency == NULL || group->apart.length > 0;
    return is_chosen || has_reason ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

polytile_status pti_fusion_group_choose_tiled(const pti_step_window *window, int first,
                                              const pti_fusion_group *group, pti_chain *chain,
                                              pti_skew_shape *shape, bool *is_chosen) {
    const pti_skew_request wanted = skew_request(window, first, group);
    pti_text why = {0};
    *is_chosen = pti_skew_choose_tiled(&wanted, chain, shape, &why);
    const bool has_memory = *is_chosen || why.length > 0;
    pti_text_free(&why);
    return has_memory ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

/** How many launches there are before a step, counted as texts do. */
static int number_of(const pti_step_window *window, int step) {
    int number = 0;
    for (int k = 0; k < step; k++)
        number += window->step[k].kind == PTI_STEP_LAUNCH;
    return number;
}

static int count_all(const pti_step_window *window) {
    return window->n_launches > 0 ? window->n_launches : number_of(window, window->n_steps);
}

/** Name the launch that ends a chain, or that cannot begin one. */
static void describe_end(const pti_step_window *window, int step, bool has_before,
                         const pti_text *why, pti_text *end) {
    pti_text_add(end, "launch %d of %d, %s, cannot be interleaved with %s: %s",
                 number_of(window, step) + 1, count_all(window),
                 window->step[step].call.instance->kernel_name,
                 has_before ? "those before" : "others",
                 why->data == NULL ? "no reason is known" : why->data);
}

/** Look for a chain of launches that are periodic, which replaces one that has no more launches:
 * there each has to stay a whole round behind. */
static polytile_status find_ring(const pti_step_window *window, int first, int n_row,
                                 pti_chain *chain) {
    pti_call *calls = calloc((size_t)n_row, sizeof *calls);
    pti_chain found = {0};
    polytile_status status = POLYTILE_NO_MEMORY;
    for (int k = 0; k < n_row && calls != NULL; k++)
        calls[k] = window->asked[first + k].whole;
    if (calls != NULL)
        status = pti_folded_find(window->arrays, n_row, calls, &found);
    const bool is_taken = found.folded != NULL && found.folded->n_calls >= pti_chain_n_calls(chain);
    pti_chain_free(is_taken ? chain : &found);
    if (is_taken)
        *chain = found;
    free(calls);
    return status;
}

static polytile_status find_chain(const pti_step_window *window, int first, int n_row,
                                  pti_fusion_group *group) {
    pti_text why = {0};
    pti_chain *chain = &group->chain;
    polytile_status status = pti_chain_find(window->arrays, n_row, group->launch, chain, &why);
    if (status == POLYTILE_OK && window->residency != NULL && !group->is_resident &&
        window->asked[first].whole.instance->fold != NULL)
        status = find_ring(window, first, n_row, chain);
    const int n_calls = pti_chain_n_calls(chain);
    if (status == POLYTILE_OK && n_calls < n_row)
        describe_end(window, first + n_calls, n_calls > 0, &why, &group->end);
    group->n_single = (int)pti_max(1, n_calls);
    pti_text_free(&why);
    return status;
}

static polytile_status describe_strategy(const char *strategy, pti_fusion_group *group) {
    pti_text_add(&group->apart, "strategy %s runs each launch by itself", strategy);
    return group->apart.failed ? POLYTILE_NO_MEMORY : POLYTILE_OK;
}

/** Look at launches in a row that may be fused. */
static polytile_status look_at_row(const pti_step_window *window, int first, int n_row,
                                   pti_fusion_group *group) {
    polytile_status status = POLYTILE_OK;
    if (!list_launches(window, first, n_row, group))
        return POLYTILE_NO_MEMORY;
    PTI_TRY(find_chain(window, first, n_row, group));
    if (pti_chain_n_calls(&group->chain) < 2)
        return POLYTILE_OK;
    if (!find_states(window, first + pti_chain_n_calls(&group->chain), group) ||
        !refresh_unwritten(window, group))
        return POLYTILE_NO_MEMORY;
    PTI_TRY(find_tiled(window, first, group));
    PTI_TRY(choose_cut(window, first, group));
done:
    return status;
}

/** The same, unless it is known of a window before that they are not fused. What becomes of
 * launches whose arrays come and go depends on more than them. */
static polytile_status look_at_new_row(const pti_step_window *window, int first, int n_row,
                                       pti_fusion_group *group) {
    pti_not_fused *kept = group->is_resident ? window->not_fused : NULL;
    const pti_step *launch = &window->step[first];
    const int n_single = kept == NULL ? 0 : pti_not_fused_find(kept, n_row, launch);
    if (n_single > 0) {
        group->n_single = n_single;
        return POLYTILE_OK;
    }
    polytile_status status = look_at_row(window, first, n_row, group);
    if (status == POLYTILE_OK && kept != NULL && group->n_launches == 0)
        pti_not_fused_keep(kept, n_row, launch, group->n_single);
    return status;
}

polytile_status pti_fusion_group_find(const pti_step_window *window, int first,
                                      pti_fusion_group *group) {
    const char *apart = strategy_apart(window, first);
    int n_row = count_sequence(window, first);
    *group = (pti_fusion_group){.n_single = (int)pti_max(1, n_row),
                                .is_resident = window->residency != NULL &&
                                               pti_residency_all_fit(window->residency)};
    if (n_row < 2 || most_per_pass(window, first, n_row) == 1 ||
        (group->is_resident &&
         (!may_stay_near(window, first, n_row) || shrink_in_tiles(window, first, n_row))))
        return POLYTILE_OK;
    return apart != NULL ? describe_strategy(apart, group)
                         : look_at_new_row(window, first, n_row, group);
}

/** What the schedule of a chain that streams needs, all before it having run. */
static pti_skew_request build_request(const pti_step_window *window,
                                      const pti_fusion_group *group) {
    const struct pti_folded_chain *folded = group->chain.folded;
    return (pti_skew_request){.chain = &group->chain,
                              .unwritten = folded != NULL ? folded->unwritten : group->unwritten,
                              .dropped = folded != NULL ? folded->dropped : group->dropped,
                              .arena_bytes = window->memory_bytes,
                              .turn_kernels = window->may_repeat ? PTI_STRETCH_SUPERBLOCKS : 0,
                              .turn_slabs = window->turn_slabs};
}

pti_schedule *pti_fusion_group_build(const pti_step_window *window, pti_fusion_group *group) {
    if (window->residency == NULL)
        return pti_fusion_build_in_place(group);
    if (!refresh_unwritten(window, group))
        return NULL;
    const pti_skew_request wanted = build_request(window, group);
    return pti_skew_build(&wanted, &group->shape);
}

int64_t pti_fusion_group_n_listed(const pti_step_window *window, pti_fusion_group *group) {
    const pti_skew_request wanted = build_request(window, group);
    return pti_skew_n_listed(&wanted, &group->shape);
}

pti_schedule *pti_fusion_group_build_resident(const pti_fusion_group *group,
                                              const pti_schedule *apart) {
    return pti_blocking_suits_resident(apart)
               ? pti_blocking_build_resident(apart, &group->chain, &group->shape)
               : NULL;
}

/** "launches 3 to 7 of 9" */
static void add_numbers(const pti_step_window *window, int first, int n_launches, pti_text *text) {
    int number = number_of(window, first) + 1;
    if (n_launches == 1)
        pti_text_add(text, "launch %d of %d", number, count_all(window));
    else
        pti_text_add(text, "launches %d to %d of %d", number, number + n_launches - 1,
                     count_all(window));
}

static const char *verb_of_group(const pti_fusion_group *group) {
    if (group->n_launches > 0)
        return " are interleaved; ";
    return group->n_single == 1 ? " is not fused: " : " are not fused: ";
}

/** Return whether not even the first launch of a group can be cut into slabs. */
static bool is_hopeless(const pti_fusion_group *group) {
    return group->chain.n_launches == 0 && group->end.length > 0;
}

void pti_fusion_group_describe(const pti_step_window *window, int first,
                               const pti_fusion_group *group, pti_text *text) {
    int n_named = group->n_launches > 0 ? group->n_launches : group->n_single;
    const pti_text *end = &group->end;
    const pti_text *apart =
        group->apart.length > 0 || group->n_launches == 0 ? &group->apart : &group->columns;
    if (end->length == 0 && apart->length == 0)
        return;
    if (!is_hopeless(group)) {
        add_numbers(window, first, n_named, text);
        pti_text_add(text, "%s", verb_of_group(group));
    }
    pti_text_add(text, "%s%s%s", end->length == 0 ? "" : end->data,
                 end->length > 0 && apart->length > 0 ? "; " : "",
                 apart->length == 0 ? "" : apart->data);
    text->failed |= end->failed || apart->failed;
}

void pti_fusion_group_free(pti_fusion_group *group) {
    pti_boxes_free_list(group->unwritten, group->n_arrays);
    free(group->dropped);
    free(group->launch);
    pti_text_free(&group->end);
    pti_text_free(&group->apart);
    pti_text_free(&group->columns);
    pti_chain_free(&group->chain);
    pti_chain_free(&group->across);
    *group = (pti_fusion_group){0};
}
