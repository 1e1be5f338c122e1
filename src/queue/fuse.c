#include "queue/fuse.h"

#include "base/checked.h"
#include "base/text.h"
#include "launch/host_cache.h"
#include "partition/predict.h"
#include "partition/skew_resident.h"

#include <stdlib.h>
#include <string.h>

/** The launches that follow one another from a step on, in a row. */
static int count_launches(const pti_steps *steps, int first) {
    int n = 0;
    while (first + n < steps->n_steps && steps->step[first + n].kind == PTI_STEP_LAUNCH)
        n++;
    return n;
}

/** The most launches of a pass that all of some launches allow; 0: as many as is good. */
static int64_t most_per_pass(const pti_steps *steps, int first, int n_launches) {
    int64_t most = 0;
    for (int k = first; k < first + n_launches; k++) {
        int64_t asked = steps->prepared[k]->options.launches_per_pass;
        if (asked > 0)
            most = most == 0 ? asked : pti_min(most, asked);
    }
    return most;
}

static double touched_bytes(const pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    double n_bytes = 0;
    for (int o = 0; o < instance->n_operands; o++)
        n_bytes += (double)pti_box_count(&prepared->touched[o]) *
                   (double)instance->operand[o].element_bytes *
                   pti_operand_passes(&instance->operand[o]);
    return n_bytes;
}

/** What is assumed of the device, as asked for with a launch. */
static const polytile_link *link_of(const pti_steps *steps, int first) {
    return steps->prepared[first]->options.link;
}

/** Whether a look at the launches' dependences may be worth its time, all arrays being resident: most
 * windows are of few launches, or of small ones. */
static bool may_stay_near(const pti_steps *steps, int first, int n_launches) {
    pti_near_bound bound = {0};
    for (int l = first; l < first + n_launches; l++)
        pti_near_bound_add(&bound, link_of(steps, first), touched_bytes(steps->prepared[l]));
    return pti_near_bound_may_pay(&bound);
}

/** Whether what an array holds does not matter behind some steps: it is dropped unused. */
static bool is_dropped(const pti_steps *steps, int first, int array) {
    for (int k = first; k < steps->n_steps; k++) {
        const pti_step *step = &steps->step[k];
        if (step->kind != PTI_STEP_LAUNCH && step->dropped == array)
            return step->kind == PTI_STEP_DROP;
        for (int o = 0; step->kind == PTI_STEP_LAUNCH && o < step->instance->n_operands; o++) {
            if (step->array[o] == array)
                return false;
        }
    }
    return false;
}

static void tell(const polytile_queue *queue, const pti_steps *steps, int first,
                 const pti_text *why) {
    if (why->data != NULL)
        pti_log(queue->object.context, PTI_LOG_INFO, "%s: launches are not fused: %s",
                steps->step[first].instance->kernel_name, why->data);
}

/** Arrays by position, as a residency has them. */
static pti_instance *make_arrays(const polytile_queue *queue) {
    pti_instance *arrays = calloc(1, sizeof *arrays);
    if (arrays == NULL)
        return NULL;
    arrays->kernel_name = "queue";
    arrays->operand = calloc((size_t)queue->n_held + 1, sizeof *arrays->operand);
    arrays->n_operands = arrays->operand == NULL ? 0 : queue->n_held;
    for (int p = 0; p < arrays->n_operands; p++) {
        const polytile_array *array = queue->held[p].array;
        arrays->operand[p] = (pti_operand){
            .name = "", .type = POLYTILE_BYTES(1), .element_bytes = 1, .domain = {1, {{0, 0, 1}}}};
        if (array != NULL)
            arrays->operand[p] = (pti_operand){.name = array->name,
                                               .type = array->type,
                                               .element_bytes = array->element_bytes,
                                               .domain = array->domain};
    }
    return arrays;
}

static bool find_arrays(const polytile_queue *queue, pti_fused *fused,
                        const pti_instance **arrays) {
    if (queue->residency == NULL)
        fused->arrays = make_arrays(queue);
    *arrays = queue->residency == NULL ? fused->arrays : pti_residency_arrays(queue->residency);
    return *arrays != NULL && (*arrays)->operand != NULL;
}

static pti_cut_launch *list_launches(const pti_steps *steps, int first, int n_launches) {
    pti_cut_launch *launch = calloc((size_t)n_launches + 1, sizeof *launch);
    for (int l = 0; launch != NULL && l < n_launches; l++)
        launch[l] = (pti_cut_launch){.instance = steps->step[first + l].instance,
                                     .array = steps->step[first + l].array};
    return launch;
}

/** What is known of arrays beside the launches. */
static bool find_states(const polytile_queue *queue, const pti_steps *steps, int behind,
                        pti_fused *fused) {
    size_t n_arrays = (size_t)fused->chain.arrays->n_operands;
    fused->dropped = calloc(n_arrays + 1, sizeof *fused->dropped);
    fused->unwritten = calloc(n_arrays + 1, sizeof *fused->unwritten);
    for (size_t a = 0; fused->dropped != NULL && a < n_arrays; a++)
        fused->dropped[a] = queue->residency != NULL && is_dropped(steps, behind, (int)a);
    return fused->dropped != NULL && fused->unwritten != NULL;
}

/** What nobody wrote is known only when all launches before have run. */
static void refresh_unwritten(const polytile_queue *queue, pti_fused *fused) {
    for (int a = 0; a < fused->chain.arrays->n_operands; a++)
        pti_boxes_copy(&fused->unwritten[a], pti_residency_unwritten(queue->residency, a));
}

/** Whether launchers run some of the launches: they may have memory of their own, which they use
 * one call after the other. */
static bool has_launchers(const pti_steps *steps, int first, int n_launches) {
    bool has = false;
    for (int k = first; k < first + n_launches; k++)
        has |= steps->prepared[k]->implementation.cuda_launcher != NULL;
    return has;
}

static pti_skew_request request_of(const polytile_queue *queue, const pti_steps *steps, int first,
                                   const pti_fused *fused) {
    const polytile_plan_options *options = &steps->prepared[first]->options;
    bool in_place = queue->residency == NULL;
    return (pti_skew_request){.chain = &fused->chain,
                              .unwritten = in_place ? NULL : fused->unwritten,
                              .dropped = fused->dropped,
                              .arena_bytes = in_place ? pti_host_cache_bytes() : queue->arena_bytes,
                              .link = fused->is_resident ? link_of(steps, first)
                                                         : polytile_device_get_link(queue->device),
                              .most_per_pass = most_per_pass(steps, first, fused->chain.n_launches),
                              .in_turn = has_launchers(steps, first, fused->chain.n_launches),
                              .fewest_bytes = options->strategy != NULL &&
                                              strcmp(options->strategy, "min-traffic") == 0};
}

/** Choose how the chain is cut; without a good way none of it is fused. */
static void choose(const polytile_queue *queue, const pti_steps *steps, int first, pti_fused *fused,
                   pti_text *why) {
    pti_skew_request request = request_of(queue, steps, first, fused);
    pti_text reason = {0};
    bool is_chosen;
    if (queue->residency == NULL)
        is_chosen = pti_skew_choose_in_place(&request, &fused->shape, &reason);
    else if (fused->is_resident)
        is_chosen = pti_skew_choose_resident(&request, &fused->shape, &reason);
    else
        is_chosen = pti_skew_choose(&request, &fused->shape, &reason) &&
                    pti_skew_pays(&request, &fused->shape, &reason);
    fused->n_launches = is_chosen ? fused->chain.n_launches : 0;
    if (reason.data != NULL)
        pti_text_add(why, "%s%s", why->data == NULL ? "" : "; ", reason.data);
    pti_text_free(&reason);
}

static polytile_status find(const polytile_queue *queue, const pti_steps *steps, int first,
                            int n_launches, pti_fused *fused, pti_text *why) {
    const pti_instance *arrays;
    polytile_status status = POLYTILE_NO_MEMORY;
    fused->launch = list_launches(steps, first, n_launches);
    if (fused->launch == NULL || !find_arrays(queue, fused, &arrays))
        return status;
    PTI_TRY(pti_chain_find(arrays, n_launches, fused->launch, &fused->chain, why));
    fused->n_single = (int)pti_max(1, fused->chain.n_launches);
    if (fused->chain.n_launches < 2)
        return POLYTILE_OK;
    if (!find_states(queue, steps, first + fused->chain.n_launches, fused))
        return POLYTILE_NO_MEMORY;
    if (queue->residency != NULL)
        refresh_unwritten(queue, fused);
    choose(queue, steps, first, fused, why);
done:
    return status;
}

polytile_status pti_fuse_find(const polytile_queue *queue, const pti_steps *steps, int first,
                              pti_fused *fused) {
    int n_launches = count_launches(steps, first);
    polytile_status status = POLYTILE_OK;
    pti_text why = {0};
    *fused = (pti_fused){.n_single = (int)pti_max(1, n_launches),
                         .is_resident =
                             queue->residency != NULL && pti_residency_all_fit(queue->residency)};
    if (n_launches < 2 || most_per_pass(steps, first, n_launches) == 1 ||
        (fused->is_resident && !may_stay_near(steps, first, n_launches)))
        return POLYTILE_OK;
    PTI_TRY(find(queue, steps, first, n_launches, fused, &why));
    tell(queue, steps, first, &why);
done:
    pti_text_free(&why);
    return status == POLYTILE_OK
               ? status
               : pti_fail_memory(queue->object.context, steps->step[first].instance->kernel_name,
                                 (double)n_launches * (double)sizeof *fused->launch);
}

pti_schedule *pti_fuse_build(const polytile_queue *queue, pti_fused *fused) {
    if (queue->residency == NULL)
        return pti_skew_build_in_place(&fused->chain, &fused->shape);
    refresh_unwritten(queue, fused);
    pti_skew_request request = {.chain = &fused->chain,
                                .unwritten = fused->unwritten,
                                .dropped = fused->dropped,
                                .arena_bytes = queue->arena_bytes};
    return pti_skew_build(&request, &fused->shape);
}

pti_schedule *pti_fuse_build_resident(const pti_fused *fused, const pti_schedule *apart) {
    return pti_skew_suits_resident(apart)
               ? pti_skew_build_resident(apart, &fused->chain, &fused->shape)
               : NULL;
}

void pti_fused_free(pti_fused *fused) {
    for (int a = 0; fused->unwritten != NULL && a < fused->chain.arrays->n_operands; a++)
        pti_boxes_free(&fused->unwritten[a]);
    free(fused->unwritten);
    free(fused->dropped);
    free(fused->launch);
    if (fused->arrays != NULL)
        free(fused->arrays->operand);
    free(fused->arrays);
    pti_chain_free(&fused->chain);
    *fused = (pti_fused){0};
}
