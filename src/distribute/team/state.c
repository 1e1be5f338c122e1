#include "distribute/team/state.h"

#include "access/set/boxes.h"
#include "queue/cache.h"

#include <stdlib.h>

/* What a team has recorded, prepared and copied, when that is given up. */

void pti_team_drop_recorded(pti_team *team) {
    __atomic_store_n(&team->progress.n_launches, 0, __ATOMIC_RELAXED);
    while (team->n_recorded > 0) {
        pti_recorded *last = &team->recorded[--team->n_recorded];
        last->prepared->n_items--;
        pti_kernel_release(last->kernel);
    }
}

void pti_team_free_prepared(pti_team *team, pti_prepared_superstep *prepared) {
    if (prepared == NULL)
        return;
    pti_transport_forget(team->transport, &prepared->messages);
    pti_joint_list_free(&prepared->list);
    pti_superstep_parts_free(&prepared->parts);
    pti_copies_free(&prepared->copies);
    free(prepared->serial);
    free(prepared);
}

void pti_team_forget_prepared(pti_team *team) {
    while (team->prepared_supersteps != NULL) {
        pti_prepared_superstep *prepared = team->prepared_supersteps;
        team->prepared_supersteps = prepared->next;
        pti_team_free_prepared(team, prepared);
    }
    team->n_prepared_supersteps = 0;
    team->depths = (pti_known_depths){0};
}

void pti_team_forget_messages(pti_team *team) {
    for (pti_prepared_superstep *prepared = team->prepared_supersteps; prepared != NULL;
         prepared = prepared->next)
        pti_transport_forget(team->transport, &prepared->messages);
}

static void forget_copies(pti_team *team) {
    for (int k = 0; k < team->copies.n_arrays * team->copies.n_members; k++) {
        pti_boxes_clear(&team->copies.extra[k]);
        team->copies.extra[k].failed = false;
    }
    pti_team_touch_copies(team);
}

void pti_team_forget_all(pti_team *team) {
    pti_team_drop_recorded(team);
    pti_team_forget_prepared(team);
    pti_queue_forget_prepared(team->queue, -1);
    forget_copies(team);
}

void pti_team_touch_copies(pti_team *team) {
    team->copies_id = ++team->n_copies_ids;
}

void pti_team_note_changed(pti_team *team, const polytile_array *array) {
    for (int m = 0; m < team->transport->n_members; m++)
        pti_boxes_clear(&team->copies.extra[array->position * team->transport->n_members + m]);
    pti_team_touch_copies(team);
}

void pti_team_note_failure(pti_team *team, polytile_status status) {
    pti_error_keep(&team->failure, team->ctx, status);
}
