#include "distribute/team/state.h"

/* What all launches of a team come down to: a box of threads for a member's queue. */

/** Name the device that refused a launch in the error's text, if there are several. */
static polytile_status name_device(const pti_team *team, int local, polytile_status status) {
    if (status == POLYTILE_OK || team->transport->n_local == 1)
        return status;
    return pti_error_prefix(team->ctx, status, "on %s: ", pti_queue_text(team->member[local]));
}

polytile_status pti_team_launch_box(pti_team *team, const pti_recorded *recorded, int local,
                                    const polytile_domain *box) {
    polytile_array *arrays[PTI_MAX_OPERANDS];
    pti_team_list_arrays(team, recorded, local, arrays);
    return pti_team_launch_over(team, recorded, local, box, arrays);
}

void pti_team_list_arrays(const pti_team *team, const pti_recorded *recorded, int local,
                          polytile_array **arrays) {
    const pti_prepared *prepared = recorded->prepared;
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = team->reached[prepared->position[a] * team->transport->n_local + local];
}

polytile_status pti_team_launch_over(pti_team *team, const pti_recorded *recorded, int local,
                                     const polytile_domain *box, polytile_array *const *arrays) {
    return name_device(team, local,
                       pti_queue_launch_box(team->member[local], recorded->kernel,
                                            recorded->prepared, recorded->values, box, arrays));
}
