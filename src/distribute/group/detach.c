#include "queue/detach.h"
#include "distribute/group/run.h"
#include "queue/member.h"

/* How arrays leave the queues of local members, all at once, and are discarded there. */

/** Return whether an array is the group's. One that was refused never was. */
static bool is_array_known(const pti_group *group, const polytile_array *array) {
    return array->position < group->n_arrays && group->array[array->position].array == array;
}

polytile_status pti_group_begin_leaving(pti_group *group, const polytile_array *array) {
    if (!is_array_known(group, array))
        return POLYTILE_OK;
    pti_group_array *group_array = &group->array[array->position];
    for (int m = 0; m < group->transport->n_local && !group_array->is_leaving; m++) {
        if (group_array->member[m] != NULL)
            pti_queue_begin_leaving(group->member[m], group_array->member[m]);
    }
    group_array->is_leaving = true;
    return POLYTILE_OK;
}

polytile_status pti_group_finish_leaving(pti_group *group, const polytile_array *array) {
    pti_error first = {0};
    if (!is_array_known(group, array))
        return POLYTILE_OK;
    pti_group_array *group_array = &group->array[array->position];
    pti_group_begin_leaving(group, array);
    for (int m = 0; m < group->transport->n_local; m++) {
        if (group_array->member[m] == NULL)
            continue;
        pti_queue_finish_leaving(group->member[m], 1, &group_array->member[m]);
        pti_error_keep(&first, group->ctx, pti_queue_take_error(group->member[m]));
        polytile_array_destroy(group_array->member[m]);
        group_array->member[m] = NULL;
        group->member_arrays[array->position * group->transport->n_local + m] = NULL;
    }
    return pti_error_restore(group->ctx, &first);
}

/** Discard an array in local members' queues, once. */
static polytile_status discard_on_members(pti_group *group, const polytile_array *array) {
    polytile_status status = POLYTILE_OK;
    pti_group_array *group_array = &group->array[array->position];
    for (int m = 0; m < group->transport->n_local && !group_array->is_discarded; m++) {
        if (group_array->member[m] != NULL)
            PTI_TRY(pti_queue_discard(group->member[m], group_array->member[m]));
    }
    group_array->is_discarded = true;
done:
    return status;
}

polytile_status pti_group_discard(polytile_queue *queue, int n_arrays,
                                  polytile_array *const *arrays) {
    pti_group *group = queue->group;
    pti_error first = {0};
    pti_group_run_to_end(group, &(pti_group_last){n_arrays, arrays, discard_on_members});
    for (int a = 0; a < n_arrays; a++) {
        pti_error_keep(&first, group->ctx, discard_on_members(group, arrays[a]));
        group->array[arrays[a]->position].is_discarded = false;
        pti_group_forget_made(group, arrays[a]->position);
        pti_array_set_state(arrays[a], PTI_ARRAY_DISCARDED);
    }
    return pti_error_restore(group->ctx, &first);
}
