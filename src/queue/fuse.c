#include "queue/fuse.h"

#include "base/text.h"
#include "launch/host/cache_size.h"

#include <stdlib.h>

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

/** A launch that is alone needs no arrays. False when memory runs out. */
static bool make_request(const polytile_queue *queue, const pti_steps *steps, pti_fused *fused) {
    bool in_place = queue->residency == NULL;
    fused->n_launches = steps->n_launches;
    if (in_place && steps->n_launches > 1)
        fused->arrays = make_arrays(queue);
    fused->request = (pti_portion_request){
        .n_steps = steps->n_steps,
        .step = steps->step,
        .asked = steps->asked,
        .behind = steps->behind,
        .arrays = in_place ? fused->arrays : pti_residency_arrays(queue->residency),
        .residency = queue->residency,
        .memory_bytes = in_place ? pti_host_cache_bytes() : queue->arena_bytes,
        .link = polytile_device_get_link(queue->device)};
    return steps->n_launches < 2 ||
           (fused->request.arrays != NULL && fused->request.arrays->operand != NULL);
}

/** Whether a launch comes behind a step. */
static bool has_launch_behind(const pti_portion_request *request, int step) {
    int k = step + 1;
    while (k < request->n_steps && request->step[k].kind != PTI_STEP_LAUNCH)
        k++;
    return k < request->n_steps;
}

/** Why launches were not even looked at together; where all arrays stay, or none moves, they lack
 * nothing. */
static void tell_apart(const polytile_queue *queue, int first, const pti_fused *fused,
                       pti_text *words) {
    const pti_portion *portion = &fused->portion;
    if (portion->n_launches > 0 || portion->is_resident || queue->residency == NULL)
        return;
    if (portion->n_single > 1)
        pti_text_add(words, "%d launches are not fused: one launch a pass was asked for",
                     portion->n_single);
    else if (fused->n_launches == 1)
        pti_text_add(words, "not fused: no other launch is queued with it");
    else if (has_launch_behind(&fused->request, first))
        pti_text_add(words,
                     "not fused: between it and the next launch arrays leave, or elements of "
                     "them come to the host or from it");
}

static void log_fusion_group(const polytile_queue *queue, int first, const pti_fused *fused) {
    pti_text words = {0};
    pti_portion_tell(&fused->request, first, &fused->portion, &words);
    if (words.data == NULL && fused->request.step[first].kind == PTI_STEP_LAUNCH)
        tell_apart(queue, first, fused, &words);
    if (words.data != NULL)
        pti_log(queue->object.context, PTI_LOG_INFO, "%s: %s",
                fused->request.step[first].instance->kernel_name, words.data);
    pti_text_free(&words);
}

polytile_status pti_fuse_find(const polytile_queue *queue, const pti_steps *steps, int first,
                              pti_fused *fused) {
    polytile_status status = POLYTILE_NO_MEMORY;
    *fused = (pti_fused){0};
    if (make_request(queue, steps, fused))
        status = pti_portion_find(&fused->request, first, &fused->portion);
    if (status == POLYTILE_OK)
        log_fusion_group(queue, first, fused);
    return status == POLYTILE_OK
               ? status
               : pti_fail(queue->object.context, status,
                          "%s: host memory ran out while %d launches were looked at together; free "
                          "some, or wait for the queue more often",
                          steps->name == NULL ? "queue" : steps->name, steps->n_launches);
}

void pti_fused_free(pti_fused *fused) {
    pti_portion_free(&fused->portion);
    if (fused->arrays != NULL)
        free(fused->arrays->operand);
    free(fused->arrays);
    *fused = (pti_fused){0};
}
