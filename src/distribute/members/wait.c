#include "distribute/members/wait.h"

/* Members over one memory: who waits for whom. */

bool pti_group_writes(const pti_group *group, const pti_prepared_superstep *prepared,
                      int position) {
    bool is = false;
    for (int m = 0; m < group->transport->n_local && !is; m++)
        is = prepared->parts.work[m].writes[position].n_boxes > 0;
    return is;
}

polytile_status pti_group_wait_members(const pti_group *group, polytile_status status) {
    pti_error first = {0};
    pti_error_keep(&first, group->ctx, status);
    for (int m = 0; m < group->transport->n_local; m++)
        pti_error_keep(&first, group->ctx, polytile_queue_wait(group->member[m]));
    return pti_error_restore(group->ctx, &first);
}

polytile_status pti_group_wait_all(pti_group *group) {
    for (int p = 0; p < group->n_arrays; p++)
        group->is_lent[p] = false;
    return pti_group_wait_members(group, POLYTILE_OK);
}
