#include "base/text.h"
#include "distribute/team/state.h"
#include "launch/device/completeness.h"

/* Running what is recorded. A process that fails goes on through the exchanges of all supersteps,
 * without computing, until all agree on the error. */

/* Launching. */

static polytile_status launch_boxes(pti_team *team, const pti_recorded *recorded, int local,
                                    const pti_boxes *boxes) {
    polytile_status status = POLYTILE_OK;
    for (int b = 0; b < boxes->n_boxes; b++)
        PTI_TRY(pti_team_launch_box(team, recorded, local, &boxes->box[b]));
done:
    return status;
}

static bool has_inner(const pti_prepared_superstep *prepared, int local) {
    return prepared->inner[local].n_dims > 0 && !pti_box_is_empty(&prepared->inner[local]);
}

/** Launch the threads that need nothing that is on its way. */
static polytile_status launch_inner(pti_team *team, const pti_prepared_superstep *prepared,
                                    const pti_recorded *recorded) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++) {
        if (has_inner(prepared, m))
            PTI_TRY(pti_team_launch_box(team, recorded, m, &prepared->inner[m]));
    }
done:
    return status;
}

static polytile_status launch_rest_of_threads(pti_team *team,
                                              const pti_prepared_superstep *prepared, int launch,
                                              int local, const pti_recorded *recorded) {
    pti_boxes rest = {0};
    polytile_status status;
    pti_boxes_copy(&rest, &prepared->parts.work[local].threads[launch]);
    if (has_inner(prepared, local))
        pti_boxes_subtract(&rest, &prepared->inner[local]);
    status = rest.failed ? pti_fail_memory(team->ctx, recorded->prepared->instance->kernel_name,
                                           sizeof *rest.box)
                         : launch_boxes(team, recorded, local, &rest);
    pti_boxes_free(&rest);
    return status;
}

/** All launches of a superstep but what ran already and what is combined. */
static polytile_status launch_superstep(pti_team *team, const pti_prepared_superstep *prepared,
                                        const pti_recorded *recorded) {
    polytile_status status = POLYTILE_OK;
    for (int l = 0; l < prepared->n_launches; l++) {
        for (int m = 0; m < team->transport->n_local; m++) {
            if (!prepared->parts.work[m].home[l].splits)
                PTI_TRY(launch_rest_of_threads(team, prepared, l, m, &recorded[l]));
        }
    }
done:
    return status;
}

/** Forget what a local member computed of others' elements in shared memory: it stays off the
 * host. */
static polytile_status forget_halo(pti_team *team, const pti_prepared_superstep *prepared,
                                   int local, int position) {
    pti_boxes halo = {0}, owned = {0};
    polytile_status status = POLYTILE_OK;
    pti_ownership_boxes(&team->ownership[position], team->transport->first + local, &owned);
    pti_boxes_copy(&halo, &prepared->parts.work[local].writes[position]);
    pti_boxes_subtract_all(&halo, &owned);
    if (halo.failed || owned.failed)
        PTI_TRY(pti_fail_memory(team->ctx, team->array[position].array->name, sizeof *halo.box));
    if (halo.n_boxes > 0)
        PTI_TRY(pti_queue_invalidate(team->member[local],
                                     team->reached[position * team->transport->n_local + local],
                                     &halo));
done:
    pti_boxes_free(&halo);
    pti_boxes_free(&owned);
    return status;
}

static polytile_status forget_halos(pti_team *team, const pti_prepared_superstep *prepared) {
    polytile_status status = POLYTILE_OK;
    if (!team->transport->shares_memory)
        return POLYTILE_OK;
    for (int p = 0; p < team->n_arrays; p++) {
        bool is_shared = team->array[p].array != NULL && team->array[p].memory == PTI_TEAM_PROGRAMS;
        for (int m = 0; is_shared && m < team->transport->n_local; m++)
            PTI_TRY(forget_halo(team, prepared, m, p));
    }
done:
    return status;
}

/* Supersteps, one after the other. */

static bool last_launch_splits(const pti_prepared_superstep *prepared) {
    return prepared->parts.work[0].home[prepared->n_launches - 1].splits;
}

/** Of several failures of this process the first stays. */
static void note_failure(pti_team *team, polytile_status status) {
    pti_error_keep(&team->failure, team->ctx, status);
}

static bool has_failure(const pti_team *team) {
    return team->failure.status != POLYTILE_OK;
}

/** What is launched together is planned together. Where all fits and nobody shares the memory,
 * launches run one by one anyway and need not wait for that. */
static void pause_members(const pti_team *team, bool is_paused) {
    for (int m = 0; m < team->transport->n_local; m++) {
        bool runs_at_once = !team->transport->shares_memory &&
                            !team->member[m]->device->reaches_host && pti_team_fits(team, m);
        if (is_paused && !runs_at_once)
            polytile_queue_pause(team->member[m]);
        else
            polytile_queue_resume(team->member[m]);
    }
}

/** Whether what members computed of others' elements is read, or moved, behind what is launched
 * together. */
static bool needs_halos_later(const pti_prepared_superstep *prepared) {
    return last_launch_splits(prepared) || prepared->parts.after.n_transfers > 0;
}

static polytile_status launch_together(pti_team *team, const pti_prepared_superstep *prepared,
                                       const pti_recorded *recorded, const pti_team_last *last) {
    polytile_status status;
    pause_members(team, true);
    PTI_TRY(launch_superstep(team, prepared, recorded));
    PTI_TRY(pti_team_share_spans(team, prepared));
    if (!needs_halos_later(prepared))
        PTI_TRY(forget_halos(team, prepared));
    for (int a = 0; a < last->n_arrays; a++)
        PTI_TRY(last->notify(team, last->arrays[a]));
done:
    pause_members(team, false);
    return status;
}

/** Exchange, compute, exchange. Every process comes through every exchange; an error stays. */
static void run_superstep(pti_team *team, pti_prepared_superstep *prepared,
                          const pti_recorded *recorded, const pti_team_last *last) {
    if (!has_failure(team))
        note_failure(team, pti_team_wait_lent(team, prepared));
    if (!has_failure(team))
        note_failure(team, pti_team_give_up_passed(team, prepared));
    note_failure(team, pti_team_begin_exchange(team, &prepared->in, has_failure(team)));
    if (!has_failure(team))
        note_failure(team, launch_inner(team, prepared, recorded));
    note_failure(team, pti_team_end_exchange(team, &prepared->in, has_failure(team)));
    if (!has_failure(team))
        note_failure(team, launch_together(team, prepared, recorded, last));
    if (!has_failure(team) && needs_halos_later(prepared))
        note_failure(team, pti_team_wait_meeting(team));
    if (last_launch_splits(prepared))
        note_failure(team, pti_team_combine(team, prepared, &recorded[prepared->n_launches - 1]));
    note_failure(team, pti_team_begin_exchange(team, &prepared->out, has_failure(team)));
    note_failure(team, pti_team_end_exchange(team, &prepared->out, has_failure(team)));
    if (!has_failure(team) && needs_halos_later(prepared))
        note_failure(team, forget_halos(team, prepared));
}

/** A process that fails here finds the supersteps that others find, too. */
static polytile_status adopt_copies(pti_team *team, const pti_prepared_superstep *prepared) {
    team->copies_id = prepared->ends;
    return pti_copies_assign(&team->copies, &prepared->copies)
               ? POLYTILE_OK
               : pti_fail_memory(team->ctx, pti_queue_text(team->queue),
                                 team->transport->n_members * (double)sizeof(pti_boxes));
}

static polytile_status open_exchange(pti_team *team, pti_persistent_exchange *persistent) {
    return persistent->state == NULL
               ? team->transport->functions->open_exchange(team->transport, persistent)
               : POLYTILE_OK;
}

/** Open the exchanges of all prepared supersteps that are not open: those of a new one, and, if
 * arrays lie elsewhere for it, of those before it. */
static polytile_status open_exchanges(pti_team *team) {
    polytile_status status = POLYTILE_OK;
    if (team->transport->functions->open_exchange == NULL)
        return POLYTILE_OK;
    for (pti_prepared_superstep *prepared = team->prepared_supersteps; prepared != NULL;
         prepared = prepared->next) {
        PTI_TRY(open_exchange(team, &prepared->in));
        PTI_TRY(open_exchange(team, &prepared->out));
    }
done:
    return status;
}

/** Whether members over one memory have room for what they compute twice, now that it is known what
 * they reach. */
static bool has_room(const pti_team *team, const pti_prepared_superstep *prepared) {
    bool has = true;
    for (int m = 0; m < team->transport->n_local; m++)
        has &= pti_team_fits(team, m);
    return has || !team->transport->shares_memory || prepared->runs_once;
}

static void find_superstep_and_reach(pti_team *team, int at, pti_prepared_superstep **prepared,
                                     bool *is_new) {
    *prepared = pti_team_find_prepared(team, at, is_new);
    if (*prepared == NULL)
        note_failure(team,
                     pti_fail_memory(team->ctx, team->recorded[at].prepared->instance->kernel_name,
                                     team->transport->n_members * (double)sizeof(pti_boxes)));
    else if (!has_failure(team))
        note_failure(team, pti_team_reach_prepared(team, *prepared, &team->recorded[at]));
}

/** Prepare a superstep, or find it prepared. Of a new one all agree that they can take part in it.
 * Returns what they agree on. */
static polytile_status prepare_superstep(pti_team *team, int at,
                                         pti_prepared_superstep **prepared) {
    const pti_transport_functions *functions = team->transport->functions;
    bool is_new;
    if (!has_failure(team))
        note_failure(team, pti_team_wait_meeting(team));
    find_superstep_and_reach(team, at, prepared, &is_new);
    if (!has_failure(team) && !has_room(team, *prepared)) {
        team->is_shallow = true;
        find_superstep_and_reach(team, at, prepared, &is_new);
    }
    if (is_new && !has_failure(team))
        note_failure(team, pti_team_prove_superstep(team, at, *prepared));
    if (is_new && !has_failure(team))
        note_failure(team, open_exchanges(team));
    return is_new ? functions->agree(team->transport, pti_error_restore(team->ctx, &team->failure))
                  : POLYTILE_OK;
}

/**
 * The arrays that leave with the launches of a superstep: none unless it is the last, and done with
 * them.
 *
 * Nor if the superstep meets: other members may still fetch from the memory to which they go.
 */
static const pti_team_last *leaving_with(const pti_team *team,
                                         const pti_prepared_superstep *prepared, int at,
                                         const pti_team_last *all) {
    static const pti_team_last none = {0};
    bool is_last = at + prepared->n_launches == team->n_recorded;
    bool is_done =
        is_last && !last_launch_splits(prepared) && prepared->parts.after.n_transfers == 0;
    return is_done && !prepared->meets ? all : &none;
}

/** Run the next recorded launches, as a superstep or row by row; *at moves on behind them.
 * Returns the failure of some to take part, which all know, and which ends the run. */
static polytile_status run_next(pti_team *team, const pti_team_last *all, int *at) {
    pti_prepared_superstep *prepared;
    bool is_done = false;
    pti_team_note_progress(team, *at, 1);
    if (!has_failure(team))
        note_failure(team, pti_team_refuse_cancelled(team));
    if (!has_failure(team))
        note_failure(team, pti_team_deal_launch(team, *at, &is_done));
    if (is_done) {
        (*at)++;
        return POLYTILE_OK;
    }
    polytile_status stopped = prepare_superstep(team, *at, &prepared);
    if (stopped != POLYTILE_OK)
        return stopped;
    pti_team_note_progress(team, *at, prepared->n_launches);
    run_superstep(team, prepared, &team->recorded[*at], leaving_with(team, prepared, *at, all));
    note_failure(team, adopt_copies(team, prepared));
    *at += prepared->n_launches;
    return POLYTILE_OK;
}

/** All that is recorded. */
static void run_supersteps(pti_team *team, const pti_team_last *all) {
    polytile_status stopped = POLYTILE_OK;
    for (int at = 0; at < team->n_recorded && stopped == POLYTILE_OK;)
        stopped = run_next(team, all, &at);
    if (stopped != POLYTILE_OK)
        note_failure(team, PTI_PEER_FAILED);
}

/** Returns this process's first failure, whose text is the last error. */
static polytile_status run_recorded(pti_team *team, const pti_team_last *all,
                                    polytile_status status) {
    team->failure = (pti_error){0};
    note_failure(team, status);
    run_supersteps(team, all);
    return pti_team_wait_members(team, pti_error_restore(team->ctx, &team->failure));
}

/* The end. */

static void note_operand(pti_team *team, const pti_prepared *prepared, int operand,
                         polytile_status status) {
    pti_team_array *of = &team->array[prepared->position[operand]];
    of->is_written = true;
    if (status != POLYTILE_OK)
        pti_team_note_changed(team, of->array);
    if (status != POLYTILE_OK || pti_completeness_is_overwritten(prepared->instance, operand))
        pti_array_set_complete(of->array, status == POLYTILE_OK);
}

static void note_written(pti_team *team, polytile_status status) {
    for (int k = 0; k < team->n_recorded; k++) {
        const pti_prepared *prepared = team->recorded[k].prepared;
        for (int a = 0; a < prepared->n_arrays; a++) {
            if (prepared->instance->operand[a].writes)
                note_operand(team, prepared, a, status);
        }
    }
}

/** Name the queue's arrays that failures left incomplete, in place of those that one member
 * named. */
static void name_incomplete(const pti_team *team, polytile_status status) {
    pti_text names = {0};
    if (status == POLYTILE_OK)
        return;
    for (int p = 0; p < team->n_arrays; p++) {
        const polytile_array *array = team->array[p].array;
        if (array != NULL && pti_array_get_state(array) == PTI_ARRAY_HARMED)
            pti_text_add(&names, "%s%s", names.length == 0 ? "" : ", ", array->name);
    }
    pti_error_set_incomplete(team->ctx, status, &names);
}

void pti_team_run(pti_team *team) {
    pti_team_run_to_end(team, &(pti_team_last){0});
}

/** That ranks differ is known to all of them; who could not compare still goes through what the
 * others do. */
void pti_team_run_to_end(pti_team *team, const pti_team_last *last) {
    if (team->is_given_up)
        return;
    polytile_status status = pti_team_compare(team);
    if (status == POLYTILE_OK)
        status = pti_team_balance_load(team);
    if (status != POLYTILE_INVALID) {
        status = run_recorded(team, last, status);
        status = team->transport->functions->agree(team->transport, status);
        note_written(team, status);
        name_incomplete(team, status);
    }
    if (status == POLYTILE_OK)
        team->n_launches += team->n_recorded;
    pti_queue_keep_error(team->queue, status);
    if (status == POLYTILE_OK)
        pti_team_drop_recorded(team);
    else
        pti_team_forget_all(team);
}

polytile_status pti_team_wait(pti_team *team) {
    pti_team_run(team);
    return pti_queue_take_error(team->queue);
}
