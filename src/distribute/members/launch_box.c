#include "distribute/members/launch_box.h"

#include "queue/calls/calls.h"

/* What all launches of a group come down to: a box of threads for a member's queue. */

/** Name the device that refused a launch in the error's text, if there are several. */
static polytile_status name_device(const pti_group *group, int local, polytile_status status) {
    if (status == POLYTILE_OK || group->transport->n_local == 1)
        return status;
    return pti_error_prefix(group->ctx, status, "on %s: ", pti_queue_text(group->member[local]));
}

polytile_status pti_group_launch_box(pti_group *group, const pti_recorded *recorded, int local,
                                     const polytile_domain *box) {
    polytile_array *arrays[PTI_MAX_OPERANDS];
    pti_group_list_arrays(group, recorded, local, arrays);
    return pti_group_launch_over(group, recorded, local, box, arrays);
}

void pti_group_list_arrays(const pti_group *group, const pti_recorded *recorded, int local,
                           polytile_array **arrays) {
    const pti_prepared *prepared = recorded->prepared;
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = group->member_arrays[prepared->position[a] * group->transport->n_local + local];
}

polytile_status pti_group_launch_over(pti_group *group, const pti_recorded *recorded, int local,
                                      const polytile_domain *box, polytile_array *const *arrays) {
    const pti_box_launch launch = {recorded->kernel, recorded->prepared, recorded->values, NULL};
    return name_device(group, local,
                       pti_queue_launch_box(group->member[local], &launch, box, arrays));
}
