#include "access/set/boxes.h"
#include "distribute/team/member_box.h"
#include "distribute/team/state.h"
#include "launch/device/reduction.h"
#include "launch/host/box_copy.h"

#include <stdlib.h>
#include <string.h>

/* A launch whose threads are dealt out to members that reduce into the same elements. Each member
 * reduces into memory of its own that begins with the identity, one of them with what the array
 * held; these are combined in the order of the members, so that a result depends on how many there
 * are and on nothing else. */

/** One operand that is combined. */
typedef struct sum {
    int operand;
    int position;
    polytile_domain box;      /* all that any thread reduces into */
    pti_memory_layout layout; /* of that */
    void **partial;           /* of each local member; owned, as all below */
    void **set_aside;         /* the same, from earlier boxes of its threads; NULL: from none */
    void *result;
    polytile_array **array; /* of each local member, over its partial */
} sum;

typedef struct sums {
    int n_sums;
    sum sum[PTI_MAX_OPERANDS];
} sums;

static void free_sums(const pti_team *team, sums *of) {
    for (int s = 0; s < of->n_sums; s++) {
        sum *one = &of->sum[s];
        for (int m = 0; m < team->transport->n_local; m++) {
            polytile_array_destroy(one->array == NULL ? NULL : one->array[m]);
            free(one->partial == NULL ? NULL : one->partial[m]);
            free(one->set_aside == NULL ? NULL : one->set_aside[m]);
        }
        free(one->set_aside);
        free(one->array);
        free(one->partial);
        free(one->result);
    }
    of->n_sums = 0;
}

static const pti_operand *operand_of(const pti_recorded *recorded, const sum *one) {
    return &recorded->prepared->instance->operand[one->operand];
}

static void fill_identity(const pti_recorded *recorded, const sum *one, void *elements) {
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

static void copy_result(const pti_team *team, const sum *one, int local) {
    const polytile_array *to = team->array[one->position].member[local];
    pti_move move = {.box = &one->box,
                     .element_bytes = to->element_bytes,
                     .to = {to->data, &to->layout},
                     .from = {one->result, &one->layout}};
    pti_box_copy(&move, 1);
}

static polytile_status wrap_partial(const pti_team *team, const pti_recorded *recorded, sum *one,
                                    int local) {
    const pti_operand *operand = operand_of(recorded, one);
    polytile_status status = POLYTILE_OK;
    one->partial[local] = malloc((size_t)one->layout.size_bytes);
    if (one->partial[local] == NULL)
        PTI_TRY(pti_fail_memory(team->ctx, operand->name, (double)one->layout.size_bytes));
    fill_identity(recorded, one, one->partial[local]);
    PTI_TRY(polytile_array_wrap_domain(team->ctx, operand->name, operand->type, &one->box,
                                       one->partial[local], &one->array[local]));
done:
    return status;
}

static polytile_status add_sum(const pti_team *team, const pti_recorded *recorded, int operand,
                               sums *of) {
    const pti_prepared *prepared = recorded->prepared;
    size_t n_local = (size_t)team->transport->n_local;
    polytile_status status = POLYTILE_OK;
    sum *one = &of->sum[of->n_sums++];
    *one = (sum){.operand = operand,
                 .position = prepared->position[operand],
                 .box = pti_box_without_steps(&prepared->written[operand])};
    one->layout =
        pti_memory_layout_of(&one->box, prepared->instance->operand[operand].element_bytes);
    one->partial = calloc(n_local, sizeof *one->partial);
    one->set_aside = calloc(n_local, sizeof *one->set_aside);
    one->array = calloc(n_local, sizeof *one->array);
    one->result = malloc((size_t)one->layout.size_bytes);
    if (one->partial == NULL || one->set_aside == NULL || one->array == NULL || one->result == NULL)
        PTI_TRY(pti_fail_memory(team->ctx, prepared->instance->operand[operand].name,
                                (double)one->layout.size_bytes));
    for (int m = 0; m < team->transport->n_local; m++)
        PTI_TRY(wrap_partial(team, recorded, one, m));
done:
    return status;
}

static polytile_status make_sums(const pti_team *team, const pti_prepared_superstep *superstep,
                                 const pti_recorded *recorded, sums *of) {
    const pti_prepared *prepared = recorded->prepared;
    const pti_home *home = &superstep->parts.work[0].home[superstep->n_launches - 1];
    pti_shared_launch launch = {.call = pti_prepared_call(prepared)};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->instance->n_operands; a++) {
        if (pti_home_combines(home, &launch, team->ownership, a) &&
            !pti_box_is_empty(&prepared->written[a]))
            PTI_TRY(add_sum(team, recorded, a, of));
    }
done:
    return status;
}

/** The elements of a sum in a local member's array, in host memory and in their newest version. */
static polytile_status fetch_sum(pti_team *team, const sum *one, int local) {
    polytile_queue *queue = team->member[local];
    polytile_status status;
    PTI_TRY(pti_team_reach(team, one->position, local, &one->box));
    polytile_array *array = team->array[one->position].member[local];
    PTI_TRY(pti_member_fetch(queue, array, &one->box));
    if (array->data == NULL && pti_queue_get_spill(queue, array) == NULL)
        status = pti_fail_memory(team->ctx, array->name, (double)array->n_bytes);
done:
    return status;
}

/** Put the arrays' former values, unless they are overwritten, into the first member's partial
 * results. */
static polytile_status add_former_values(pti_team *team, const pti_recorded *recorded, sums *of) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < of->n_sums; s++) {
        for (int m = 0; m < team->transport->n_local; m++) {
            PTI_TRY(fetch_sum(team, &of->sum[s], m));
            if (team->transport->first + m == 0 && !operand_of(recorded, &of->sum[s])->fresh)
                pti_member_copy(team->array[of->sum[s].position].member[m], of->sum[s].array[m],
                                &of->sum[s].box);
        }
    }
done:
    return status;
}

static void list_member_arrays(const pti_team *team, const pti_prepared *prepared, const sums *of,
                               int local, polytile_array **arrays) {
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = team->reached[prepared->position[a] * team->transport->n_local + local];
    for (int s = 0; s < of->n_sums; s++)
        arrays[of->sum[s].operand] = of->sum[s].array[local];
}

static void combine_into(const pti_operand *operand, const sum *one, void *to, const void *from) {
    pti_move move = {.box = &one->box,
                     .element_bytes = operand->element_bytes,
                     .to = {to, &one->layout},
                     .from = {(void *)from, &one->layout}};
    pti_reduction_combine(operand->reduction, operand->type, &move);
}

/** Set a sum aside before the next box: each launch sets to the identity only what it touches, so
 * the whole partial result begins with the identity again. */
static polytile_status set_sum_aside(pti_team *team, const pti_recorded *recorded, const sum *one,
                                     int local) {
    const pti_operand *operand = operand_of(recorded, one);
    polytile_queue *queue = team->member[local];
    polytile_status status;
    PTI_TRY(polytile_queue_detach(queue, 1, &one->array[local]));
    if (one->set_aside[local] != NULL) {
        combine_into(operand, one, one->set_aside[local], one->partial[local]);
    } else {
        one->set_aside[local] = malloc((size_t)one->layout.size_bytes);
        if (one->set_aside[local] == NULL)
            PTI_TRY(pti_fail_memory(team->ctx, operand->name, (double)one->layout.size_bytes));
        memcpy(one->set_aside[local], one->partial[local], (size_t)one->layout.size_bytes);
    }
    fill_identity(recorded, one, one->partial[local]);
    PTI_TRY(polytile_queue_attach(queue, 1, &one->array[local]));
done:
    return status;
}

static polytile_status set_aside(pti_team *team, const pti_recorded *recorded, const sums *of,
                                 int local) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < of->n_sums; s++) {
        if (operand_of(recorded, &of->sum[s])->fresh)
            PTI_TRY(set_sum_aside(team, recorded, &of->sum[s], local));
    }
done:
    return status;
}

static void add_set_aside(const pti_team *team, const pti_recorded *recorded, const sums *of) {
    for (int s = 0; s < of->n_sums; s++) {
        const sum *one = &of->sum[s];
        for (int m = 0; m < team->transport->n_local; m++) {
            if (one->set_aside[m] != NULL)
                combine_into(operand_of(recorded, one), one, one->partial[m], one->set_aside[m]);
        }
    }
}

static polytile_status launch_member(pti_team *team, const pti_prepared_superstep *superstep,
                                     const pti_recorded *recorded, const sums *of, int local) {
    const pti_prepared *prepared = recorded->prepared;
    const pti_boxes *threads = &superstep->parts.work[local].threads[superstep->n_launches - 1];
    polytile_queue *queue = team->member[local];
    polytile_array *arrays[PTI_MAX_OPERANDS];
    polytile_status status = POLYTILE_OK;
    if (threads->n_boxes == 0)
        return POLYTILE_OK;
    list_member_arrays(team, prepared, of, local, arrays);
    for (int s = 0; s < of->n_sums; s++)
        PTI_TRY(polytile_queue_attach(queue, 1, &of->sum[s].array[local]));
    for (int b = 0; b < threads->n_boxes; b++) {
        if (b > 0)
            PTI_TRY(set_aside(team, recorded, of, local));
        PTI_TRY(pti_queue_launch_box(queue, recorded->kernel, prepared, recorded->values,
                                     &threads->box[b], arrays));
    }
done:
    return status;
}

/** Partial results are in the members' own memory afterwards. */
static polytile_status detach_sums(pti_team *team, const sums *of) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < of->n_sums; s++) {
        for (int m = 0; m < team->transport->n_local; m++) {
            if (of->sum[s].array[m]->queue != NULL)
                PTI_TRY(polytile_queue_detach(team->member[m], 1, &of->sum[s].array[m]));
        }
    }
done:
    return status;
}

static polytile_status reduce_members(pti_team *team, const pti_prepared_superstep *prepared,
                                      const pti_recorded *recorded, sums *of) {
    polytile_status status;
    PTI_TRY(make_sums(team, prepared, recorded, of));
    PTI_TRY(add_former_values(team, recorded, of));
    for (int m = 0; m < team->transport->n_local; m++)
        PTI_TRY(launch_member(team, prepared, recorded, of, m));
    PTI_TRY(detach_sums(team, of));
    add_set_aside(team, recorded, of);
done:
    return status;
}

static polytile_status invalidate_result(pti_team *team, const sum *one) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++) {
        copy_result(team, one, m);
        PTI_TRY(pti_member_invalidate(team->member[m], team->array[one->position].member[m],
                                      &one->box));
    }
done:
    return status;
}

/** A process that fails goes on through the sums behind, for which others wait. */
static polytile_status combine_sums(pti_team *team, const pti_recorded *recorded, const sums *of) {
    pti_error first = {0};
    for (int s = 0; s < of->n_sums; s++) {
        const pti_operand *operand = operand_of(recorded, &of->sum[s]);
        pti_combination combination = {.role = operand->reduction,
                                       .type = operand->type,
                                       .n_elements =
                                           of->sum[s].layout.size_bytes / operand->element_bytes,
                                       .partial = of->sum[s].partial,
                                       .result = of->sum[s].result};
        polytile_status status = team->transport->functions->combine(team->transport, &combination,
                                                                     first.status != POLYTILE_OK);
        if (status == POLYTILE_OK)
            status = invalidate_result(team, &of->sum[s]);
        pti_error_keep(&first, team->ctx, status);
    }
    return pti_error_restore(team->ctx, &first);
}

/** Arrays that are destroyed while they are attached forget the last error. */
static polytile_status end_sums(const pti_team *team, sums *of, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, team->ctx, status);
    free_sums(team, of);
    return pti_error_restore(team->ctx, &first);
}

polytile_status pti_team_combine(pti_team *team, const pti_prepared_superstep *prepared,
                                 const pti_recorded *recorded) {
    sums of = {0};
    polytile_status status = pti_error_restore(team->ctx, &team->failure);
    if (status == POLYTILE_OK)
        status = reduce_members(team, prepared, recorded, &of);
    status = team->transport->functions->agree(team->transport, status);
    if (status == POLYTILE_OK)
        status = combine_sums(team, recorded, &of);
    return end_sums(team, &of, status);
}
