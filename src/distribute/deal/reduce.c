#include "access/set/boxes.h"
#include "distribute/deal/launch.h"
#include "distribute/members/launch_box.h"
#include "launch/device/reduction.h"
#include "launch/host/copy/box_copy.h"
#include "queue/calls/calls.h"

#include <stdlib.h>

/* Pieces whose partial results are combined in their order. */

static pti_move move_between(const pti_operand *operand, const polytile_domain *box, void *to,
                             const pti_memory_layout *to_layout, void *from,
                             const pti_memory_layout *from_layout) {
    return (pti_move){.box = box,
                      .element_bytes = operand->element_bytes,
                      .to = {to, to_layout},
                      .from = {from, from_layout}};
}

/** Fill a box of memory with the identity of an operand's reduction. */
static void fill_box_with_identity(const pti_operand *operand, const polytile_domain *box,
                                   void *elements, const pti_memory_layout *layout) {
    unsigned char identity[PTI_MAX_SCALAR_BYTES];
    pti_memory_layout everywhere = *layout;
    for (int d = 0; d < box->n_dims; d++)
        everywhere.stride_bytes[d] = 0;
    pti_reduction_identity(operand->reduction, operand->type, identity);
    pti_move move = move_between(operand, box, elements, layout, identity, &everywhere);
    pti_box_copy(&move, 1);
}

/** Make the partial results of a piece, which begin with the identity, and give them to the
 * member. */
static polytile_status make_partial(pti_group *group, const pti_operand *operand,
                                    const pti_row_sum *sum, int local, polytile_array **partial) {
    polytile_array *made = NULL;
    void *memory = malloc((size_t)sum->layout.size_bytes);
    polytile_status status;
    if (memory == NULL)
        return pti_fail_memory(group->ctx, operand->name, (double)sum->layout.size_bytes);
    fill_box_with_identity(operand, &sum->box, memory, &sum->layout);
    PTI_TRY(polytile_array_wrap_domain(group->ctx, operand->name, operand->type, &sum->box, memory,
                                       &made));
    *partial = made;
    memory = NULL;
    PTI_TRY(pti_queue_attach_shared(group->member[local], made));
done:
    free(memory);
    return status;
}

static polytile_status fetch_partial(const pti_group *group, const pti_row_sum *sum, int local,
                                     polytile_array *partial) {
    pti_boxes box = {0};
    polytile_status status = POLYTILE_OK;
    if (group->member[local]->device->reaches_host)
        return POLYTILE_OK;
    pti_boxes_append(&box, &sum->box);
    status = box.failed ? pti_fail_memory(group->ctx, partial->name, sizeof *box.box)
                        : pti_queue_fetch(group->member[local], partial, &box);
    pti_boxes_free(&box);
    return status;
}

polytile_status pti_dealt_sums_allocate(const pti_group *group, pti_dealt_sums *sums) {
    const size_t n_partials = (size_t)sums->pieces.n_pieces * (size_t)sums->pieces.n_sums;
    if (sums->partial == NULL)
        sums->partial = calloc(n_partials, sizeof(polytile_array *));
    return sums->partial != NULL ? POLYTILE_OK
                                 : pti_fail_memory(group->ctx, "partial results",
                                                   (double)(n_partials * sizeof(polytile_array *)));
}

polytile_status pti_dealt_sums_launch(pti_group *group, const pti_recorded *recorded,
                                      pti_dealt_sums *sums, int64_t piece, int local) {
    const pti_prepared *prepared = recorded->prepared;
    const polytile_domain threads =
        pti_row_pieces_threads(&sums->pieces, prepared->instance, piece, 1);
    polytile_array *arrays[PTI_MAX_OPERANDS];
    polytile_status status;
    PTI_TRY(pti_dealt_sums_allocate(group, sums));
    polytile_array **partial = &sums->partial[piece * sums->pieces.n_sums];
    pti_group_list_arrays(group, recorded, local, arrays);
    for (int s = 0; s < sums->pieces.n_sums; s++) {
        const int operand = sums->pieces.sum[s].operand;
        PTI_TRY(make_partial(group, &prepared->instance->operand[operand], &sums->pieces.sum[s],
                             local, &partial[s]));
        arrays[operand] = partial[s];
    }
    PTI_TRY(pti_group_launch_over(group, recorded, local, &threads, arrays));
    for (int s = 0; s < sums->pieces.n_sums; s++)
        PTI_TRY(fetch_partial(group, &sums->pieces.sum[s], local, partial[s]));
done:
    return status;
}

/** Combine a box of an operand's array with all pieces, in their order. */
static void combine_box(const pti_operand *operand, const polytile_array *array,
                        const pti_dealt_sums *sums, int s, const polytile_domain *box) {
    if (operand->fresh)
        fill_box_with_identity(operand, box, array->data, &array->layout);
    for (int64_t p = 0; p < sums->pieces.n_pieces; p++) {
        const polytile_array *partial = sums->partial[p * sums->pieces.n_sums + s];
        const pti_move move = move_between(operand, box, array->data, &array->layout, partial->data,
                                           &sums->pieces.sum[s].layout);
        pti_reduction_combine(operand->reduction, operand->type, &move);
    }
}

static polytile_status invalidate_everywhere(const pti_group *group, int position,
                                             const pti_boxes *boxes) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local && status == POLYTILE_OK; m++)
        status = pti_queue_invalidate(group->member[m], group->array[position].member[m], boxes);
    return status;
}

polytile_status pti_dealt_sums_combine(pti_group *group, const pti_recorded *recorded,
                                       const pti_dealt_sums *sums) {
    const pti_instance *instance = recorded->prepared->instance;
    pti_boxes written = {0};
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < sums->pieces.n_sums; s++) {
        const int operand = sums->pieces.sum[s].operand;
        const int position = recorded->prepared->position[operand];
        pti_footprint_boxes(instance, operand, PTI_WRITES, &instance->threads, PTI_MAX_WRITE_BOXES,
                            &written);
        if (written.failed)
            PTI_TRY(
                pti_fail_memory(group->ctx, instance->operand[operand].name, sizeof *written.box));
        for (int b = 0; b < written.n_boxes; b++)
            combine_box(&instance->operand[operand], group->array[position].array, sums, s,
                        &written.box[b]);
        PTI_TRY(invalidate_everywhere(group, position, &written));
    }
done:
    pti_boxes_free(&written);
    return status;
}

static polytile_status detach_partial(polytile_array *partial) {
    return partial->queue == NULL ? POLYTILE_OK
                                  : polytile_queue_detach(partial->queue, 1, &partial);
}

polytile_status pti_dealt_sums_end(pti_group *group, pti_dealt_sums *sums, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, group->ctx, status);
    for (int64_t p = 0; sums->partial != NULL && p < sums->pieces.n_pieces * sums->pieces.n_sums;
         p++) {
        polytile_array *partial = sums->partial[p];
        if (partial == NULL)
            continue;
        void *memory = partial->data;
        pti_error_keep(&first, group->ctx, detach_partial(partial));
        polytile_array_destroy(partial);
        free(memory);
    }
    free(sums->partial);
    sums->partial = NULL;
    return pti_error_restore(group->ctx, &first);
}
