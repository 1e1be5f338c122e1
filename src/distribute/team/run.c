#include "base/text.h"
#include "distribute/team/state.h"
#include "launch/device/completeness.h"

/* Running what is recorded. A process that fails goes on through the exchanges of all groups,
 * without computing, until all agree on the error. */

/* Launching. */

/** Of several devices the one that refused a launch, in its error's text. */
static polytile_status name_device(const pti_team *team, int local, polytile_status status) {
    if (status == POLYTILE_OK || team->transport->n_local == 1)
        return status;
    return pti_error_prefix(team->ctx, status, "on %s: ", pti_queue_text(team->member[local]));
}

polytile_status pti_team_launch_box(pti_team *team, const pti_recorded *recorded, int local,
                                    const polytile_domain *box) {
    polytile_array *arrays[PTI_MAX_OPERANDS];
    const pti_prepared *prepared = recorded->prepared;
    for (int a = 0; a < prepared->n_arrays; a++)
        arrays[a] = team->reached[prepared->position[a] * team->transport->n_local + local];
    return name_device(team, local,
                       polytile_queue_launch(team->member[local], recorded->kernel, box,
                                             prepared->n_arrays, arrays, &prepared->options));
}

static polytile_status launch_boxes(pti_team *team, const pti_recorded *recorded, int local,
                                    const pti_boxes *boxes) {
    polytile_status status = POLYTILE_OK;
    for (int b = 0; b < boxes->n_boxes; b++)
        PTI_TRY(pti_team_launch_box(team, recorded, local, &boxes->box[b]));
done:
    return status;
}

static bool has_inner(const pti_stage *stage, int local) {
    return stage->inner[local].n_dims > 0 && !pti_box_is_empty(&stage->inner[local]);
}

/** What needs nothing that is on its way. */
static polytile_status launch_inner(pti_team *team, const pti_stage *stage,
                                    const pti_recorded *recorded) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local; m++) {
        if (has_inner(stage, m))
            PTI_TRY(pti_team_launch_box(team, recorded, m, &stage->inner[m]));
    }
done:
    return status;
}

static polytile_status launch_rest(pti_team *team, const pti_stage *stage, int launch, int local,
                                   const pti_recorded *recorded) {
    pti_boxes rest = {0};
    polytile_status status;
    pti_boxes_copy(&rest, &stage->work[local].threads[launch]);
    if (has_inner(stage, local))
        pti_boxes_subtract(&rest, &stage->inner[local]);
    status = rest.failed ? pti_fail_memory(team->ctx, recorded->prepared->instance->kernel_name,
                                           sizeof *rest.box)
                         : launch_boxes(team, recorded, local, &rest);
    pti_boxes_free(&rest);
    return status;
}

/** All launches of a stage but what ran already and what is combined. */
static polytile_status launch_stage(pti_team *team, const pti_stage *stage,
                                    const pti_recorded *recorded) {
    polytile_status status = POLYTILE_OK;
    for (int l = 0; l < stage->n_launches; l++) {
        for (int m = 0; m < team->transport->n_local; m++) {
            if (!stage->work[m].share[l].splits)
                PTI_TRY(launch_rest(team, stage, l, m, &recorded[l]));
        }
    }
done:
    return status;
}

/** What a local member computed of memory that others share stays on its device. */
static polytile_status forget_halo(pti_team *team, const pti_stage *stage, int local,
                                   int position) {
    pti_boxes halo = {0}, owned = {0};
    polytile_status status = POLYTILE_OK;
    pti_ownership_boxes(&team->ownership[position], team->transport->first + local, &owned);
    pti_boxes_copy(&halo, &stage->work[local].writes[position]);
    pti_boxes_subtract_all(&halo, &owned);
    if (halo.failed || owned.failed)
        PTI_TRY(pti_fail_memory(team->ctx, team->array[position].array->name, sizeof *halo.box));
    if (halo.n_boxes > 0)
        PTI_TRY(pti_queue_renew(team->member[local],
                                team->reached[position * team->transport->n_local + local], &halo));
done:
    pti_boxes_free(&halo);
    pti_boxes_free(&owned);
    return status;
}

static polytile_status forget_halos(pti_team *team, const pti_stage *stage) {
    polytile_status status = POLYTILE_OK;
    if (!team->transport->shares_memory)
        return POLYTILE_OK;
    for (int p = 0; p < team->n_arrays; p++) {
        bool is_shared = team->array[p].array != NULL && team->array[p].memory == PTI_TEAM_PROGRAMS;
        for (int m = 0; is_shared && m < team->transport->n_local; m++)
            PTI_TRY(forget_halo(team, stage, m, p));
    }
done:
    return status;
}

/* Stages, one after the other. */

static bool splits(const pti_stage *stage) {
    return stage->work[0].share[stage->n_launches - 1].splits;
}

/** Of several failures of this process the first stays. */
static void note(pti_team *team, polytile_status status) {
    pti_error_keep(&team->failure, team->ctx, status);
}

static bool has_failure(const pti_team *team) {
    return team->failure.status != POLYTILE_OK;
}

/** What is launched together is planned together. Where all fits and nobody shares the memory,
 * launches run one by one anyway and need not wait for that. */
static void set_paused(const pti_team *team, bool is_paused) {
    for (int m = 0; m < team->transport->n_local; m++) {
        bool runs_at_once = !team->transport->shares_memory &&
                            !team->member[m]->device->reaches_host && pti_team_fits(team, m);
        if (is_paused && !runs_at_once)
            polytile_queue_pause(team->member[m]);
        else
            polytile_queue_resume(team->member[m]);
    }
}

/** What members computed of others' elements is read, or moved, behind what is launched
 * together. */
static bool needs_halos_later(const pti_stage *stage) {
    return splits(stage) || stage->after.n_transfers > 0;
}

static polytile_status launch_together(pti_team *team, const pti_stage *stage,
                                       const pti_recorded *recorded, const pti_team_last *last) {
    polytile_status status;
    set_paused(team, true);
    PTI_TRY(launch_stage(team, stage, recorded));
    PTI_TRY(pti_team_share_spans(team, stage));
    if (!needs_halos_later(stage))
        PTI_TRY(forget_halos(team, stage));
    for (int a = 0; a < last->n_arrays; a++)
        PTI_TRY(last->tell(team, last->arrays[a]));
done:
    set_paused(team, false);
    return status;
}

/** Exchange, compute, exchange. Every process comes through every exchange; an error stays. */
static void run_stage(pti_team *team, pti_stage *stage, const pti_recorded *recorded,
                      const pti_team_last *last) {
    if (!has_failure(team))
        note(team, pti_team_settle_lent(team, stage));
    if (!has_failure(team))
        note(team, pti_team_give_up_passed(team, stage));
    note(team, pti_team_begin_exchange(team, &stage->in, has_failure(team)));
    if (!has_failure(team))
        note(team, launch_inner(team, stage, recorded));
    note(team, pti_team_end_exchange(team, &stage->in, has_failure(team)));
    if (!has_failure(team))
        note(team, launch_together(team, stage, recorded, last));
    if (!has_failure(team) && needs_halos_later(stage))
        note(team, pti_team_settle_meeting(team));
    if (splits(stage))
        note(team, pti_team_combine(team, stage, &recorded[stage->n_launches - 1]));
    note(team, pti_team_begin_exchange(team, &stage->out, has_failure(team)));
    note(team, pti_team_end_exchange(team, &stage->out, has_failure(team)));
    if (!has_failure(team) && needs_halos_later(stage))
        note(team, forget_halos(team, stage));
}

static void take_copies(pti_team *team, const pti_stage *stage) {
    bool has_failed = false;
    for (int k = 0; k < stage->copies.n_arrays * stage->copies.n_members; k++) {
        pti_boxes_copy(&team->copies.extra[k], &stage->copies.extra[k]);
        has_failed |= team->copies.extra[k].failed;
    }
    team->copies_id = stage->ends;
    if (has_failed)
        pti_team_touch_copies(team);
}

static polytile_status open_routes(pti_team *team, pti_stage *stage) {
    const pti_transport_functions *functions = team->transport->functions;
    polytile_status status = POLYTILE_OK;
    if (functions->open_route == NULL)
        return POLYTILE_OK;
    PTI_TRY(functions->open_route(team->transport, &stage->in));
    PTI_TRY(functions->open_route(team->transport, &stage->out));
done:
    return status;
}

/** Whether members over one memory have room for what they compute twice, now that it is known what
 * they reach. */
static bool has_room(const pti_team *team, const pti_stage *stage) {
    bool has = true;
    for (int m = 0; m < team->transport->n_local; m++)
        has &= pti_team_fits(team, m);
    return has || !team->transport->shares_memory || stage->runs_once;
}

static void find_stage(pti_team *team, int at, pti_stage **stage, bool *is_new) {
    *stage = pti_team_find_stage(team, at, is_new);
    if (*stage == NULL)
        note(team, pti_fail_memory(team->ctx, team->recorded[at].prepared->instance->kernel_name,
                                   team->transport->n_members * (double)sizeof(pti_boxes)));
    else if (!has_failure(team))
        note(team, pti_team_reach_stage(team, *stage, &team->recorded[at]));
}

/** Make a stage ready, or find it as it was made ready before. Of a new one all agree that they can
 * take part in it. Returns what they agree on. */
static polytile_status prepare_stage(pti_team *team, int at, pti_stage **stage) {
    const pti_transport_functions *functions = team->transport->functions;
    bool is_new;
    if (!has_failure(team))
        note(team, pti_team_settle_meeting(team));
    find_stage(team, at, stage, &is_new);
    if (!has_failure(team) && !has_room(team, *stage)) {
        team->is_shallow = true;
        find_stage(team, at, stage, &is_new);
    }
    if (is_new && !has_failure(team))
        note(team, open_routes(team, *stage));
    return is_new ? functions->agree(team->transport, pti_error_restore(team->ctx, &team->failure))
                  : POLYTILE_OK;
}

/**
 * The arrays that leave with the launches of a stage: none unless it is the last, and done with
 * them.
 *
 * Nor where what leaves goes to memory out of which other members may still fetch what they need.
 */
static const pti_team_last *leaving_with(const pti_team *team, const pti_stage *stage, int at,
                                         const pti_team_last *all) {
    static const pti_team_last none = {0};
    bool is_last = at + stage->n_launches == team->n_recorded;
    bool is_done = is_last && !splits(stage) && stage->after.n_transfers == 0;
    return is_done && !stage->meets ? all : &none;
}

/** The next launches of what is recorded, as a stage or from a pool; *at moves on behind them.
 * Returns what some cannot take part in, which is known to all, and ends it. */
static polytile_status run_next(pti_team *team, const pti_team_last *all, int *at) {
    pti_stage *stage;
    bool is_done = false;
    if (!has_failure(team))
        note(team, pti_team_run_pooled(team, *at, &is_done));
    if (is_done) {
        (*at)++;
        return POLYTILE_OK;
    }
    polytile_status stopped = prepare_stage(team, *at, &stage);
    if (stopped != POLYTILE_OK)
        return stopped;
    run_stage(team, stage, &team->recorded[*at], leaving_with(team, stage, *at, all));
    take_copies(team, stage);
    *at += stage->n_launches;
    return POLYTILE_OK;
}

/** All that is recorded. */
static void run_stages(pti_team *team, const pti_team_last *all) {
    polytile_status stopped = POLYTILE_OK;
    for (int at = 0; at < team->n_recorded && stopped == POLYTILE_OK;)
        stopped = run_next(team, all, &at);
    if (stopped != POLYTILE_OK)
        note(team, PTI_PEER_FAILED);
}

/** Returns this process's first failure, whose text is the last error. */
static polytile_status run_recorded(pti_team *team, const pti_team_last *all,
                                    polytile_status status) {
    team->failure = (pti_error){0};
    note(team, status);
    run_stages(team, all);
    return pti_team_settle_members(team, pti_error_restore(team->ctx, &team->failure));
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

/** The queue's arrays that failures left incomplete, in place of those that one member named. */
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
    polytile_status status = pti_team_compare(team);
    if (status == POLYTILE_OK)
        status = pti_team_weigh(team);
    if (status != POLYTILE_INVALID) {
        status = run_recorded(team, last, status);
        status = team->transport->functions->agree(team->transport, status);
        note_written(team, status);
        name_incomplete(team, status);
    }
    if (status == POLYTILE_OK)
        team->n_launches += team->n_recorded;
    pti_queue_keep_error(team->queue, status);
    pti_team_drop_recorded(team);
}
