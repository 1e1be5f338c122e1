#include "distribute/members/state.h"

#include "access/kernel.h"
#include "access/set/boxes.h"
#include "distribute/members/prepared_superstep.h"
#include "message/server.h"
#include "queue/cache.h"

#include <stdlib.h>

/* What a group has recorded, prepared and copied, when that is given up. */

void pti_group_drop_recorded(pti_group *group) {
    group->begun = (pti_group_begun){0};
    __atomic_store_n(&group->progress.n_launches, 0, __ATOMIC_RELAXED);
    while (group->n_recorded > 0) {
        pti_recorded *last = &group->recorded[--group->n_recorded];
        last->prepared->n_items--;
        pti_server_give_up(last->server, &group->failure);
        pti_server_release(last->server);
        pti_kernel_release(last->kernel);
    }
}

void pti_group_free_prepared(pti_group *group, pti_prepared_superstep *prepared) {
    if (prepared == NULL)
        return;
    pti_transport_forget(group->transport, &prepared->messages);
    pti_joint_list_free(&prepared->list);
    pti_joint_list_free(&prepared->pull_list);
    pti_superstep_parts_free(&prepared->parts);
    pti_copies_free(&prepared->copies);
    free(prepared->serial);
    free(prepared);
}

void pti_group_set_room(pti_group *group, bool has_room) {
    for (int m = 0; m < group->transport->n_local && group->has_room != has_room; m++)
        pti_queue_set_keeps(group->member[m], has_room);
    group->has_room = has_room;
}

void pti_group_forget_prepared(pti_group *group) {
    while (group->prepared_supersteps != NULL) {
        pti_prepared_superstep *prepared = group->prepared_supersteps;
        group->prepared_supersteps = prepared->next;
        pti_group_free_prepared(group, prepared);
    }
    group->n_prepared_supersteps = 0;
    group->depths = (pti_known_depths){0};
    pti_group_set_room(group, false);
}

void pti_group_forget_messages(pti_group *group) {
    for (pti_prepared_superstep *prepared = group->prepared_supersteps; prepared != NULL;
         prepared = prepared->next)
        pti_transport_forget(group->transport, &prepared->messages);
}

polytile_status pti_group_open_messages(pti_group *group) {
    polytile_status status = POLYTILE_OK;
    if (group->transport->functions->open == NULL)
        return POLYTILE_OK;
    for (pti_prepared_superstep *prepared = group->prepared_supersteps; prepared != NULL;
         prepared = prepared->next)
        if (prepared->messages.state == NULL)
            PTI_TRY(group->transport->functions->open(group->transport, &prepared->messages));
done:
    return status;
}

static void forget_copies(pti_group *group) {
    for (int k = 0; k < group->copies.n_arrays * group->copies.n_members; k++) {
        pti_boxes_clear(&group->copies.extra[k]);
        group->copies.extra[k].failed = false;
    }
    pti_group_touch_copies(group);
}

void pti_group_forget_all(pti_group *group) {
    pti_group_drop_recorded(group);
    pti_group_forget_prepared(group);
    pti_queue_forget_prepared(group->queue, -1);
    forget_copies(group);
}

void pti_group_forget_made(pti_group *group, int position) {
    pti_group_array *array = &group->array[position];
    const int n_processes = pti_transport_count_processes(group->transport);
    for (int q = 0; array->made != NULL && q < n_processes; q++)
        pti_boxes_free(&array->made[q]);
    free(array->made);
    array->made = NULL;
    array->is_apart = false;
}

void pti_group_touch_copies(pti_group *group) {
    group->copies_id = ++group->n_copies_ids;
}

void pti_group_note_changed(pti_group *group, const polytile_array *array) {
    for (int m = 0; m < group->transport->n_members; m++)
        pti_boxes_clear(&group->copies.extra[array->position * group->transport->n_members + m]);
    pti_group_touch_copies(group);
}

void pti_group_note_failure(pti_group *group, polytile_status status) {
    pti_error_keep(&group->failure, group->ctx, status);
}
