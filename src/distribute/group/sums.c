#include "distribute/group/sums.h"
#include "access/set/boxes.h"
#include "distribute/members/member_array.h"
#include "distribute/members/member_box.h"
#include "launch/device/reduction.h"
#include "launch/host/copy/box_copy.h"
#include "queue/calls/calls.h"

#include <stdlib.h>
#include <string.h>

void pti_group_sums_end(const pti_group *group, pti_group_sums *sums) {
    for (int s = 0; s < sums->n_sums; s++) {
        pti_group_sum *one = &sums->sum[s];
        for (int m = 0; m < group->transport->n_local; m++) {
            polytile_array_destroy(one->array == NULL ? NULL : one->array[m]);
            free(one->partial == NULL ? NULL : one->partial[m]);
            free(one->set_aside == NULL ? NULL : one->set_aside[m]);
        }
        free(one->set_aside);
        free(one->array);
        free(one->partial);
        free(one->result);
    }
    sums->n_sums = 0;
}

static const pti_operand *operand_of(const pti_recorded *recorded, const pti_group_sum *one) {
    return &recorded->prepared->instance->operand[one->operand];
}

static void fill_sum_with_identity(const pti_recorded *recorded, const pti_group_sum *one,
                                   void *elements) {
    const pti_operand *operand = operand_of(recorded, one);
    unsigned char identity[PTI_MAX_SCALAR_BYTES];
    pti_memory_layout everywhere = one->layout;
    for (int d = 0; d < one->box.n_dims; d++)
        everywhere.stride_bytes[d] = 0;
    pti_reduction_identity(operand->reduction, operand->type, identity);
    pti_move move = {.box = &one->box,
                     .element_bytes = operand->element_bytes,
                     .to = {elements, &one->layout},
                     .from = {identity, &everywhere}};
    pti_box_copy(&move, 1);
}

static void copy_result(const pti_group *group, const pti_group_sum *one, int local) {
    const polytile_array *to = group->array[one->position].member[local];
    pti_move move = {.box = &one->box,
                     .element_bytes = to->element_bytes,
                     .to = {to->data, &to->layout},
                     .from = {one->result, &one->layout}};
    pti_box_copy(&move, 1);
}

static polytile_status wrap_partial(const pti_group *group, const pti_recorded *recorded,
                                    pti_group_sum *one, int local) {
    const pti_operand *operand = operand_of(recorded, one);
    polytile_status status = POLYTILE_OK;
    one->partial[local] = malloc((size_t)one->layout.size_bytes);
    if (one->partial[local] == NULL)
        PTI_TRY(pti_fail_memory(group->ctx, operand->name, (double)one->layout.size_bytes));
    fill_sum_with_identity(recorded, one, one->partial[local]);
    PTI_TRY(polytile_array_wrap_domain(group->ctx, operand->name, operand->type, &one->box,
                                       one->partial[local], &one->array[local]));
done:
    return status;
}

/** Add an operand that is combined, with memory for members' partial results. */
static polytile_status add_sum(const pti_group *group, const pti_recorded *recorded, int operand,
                               pti_group_sums *sums) {
    const pti_prepared *prepared = recorded->prepared;
    size_t n_local = (size_t)group->transport->n_local;
    polytile_status status = POLYTILE_OK;
    pti_group_sum *one = &sums->sum[sums->n_sums++];
    *one = (pti_group_sum){.operand = operand,
                           .position = prepared->position[operand],
                           .box = pti_box_without_steps(&prepared->written[operand])};
    one->layout =
        pti_memory_layout_of(&one->box, prepared->instance->operand[operand].element_bytes);
    one->partial = calloc(n_local, sizeof *one->partial);
    one->set_aside = calloc(n_local, sizeof *one->set_aside);
    one->array = calloc(n_local, sizeof *one->array);
    one->result = malloc((size_t)one->layout.size_bytes);
    if (one->partial == NULL || one->set_aside == NULL || one->array == NULL || one->result == NULL)
        PTI_TRY(pti_fail_memory(group->ctx, prepared->instance->operand[operand].name,
                                (double)one->layout.size_bytes));
    for (int m = 0; m < group->transport->n_local; m++)
        PTI_TRY(wrap_partial(group, recorded, one, m));
done:
    return status;
}

static polytile_status make_sums(const pti_group *group, const pti_prepared_superstep *superstep,
                                 const pti_recorded *recorded, pti_group_sums *sums) {
    const pti_prepared *prepared = recorded->prepared;
    const pti_home *home = &superstep->parts.work[0].home[superstep->n_launches - 1];
    pti_shared_launch launch = {.call = pti_prepared_call(prepared)};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->instance->n_operands; a++) {
        if (pti_home_combines(home, &launch, group->ownership, a) &&
            !pti_box_is_empty(&prepared->written[a]))
            PTI_TRY(add_sum(group, recorded, a, sums));
    }
done:
    return status;
}

static polytile_status add_former_value(pti_group *group, const pti_group_sum *one, int local) {
    polytile_status status;
    PTI_TRY(pti_group_find_memory(group, one->position, local));
    pti_member_copy(group->array[one->position].member[local], one->array[local], &one->box);
done:
    return status;
}

/** Put the arrays' former values, unless they are overwritten, into the first member's partial
 * results. */
static polytile_status add_former_values(pti_group *group, const pti_recorded *recorded,
                                         pti_group_sums *sums) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->n_sums && group->transport->first == 0; s++)
        if (!operand_of(recorded, &sums->sum[s])->fresh)
            PTI_TRY(add_former_value(group, &sums->sum[s], 0));
done:
    return status;
}

static void list_member_arrays(const pti_group *group, const pti_prepared *prepared,
                               const pti_group_sums *sums, int local, polytile_array **arrays) {
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = group->member_arrays[prepared->position[a] * group->transport->n_local + local];
    for (int s = 0; s < sums->n_sums; s++)
        arrays[sums->sum[s].operand] = sums->sum[s].array[local];
}

static void combine_into(const pti_operand *operand, const pti_group_sum *one, void *to,
                         const void *from) {
    pti_move move = {.box = &one->box,
                     .element_bytes = operand->element_bytes,
                     .to = {to, &one->layout},
                     .from = {(void *)from, &one->layout}};
    pti_reduction_combine(operand->reduction, operand->type, &move);
}

/** Set a sum aside before the next box: each launch sets to the identity only what it touches, so
 * the whole partial result begins with the identity again. */
static polytile_status set_sum_aside(pti_group *group, const pti_recorded *recorded,
                                     const pti_group_sum *one, int local) {
    const pti_operand *operand = operand_of(recorded, one);
    polytile_queue *queue = group->member[local];
    polytile_status status;
    PTI_TRY(polytile_queue_detach(queue, 1, &one->array[local]));
    if (one->set_aside[local] != NULL) {
        combine_into(operand, one, one->set_aside[local], one->partial[local]);
    } else {
        one->set_aside[local] = malloc((size_t)one->layout.size_bytes);
        if (one->set_aside[local] == NULL)
            PTI_TRY(pti_fail_memory(group->ctx, operand->name, (double)one->layout.size_bytes));
        memcpy(one->set_aside[local], one->partial[local], (size_t)one->layout.size_bytes);
    }
    fill_sum_with_identity(recorded, one, one->partial[local]);
    PTI_TRY(polytile_queue_attach(queue, 1, &one->array[local]));
done:
    return status;
}

static polytile_status set_aside(pti_group *group, const pti_recorded *recorded,
                                 const pti_group_sums *sums, int local) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->n_sums; s++) {
        if (operand_of(recorded, &sums->sum[s])->fresh)
            PTI_TRY(set_sum_aside(group, recorded, &sums->sum[s], local));
    }
done:
    return status;
}

static void add_set_aside(const pti_recorded *recorded, const pti_group_sum *one, int local) {
    if (one->set_aside[local] != NULL)
        combine_into(operand_of(recorded, one), one, one->partial[local], one->set_aside[local]);
    free(one->set_aside[local]);
    one->set_aside[local] = NULL;
}

polytile_status pti_group_sums_begin(pti_group *group, const pti_prepared_superstep *prepared,
                                     const pti_recorded *recorded, pti_group_sums *sums) {
    polytile_status status = POLYTILE_OK;
    if (sums->are_made)
        return POLYTILE_OK;
    PTI_TRY(make_sums(group, prepared, recorded, sums));
    PTI_TRY(add_former_values(group, recorded, sums));
    sums->are_made = true;
done:
    return status;
}

polytile_status pti_group_sums_launch(pti_group *group, const pti_prepared_superstep *prepared,
                                      const pti_recorded *recorded, pti_group_sums *sums, int local,
                                      const pti_boxes *threads) {
    polytile_queue *queue = group->member[local];
    polytile_array *arrays[PTI_MAX_OPERANDS];
    polytile_status status;
    PTI_TRY(pti_group_sums_begin(group, prepared, recorded, sums));
    list_member_arrays(group, recorded->prepared, sums, local, arrays);
    pti_group_set_room(group, false);
    for (int s = 0; s < sums->n_sums; s++)
        PTI_TRY(polytile_queue_attach(queue, 1, &sums->sum[s].array[local]));
    for (int b = 0; b < threads->n_boxes; b++) {
        if (b > 0)
            PTI_TRY(set_aside(group, recorded, sums, local));
        const pti_box_launch launch = {recorded->kernel, recorded->prepared, recorded->values,
                                       NULL};
        PTI_TRY(pti_queue_launch_box(queue, &launch, &threads->box[b], arrays));
    }
done:
    return status;
}

static polytile_status wait_for_sum(pti_group *group, const pti_recorded *recorded,
                                    const pti_group_sum *one, int local) {
    polytile_status status = POLYTILE_OK;
    if (one->array[local]->queue == NULL)
        return POLYTILE_OK;
    PTI_TRY(polytile_queue_detach(group->member[local], 1, &one->array[local]));
    add_set_aside(recorded, one, local);
done:
    return status;
}

polytile_status pti_group_sums_wait(pti_group *group, const pti_recorded *recorded,
                                    pti_group_sums *sums, int position, int local) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->n_sums; s++)
        if (sums->sum[s].position == position)
            PTI_TRY(wait_for_sum(group, recorded, &sums->sum[s], local));
done:
    return status;
}

static polytile_status combine_sum(pti_group *group, const pti_recorded *recorded,
                                   const pti_group_sum *one, bool has_failed) {
    const pti_operand *operand = operand_of(recorded, one);
    const pti_combination combination = {.role = operand->reduction,
                                         .type = operand->type,
                                         .n_elements =
                                             one->layout.size_bytes / operand->element_bytes,
                                         .partial = one->partial,
                                         .result = one->result};
    polytile_status status;
    PTI_TRY(group->transport->functions->combine(group->transport, &combination, has_failed));
    for (int m = 0; m < group->transport->n_local; m++) {
        PTI_TRY(pti_group_find_memory(group, one->position, m));
        copy_result(group, one, m);
    }
done:
    return status;
}

polytile_status pti_group_sums_combine(pti_group *group, const pti_recorded *recorded,
                                       const pti_group_sums *sums, int position, bool has_failed) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->n_sums && status == POLYTILE_OK; s++)
        if (sums->sum[s].position == position)
            status = combine_sum(group, recorded, &sums->sum[s], has_failed);
    return status;
}
