#include "access/kernel.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/prepared_superstep.h"
#include "distribute/members/state.h"
#include "launch/device/fill.h"
#include "partition/choose/kept_cuts.h"
#include "queue/aliased.h"

/* Find whether a launch fits the devices that are to run it, checked as soon as it is made: one
 * block of each member's threads, as the member's own queue will find it. Where shares are not
 * known yet, or differ between processes, which would not all refuse it, the wait reports it. */

polytile_status pti_group_check_box(const pti_group *group, const pti_prepared *prepared, int local,
                                    const polytile_domain *box) {
    polytile_queue *member = group->member[local];
    pti_instance instance = *prepared->instance;
    polytile_plan_options options = prepared->options;
    pti_partition partition = {0};
    pti_ways ways = pti_ways_of((pti_call){&instance, prepared->position},
                                pti_takes_pieces(&prepared->implementation));
    int way;
    int64_t arena_bytes = pti_queue_get_usable_bytes(member);
    if (member->device->reaches_host ||
        pti_aliased_bytes(pti_prepared_call(prepared), box) <= arena_bytes)
        return POLYTILE_OK;
    instance.threads = *box;
    options.fill_threads =
        pti_device_planned_fill_threads(member->device, &prepared->implementation, &options);
    pti_grain_request grain = {.ways = &ways, .options = &options, .arena_bytes = arena_bytes};
    polytile_status status = POLYTILE_OK;
    if (!pti_kept_cuts_find(group->kept_cuts, &grain, &partition)) {
        status = pti_aliased_cut(group->ctx, &grain, &partition, &way);
        if (status == POLYTILE_OK && way == 0)
            pti_kept_cuts_add(group->kept_cuts, &grain, &partition);
    }
    pti_ways_free(&ways);
    pti_partition_free(&partition);
    if (status == POLYTILE_NO_FIT)
        pti_error_prefix(group->ctx, status, "on %s: ", pti_queue_text(member));
    return status;
}

/** Assumes that threads run once: where devices may run them twice, all fits anyway. */
static pti_shared_launch launch_that_runs_once(const pti_group *group,
                                               const pti_prepared *prepared) {
    return pti_group_shared_launch(group, prepared, true);
}

static polytile_status check_member(const pti_group *group, const pti_prepared *prepared,
                                    const pti_home *home, int local) {
    const pti_shared_launch launch = launch_that_runs_once(group, prepared);
    pti_boxes threads = {0};
    polytile_status status = POLYTILE_OK;
    pti_home_threads(home, &launch, group->ownership, local, &threads);
    for (int b = 0; status == POLYTILE_OK && b < threads.n_boxes; b++)
        status = pti_group_check_box(group, prepared, local, &threads.box[b]);
    pti_boxes_free(&threads);
    return status;
}

polytile_status pti_group_check_fit(const pti_group *group, const pti_prepared *prepared) {
    const pti_transport *transport = group->transport;
    const pti_shared_launch launch = launch_that_runs_once(group, prepared);
    polytile_status status = POLYTILE_OK;
    bool is_known =
        pti_transport_is_alone(transport) && (group->speed == NULL || group->is_balanced);
    if (!is_known)
        return POLYTILE_OK;
    pti_home home = pti_home_of(&launch, group->ownership);
    if (home.failed)
        PTI_TRY(pti_fail_memory(group->ctx, prepared->instance->kernel_name, sizeof(pti_boxes)));
    for (int m = 0; m < transport->n_local; m++)
        PTI_TRY(check_member(group, prepared, &home, m));
done:
    return status;
}
