#include "base/checked.h"
#include "distribute/team/state.h"
#include "partition/choose/kept_cuts.h"
#include "queue/failure.h"

#include <stdlib.h>
#include <string.h>

static polytile_status wait_for_array(polytile_queue *queue, polytile_array *array) {
    (void)array;
    return pti_team_wait(queue->team);
}

/** Nothing runs before something is waited for, or many launches are recorded. */
static void set_paused(polytile_queue *queue, bool is_paused) {
    (void)queue;
    (void)is_paused;
}

static void add_to_report(polytile_report *sum, const polytile_report *part) {
    sum->n_kernels += part->n_kernels;
    sum->h2d_bytes += part->h2d_bytes;
    sum->d2h_bytes += part->d2h_bytes;
    sum->p2p_bytes += part->p2p_bytes;
    sum->peak_device_bytes = pti_max(sum->peak_device_bytes, part->peak_device_bytes);
    sum->plan_s += part->plan_s;
    sum->run_s = sum->run_s > part->run_s ? sum->run_s : part->run_s;
    sum->compute_s += part->compute_s;
    sum->transfer_s += part->transfer_s;
}

static void get_report(polytile_queue *queue, bool reset, polytile_report *report) {
    pti_team *team = queue->team;
    pti_team_run(team);
    *report = (polytile_report){.n_launches = team->n_launches};
    for (int m = 0; m < team->transport->n_local; m++) {
        polytile_report part;
        polytile_queue_get_report(team->member[m], reset, &part);
        add_to_report(report, &part);
    }
    if (reset)
        team->n_launches = 0;
}

static polytile_device *get_device(const polytile_queue *queue, int member) {
    const pti_team *team = queue->team;
    return member < team->transport->n_local ? team->member[member]->device : NULL;
}

static void free_team(pti_team *team) {
    pti_team_drop_recorded(team);
    pti_team_forget_prepared(team);
    pti_copies_free(&team->copies);
    for (int m = 0; team->member != NULL && m < team->transport->n_local; m++)
        polytile_queue_destroy(team->member[m]);
    pti_team_unlink(team);
    pti_kept_cuts_free(team->kept_cuts);
    team->transport->functions->close(team->transport);
    free(team->member);
    free(team->speed);
    free(team->recorded);
    free(team->array);
    free(team->ownership);
    free(team->is_shared);
    free(team->is_lent);
    free(team->reached);
    pti_bell_destroy(&team->bell);
    free(team);
}

static void close_team(polytile_queue *queue) {
    free_team(queue->team);
}

static const pti_team_functions team_functions = {
    .attach = pti_team_attach,
    .detach = pti_team_detach,
    .discard = pti_team_discard,
    .create_array = pti_team_create_array,
    .launch = pti_team_launch,
    .wait = wait_for_array,
    .set_paused = set_paused,
    .notify = pti_team_notify_program,
    .get_progress = pti_team_get_progress,
    .cancel = pti_team_cancel,
    .get_report = get_report,
    .get_device = get_device,
    .close = close_team,
};

static void destroy_members(pti_transport *transport, polytile_queue *const *members) {
    for (int m = 0; m < transport->n_local; m++)
        polytile_queue_destroy(members[m]);
    transport->functions->close(transport);
}

/** Copy the speeds that the options give; false when memory runs out. */
static bool take_speeds(pti_team *team) {
    size_t n_bytes = (size_t)team->transport->n_local * sizeof *team->speed;
    if (team->options.speed == NULL)
        return true;
    team->speed = malloc(n_bytes);
    if (team->speed == NULL)
        return false;
    memcpy(team->speed, team->options.speed, n_bytes);
    team->options.speed = team->speed;
    return true;
}

/** Without its queue; NULL when memory runs out. */
static pti_team *allocate_team(polytile_context *ctx, pti_transport *transport,
                               const pti_team_options *options) {
    pti_team *team = calloc(1, sizeof *team);
    if (team == NULL)
        return NULL;
    *team = (pti_team){.ctx = ctx,
                       .transport = transport,
                       .options = *options,
                       .member = calloc((size_t)transport->n_local, sizeof *team->member),
                       .recorded = calloc(PTI_TEAM_LAUNCHES, sizeof *team->recorded),
                       .kept_cuts = pti_kept_cuts_create()};
    pti_bell_create(&team->bell);
    bool is_made = team->member != NULL && team->recorded != NULL && team->kept_cuts != NULL &&
                   pti_copies_create(0, transport->n_members, &team->copies) && take_speeds(team);
    if (options->grid != NULL) {
        team->grid = *options->grid;
        team->options.grid = &team->grid;
    }
    if (is_made)
        return team;
    pti_bell_destroy(&team->bell);
    pti_kept_cuts_free(team->kept_cuts);
    pti_copies_free(&team->copies);
    free(team->member);
    free(team->speed);
    free(team->recorded);
    free(team);
    return NULL;
}

static void take_members(pti_team *team, polytile_queue *const *members) {
    for (int m = 0; m < team->transport->n_local; m++)
        team->member[m] = members[m];
    for (int m = 0; m < team->transport->n_local; m++)
        pti_queue_share_cuts(members[m], team->kept_cuts);
}

polytile_status pti_team_create(polytile_context *ctx, const char *text, pti_transport *transport,
                                polytile_queue *const *members, const pti_team_options *options,
                                polytile_queue **queue) {
    pti_team *team = allocate_team(ctx, transport, options);
    *queue = NULL;
    if (team == NULL) {
        destroy_members(transport, members);
        return pti_fail_memory(ctx, text, sizeof *team);
    }
    take_members(team, members);
    team->queue = pti_queue_create_over_team(ctx, text, &team_functions, team);
    if (team->queue == NULL) {
        free_team(team);
        return pti_fail_memory(ctx, text, sizeof *team->queue);
    }
    polytile_status status = pti_team_link(team);
    if (status == POLYTILE_OK) {
        *queue = team->queue;
        return POLYTILE_OK;
    }
    pti_team_give_up(team);
    return pti_queue_give_up(team->queue, status);
}

pti_team *pti_team_of(const polytile_queue *queue) {
    return queue != NULL && queue->team_functions == &team_functions ? queue->team : NULL;
}

void pti_team_give_up(pti_team *team) {
    team->is_given_up = true;
}

pti_transport *pti_team_transport(pti_team *team) {
    return team->transport;
}

pti_team_array *pti_team_find(pti_team *team, const polytile_array *array) {
    return &team->array[array->position];
}
