#include "access/set/boxes.h"
#include "distribute/deal/launch.h"
#include "distribute/members/wait.h"

/* What a launch touches, in the memory that members share: whether it is there, and bringing it. */

/** Return what a launch touches of an operand, and what lies between. */
static polytile_domain box_of_touched(const pti_prepared *prepared, int operand) {
    return pti_box_without_steps(&prepared->touched[operand]);
}

/** Find what a member lacks of all that a launch touches of an operand: elements that it neither
 * owns nor has a copy of. If no member lacks anything, the host's memory has the newest version of
 * all of it. */
static void find_lacking(const pti_group *group, const pti_prepared *prepared, int operand,
                         int member, pti_boxes *lacks) {
    int position = prepared->position[operand];
    polytile_domain touched = box_of_touched(prepared, operand);
    pti_boxes owned = {0};
    pti_boxes_clear(lacks);
    if (prepared->instance->operand[operand].is_scratch)
        return;
    pti_boxes_assign(lacks, &touched);
    pti_ownership_boxes(&group->ownership[position], member, &owned);
    pti_boxes_subtract_all(lacks, &owned);
    pti_boxes_subtract_all(lacks, pti_copies_get(&group->copies, position, member));
    pti_boxes_free(&owned);
}

static polytile_status fail_boxes(const pti_group *group, const pti_prepared *prepared) {
    return pti_fail_memory(group->ctx, prepared->instance->kernel_name, sizeof(polytile_domain));
}

polytile_status pti_group_find_on_host(const pti_group *group, const pti_prepared *prepared,
                                       bool *is_on_host) {
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    *is_on_host = true;
    for (int a = 0; a < prepared->n_arrays && *is_on_host; a++) {
        for (int m = 0; m < group->transport->n_members && *is_on_host; m++) {
            find_lacking(group, prepared, a, m, &lacks);
            *is_on_host = lacks.n_boxes == 0;
            if (lacks.failed)
                PTI_TRY(fail_boxes(group, prepared));
        }
    }
done:
    pti_boxes_free(&lacks);
    return status;
}

/** Notify a local member's queue of those elements that the member's array contains. */
static polytile_status notify_inside(const pti_group *group, int position, int local,
                                     const pti_boxes *elements, pti_group_notify *notify) {
    polytile_array *array = group->array[position].member[local];
    pti_boxes inside = {0};
    polytile_status status = POLYTILE_OK;
    if (array == NULL)
        return POLYTILE_OK;
    pti_boxes_copy(&inside, elements);
    pti_boxes_clip(&inside, &array->domain);
    if (inside.failed)
        PTI_TRY(pti_fail_memory(group->ctx, array->name, sizeof *inside.box));
    if (inside.n_boxes > 0)
        PTI_TRY(notify(group->member[local], array, &inside));
done:
    pti_boxes_free(&inside);
    return status;
}

/** Let a member forget older versions, and note that it has the newest on the host. */
static polytile_status catch_up(pti_group *group, const pti_prepared *prepared, int operand,
                                int local) {
    int position = prepared->position[operand];
    pti_boxes *copies = pti_copies_get(&group->copies, position, local);
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    find_lacking(group, prepared, operand, local, &lacks);
    if (!lacks.failed)
        pti_boxes_unite(copies, &lacks, pti_boxes_add);
    if (lacks.failed || copies->failed)
        PTI_TRY(fail_boxes(group, prepared));
    if (lacks.n_boxes > 0)
        PTI_TRY(notify_inside(group, position, local, &lacks, pti_queue_invalidate));
done:
    pti_boxes_free(&lacks);
    return status;
}

/** Bring to the host what a member owns of all that a launch touches. */
static polytile_status bring_owned(const pti_group *group, const pti_prepared *prepared,
                                   int operand, int local) {
    int position = prepared->position[operand];
    polytile_domain touched = box_of_touched(prepared, operand);
    pti_boxes owned = {0};
    polytile_status status = POLYTILE_OK;
    if (prepared->instance->operand[operand].is_scratch)
        return POLYTILE_OK;
    pti_ownership_boxes(&group->ownership[position], local, &owned);
    pti_boxes_clip(&owned, &touched);
    if (owned.failed)
        PTI_TRY(fail_boxes(group, prepared));
    PTI_TRY(notify_inside(group, position, local, &owned, pti_queue_fetch));
done:
    pti_boxes_free(&owned);
    return status;
}

polytile_status pti_group_fetch_touched(pti_group *group, const pti_prepared *prepared) {
    bool is_on_host;
    polytile_status status = pti_group_find_on_host(group, prepared, &is_on_host);
    if (status != POLYTILE_OK || is_on_host)
        return status;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < group->transport->n_local; m++)
            PTI_TRY(bring_owned(group, prepared, a, m));
    }
    PTI_TRY(pti_group_wait_members(group, POLYTILE_OK));
    pti_group_touch_copies(group);
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < group->transport->n_local; m++)
            PTI_TRY(catch_up(group, prepared, a, m));
    }
done:
    return status;
}

/** Bring to the host what a local member's device has newer of all that a launch touches of an
 * operand. */
static polytile_status bring_held(const pti_group *group, const pti_prepared *prepared, int operand,
                                  int local) {
    const polytile_domain touched = box_of_touched(prepared, operand);
    pti_boxes all = {0};
    polytile_status status = POLYTILE_OK;
    if (prepared->instance->operand[operand].is_scratch || pti_box_is_empty(&touched) ||
        group->member[local]->device->reaches_host)
        return POLYTILE_OK;
    pti_boxes_append(&all, &touched);
    if (all.failed)
        PTI_TRY(fail_boxes(group, prepared));
    PTI_TRY(notify_inside(group, prepared->position[operand], local, &all, pti_queue_fetch));
done:
    pti_boxes_free(&all);
    return status;
}

polytile_status pti_group_bring_touched(const pti_group *group, const pti_prepared *prepared) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < group->transport->n_local; m++)
            PTI_TRY(bring_held(group, prepared, a, m));
    }
done:
    return pti_group_wait_members(group, status);
}
