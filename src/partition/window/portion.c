#include "partition/window/portion.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/choose/strategy.h"
#include "partition/skew/resident.h"

#include <stdlib.h>
#include <string.h>

/** The strategy of a step that is a launch, if it wants the fewest kernels, which it has by itself: slabs are more;
 * else NULL. */
static const char *strategy_apart(const pti_portion_request *request, int step) {
    const polytile_plan_options *options = request->asked[step].options;
    const char *name = options == NULL ? NULL : options->strategy;
    bool is_apart = name != NULL && pti_strategy_find(name)->objective.fewest_kernels;
    return is_apart ? name : NULL;
}

/** The launches that follow one another from a step on, in a row; all or none of them by themselves.
 */
static int count_row(const pti_portion_request *request, int first) {
    int n = 0;
    while (first + n < request->n_steps && request->step[first + n].kind == PTI_STEP_LAUNCH &&
           (strategy_apart(request, first + n) == NULL) == (strategy_apart(request, first) == NULL))
        n++;
    return n;
}

/** The most launches of a pass that all of some launches allow; 0: as many as is good. */
static int64_t most_per_pass(const pti_portion_request *request, int first, int n_launches) {
    int64_t most = 0;
    for (int k = first; k < first + n_launches; k++) {
        int64_t asked = request->asked[k].options->launches_per_pass;
        if (asked > 0)
            most = most == 0 ? asked : pti_min(most, asked);
    }
    return most;
}

/** What is assumed of the device where launches go on from what lies on it. */
static const polytile_link *near_link_of(const pti_portion_request *request, int first) {
    const polytile_link *link = request->asked[first].options->link;
    link = link == NULL ? request->link : link;
    return link == NULL ? &polytile_link_default : link;
}

/** Whether a look at the launches' dependences may be worth its time, all arrays being resident:
 * most windows are of few launches, or of small ones. */
static bool may_stay_near(const pti_portion_request *request, int first, int n_launches) {
    pti_near_bound bound = {0};
    for (int l = first; l < first + n_launches; l++)
        pti_near_bound_add(&bound, near_link_of(request, first), request->asked[l].touched_bytes);
    return pti_near_bound_may_pay(&bound);
}

/** The first step from one on that uses an array; NULL: none is known. */
static const pti_step *find_use(const pti_portion_request *request, int first, int array) {
    for (int k = first; k < request->n_steps; k++) {
        if (pti_step_uses(&request->step[k], array))
            return &request->step[k];
    }
    return request->behind == NULL ? NULL : request->behind[array];
}

/** The hull of what launches write of an array; false if that is nothing. */
static bool find_written(const pti_cut_launch *launch, int n_launches, int array,
                         polytile_domain *hull) {
    bool any = false;
    for (int l = 0; l < n_launches; l++) {
        const pti_instance *instance = launch[l].instance;
        for (int o = 0; o < instance->n_operands; o++) {
            polytile_domain box;
            if (launch[l].array[o] != array ||
                !pti_footprint_find_hull(instance, o, PTI_WRITES, &instance->threads, &box))
                continue;
            *hull = any ? pti_box_coarse_union(hull, &box) : box;
            any = true;
        }
    }
    return any;
}

/** Whether nobody needs what the launches of a chain leave in an array. */
static bool is_dropped(const pti_portion_request *request, int behind, int array,
                       const pti_portion *portion) {
    const pti_step *use = find_use(request, behind, array);
    polytile_domain written;
    if (use == NULL || use->kind == PTI_STEP_DROP)
        return use != NULL;
    return find_written(portion->launch, portion->chain.n_launches, array, &written) &&
           pti_step_buries(use, array, &written);
}

static bool list_launches(const pti_portion_request *request, int first, int n_launches,
                          pti_portion *portion) {
    portion->launch = calloc((size_t)n_launches + 1, sizeof *portion->launch);
    for (int l = 0; portion->launch != NULL && l < n_launches; l++)
        portion->launch[l] = (pti_cut_launch){.instance = request->step[first + l].instance,
                                              .array = request->step[first + l].array};
    return portion->launch != NULL;
}

/** What is known of arrays beside the launches. */
static bool find_states(const pti_portion_request *request, int behind, pti_portion *portion) {
    size_t n_arrays = (size_t)request->arrays->n_operands;
    portion->n_arrays = request->arrays->n_operands;
    portion->dropped = calloc(n_arrays + 1, sizeof *portion->dropped);
    portion->unwritten = calloc(n_arrays + 1, sizeof *portion->unwritten);
    for (size_t a = 0; portion->dropped != NULL && a < n_arrays; a++)
        portion->dropped[a] =
            request->residency != NULL && is_dropped(request, behind, (int)a, portion);
    return portion->dropped != NULL && portion->unwritten != NULL;
}

/** What nobody wrote is known only when all launches before have run. */
static void refresh_unwritten(const pti_portion_request *request, pti_portion *portion) {
    for (int a = 0; a < portion->n_arrays && request->residency != NULL; a++)
        pti_boxes_copy(&portion->unwritten[a], pti_residency_unwritten(request->residency, a));
}

static bool has_launcher(const pti_portion_request *request, int first, int n_launches) {
    bool has = false;
    for (int k = first; k < first + n_launches; k++)
        has |= request->asked[k].has_launcher;
    return has;
}

static pti_skew_request skew_request(const pti_portion_request *request, int first,
                                     const pti_portion *portion) {
    const polytile_plan_options *options = request->asked[first].options;
    const polytile_link *link = portion->is_resident ? near_link_of(request, first) : request->link;
    return (pti_skew_request){
        .chain = &portion->chain,
        .unwritten = request->residency == NULL ? NULL : portion->unwritten,
        .dropped = portion->dropped,
        .arena_bytes = request->memory_bytes,
        .link = link == NULL ? &polytile_link_default : link,
        .most_per_pass = most_per_pass(request, first, portion->chain.n_launches),
        .in_turn = has_launcher(request, first, portion->chain.n_launches),
        .fewest_bytes = options->strategy != NULL && strcmp(options->strategy, "min-traffic") == 0};
}

/** Choose how the chain is cut; without a good way none of it is fused, for a reason that is told but
 * in place: elsewhere none is told where memory ran out. */
static polytile_status choose(const pti_portion_request *request, int first, pti_portion *portion) {
    pti_skew_request wanted = skew_request(request, first, portion);
    bool is_chosen;
    if (request->residency == NULL)
        is_chosen = pti_skew_choose_in_place(&wanted, &portion->shape, &portion->apart);
    else if (portion->is_resident)
        is_chosen = pti_skew_choose_resident(&wanted, &portion->shape, &portion->apart);
    else
        is_chosen = pti_skew_choose(&wanted, &portion->shape, &portion->apart) &&
                    pti_skew_pays(&wanted, &portion->shape, &portion->apart);
    portion->n_launches = is_chosen ? portion->chain.n_launches : 0;
    bool has_reason = request->residency == NULL || portion->apart.length > 0;
    return is_chosen || has_reason ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

/** How many launches there are before a step, counted as texts do. */
static int number_of(const pti_portion_request *request, int step) {
    int number = 0;
    for (int k = 0; k < step; k++)
        number += request->step[k].kind == PTI_STEP_LAUNCH;
    return number;
}

static int count_all(const pti_portion_request *request) {
    return request->n_launches > 0 ? request->n_launches : number_of(request, request->n_steps);
}

/** Name the launch that ends a chain, or that cannot begin one. */
static void tell_end(const pti_portion_request *request, int step, bool has_before,
                     const pti_text *why, pti_text *end) {
    pti_text_add(end, "launch %d of %d, %s, cannot take turns with %s: %s",
                 number_of(request, step) + 1, count_all(request),
                 request->step[step].instance->kernel_name, has_before ? "those before" : "others",
                 why->data == NULL ? "no reason is known" : why->data);
}

static polytile_status find_chain(const pti_portion_request *request, int first, int n_row,
                                  pti_portion *portion) {
    pti_text why = {0};
    pti_chain *chain = &portion->chain;
    polytile_status status = pti_chain_find(request->arrays, n_row, portion->launch, chain, &why);
    if (status == POLYTILE_OK && chain->n_launches < n_row)
        tell_end(request, first + chain->n_launches, chain->n_launches > 0, &why, &portion->end);
    portion->n_single = (int)pti_max(1, chain->n_launches);
    pti_text_free(&why);
    return status;
}

static polytile_status tell_strategy(const char *strategy, pti_portion *portion) {
    pti_text_add(&portion->apart, "strategy %s runs each launch by itself", strategy);
    return portion->apart.failed ? POLYTILE_NO_MEMORY : POLYTILE_OK;
}

polytile_status pti_portion_find(const pti_portion_request *request, int first,
                                 pti_portion *portion) {
    const char *apart = strategy_apart(request, first);
    int n_row = count_row(request, first);
    polytile_status status = POLYTILE_OK;
    *portion = (pti_portion){.n_single = (int)pti_max(1, n_row),
                             .is_resident = request->residency != NULL &&
                                            pti_residency_all_fit(request->residency)};
    if (n_row < 2 || most_per_pass(request, first, n_row) == 1 ||
        (portion->is_resident && !may_stay_near(request, first, n_row)))
        return POLYTILE_OK;
    if (apart != NULL)
        return tell_strategy(apart, portion);
    if (!list_launches(request, first, n_row, portion))
        return POLYTILE_NO_MEMORY;
    PTI_TRY(find_chain(request, first, n_row, portion));
    if (portion->chain.n_launches < 2)
        return POLYTILE_OK;
    if (!find_states(request, first + portion->chain.n_launches, portion))
        return POLYTILE_NO_MEMORY;
    refresh_unwritten(request, portion);
    PTI_TRY(choose(request, first, portion));
done:
    return status;
}

pti_schedule *pti_portion_build(const pti_portion_request *request, pti_portion *portion) {
    if (request->residency == NULL)
        return pti_skew_build_in_place(&portion->chain, &portion->shape);
    refresh_unwritten(request, portion);
    pti_skew_request wanted = {.chain = &portion->chain,
                               .unwritten = portion->unwritten,
                               .dropped = portion->dropped,
                               .arena_bytes = request->memory_bytes};
    return pti_skew_build(&wanted, &portion->shape);
}

pti_schedule *pti_portion_build_resident(const pti_portion *portion, const pti_schedule *apart) {
    return pti_skew_suits_resident(apart)
               ? pti_skew_build_resident(apart, &portion->chain, &portion->shape)
               : NULL;
}

/** "launches 3 to 7 of 9" */
static void add_numbers(const pti_portion_request *request, int first, int n_launches,
                        pti_text *text) {
    int number = number_of(request, first) + 1;
    if (n_launches == 1)
        pti_text_add(text, "launch %d of %d", number, count_all(request));
    else
        pti_text_add(text, "launches %d to %d of %d", number, number + n_launches - 1,
                     count_all(request));
}

static const char *verb_of(const pti_portion *portion) {
    if (portion->n_launches > 0)
        return " take turns; ";
    return portion->n_single == 1 ? " is not fused: " : " are not fused: ";
}

/** Whether not even the first launch of a portion can be cut into slabs. */
static bool is_hopeless(const pti_portion *portion) {
    return portion->chain.n_launches == 0 && portion->end.length > 0;
}

void pti_portion_tell(const pti_portion_request *request, int first, const pti_portion *portion,
                      pti_text *text) {
    int n_told = portion->n_launches > 0 ? portion->n_launches : portion->n_single;
    const pti_text *end = &portion->end, *apart = &portion->apart;
    if (end->length == 0 && apart->length == 0)
        return;
    if (!is_hopeless(portion)) {
        add_numbers(request, first, n_told, text);
        pti_text_add(text, "%s", verb_of(portion));
    }
    pti_text_add(text, "%s%s%s", end->length == 0 ? "" : end->data,
                 end->length > 0 && apart->length > 0 ? "; " : "",
                 apart->length == 0 ? "" : apart->data);
    text->failed |= end->failed || apart->failed;
}

void pti_portion_free(pti_portion *portion) {
    pti_boxes_free_list(portion->unwritten, portion->n_arrays);
    free(portion->dropped);
    free(portion->launch);
    pti_text_free(&portion->end);
    pti_text_free(&portion->apart);
    pti_chain_free(&portion->chain);
    *portion = (pti_portion){0};
}

int pti_portion_end_of_plan(const pti_step *step, int first, int end) {
    int64_t n_superblocks = 0;
    int k = first;
    for (; k < end; k++) {
        if (step[k].kind == PTI_STEP_LAUNCH)
            n_superblocks += step[k].partition->n_superblocks;
        if (n_superblocks > PTI_PLAN_SUPERBLOCKS && k > first)
            break;
    }
    return k;
}

bool pti_portion_note_written(pti_residency *residency, const pti_schedule *schedule) {
    bool is_noted = true;
    for (int a = 0; a < schedule->instance->n_operands && is_noted; a++) {
        pti_boxes home = {0};
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            const pti_op *op = &schedule->op[k];
            if (op->kind == PTI_DOWNLOAD && schedule->placement[op->placement].operand == a)
                pti_boxes_gather(&home, &op->box);
        }
        pti_boxes_merge(&home);
        is_noted = !home.failed;
        if (is_noted)
            pti_residency_note_written(residency, a, &home);
        pti_boxes_free(&home);
    }
    return is_noted;
}
