#include "base/checked.h"
#include "distribute/group/run.h"
#include "distribute/members/peers.h"
#include "partition/choose/kept_cuts.h"
#include "queue/queue.h"

#include <stdlib.h>
#include <string.h>

static polytile_status wait_for_array(polytile_queue *queue, polytile_array *array) {
    (void)array;
    return pti_group_wait(queue->group);
}

/** Nothing runs before something is waited for, or many launches are recorded. */
static void set_paused(polytile_queue *queue, bool is_paused) {
    ((pti_group *)queue->group)->is_paused = is_paused;
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
    pti_group *group = queue->group;
    pti_group_run(group);
    *report = (polytile_report){.n_launches = group->n_launches};
    for (int m = 0; m < group->transport->n_local; m++) {
        polytile_report part;
        polytile_queue_get_report(group->member[m], reset, &part);
        add_to_report(report, &part);
    }
    if (reset)
        group->n_launches = 0;
}

static polytile_device *get_device(const polytile_queue *queue, int member) {
    const pti_group *group = queue->group;
    return member < group->transport->n_local ? group->member[member]->device : NULL;
}

static void free_group(pti_group *group) {
    pti_group_drop_recorded(group);
    pti_group_forget_prepared(group);
    pti_copies_free(&group->copies);
    for (int m = 0; group->member != NULL && m < group->transport->n_local; m++)
        polytile_queue_destroy(group->member[m]);
    pti_group_unlink(group);
    pti_kept_cuts_free(group->kept_cuts);
    group->transport->functions->close(group->transport);
    free(group->member);
    free(group->speed);
    free(group->recorded);
    free(group->array);
    free(group->ownership);
    free(group->is_shared);
    free(group->is_lent);
    free(group->member_arrays);
    pti_bell_destroy(&group->bell);
    free(group);
}

/** Processes met, unless one of them gave the group up. */
static void close_group(polytile_queue *queue) {
    pti_group *group = queue->group;
    group->transport->ends_together = !group->is_given_up;
    free_group(group);
}

static const pti_group_functions group_functions = {
    .attach = pti_group_attach,
    .detach = pti_group_detach,
    .discard = pti_group_discard,
    .create_array = pti_group_create_array,
    .launch = pti_group_launch,
    .wait = wait_for_array,
    .begin_messages = pti_group_begin_messages,
    .set_paused = set_paused,
    .notify = pti_group_notify_program,
    .get_progress = pti_group_get_progress,
    .cancel = pti_group_cancel,
    .get_report = get_report,
    .get_device = get_device,
    .close = close_group,
};

static void destroy_members(pti_transport *transport, polytile_queue *const *members) {
    for (int m = 0; m < transport->n_local; m++)
        polytile_queue_destroy(members[m]);
    transport->functions->close(transport);
}

/** Copy the speeds that the options give; false when memory runs out. */
static bool take_speeds(pti_group *group) {
    size_t n_bytes = (size_t)group->transport->n_local * sizeof *group->speed;
    if (group->options.speed == NULL)
        return true;
    group->speed = malloc(n_bytes);
    if (group->speed == NULL)
        return false;
    memcpy(group->speed, group->options.speed, n_bytes);
    group->options.speed = group->speed;
    return true;
}

/** Without its queue; NULL when memory runs out. */
static pti_group *allocate_group(polytile_context *ctx, pti_transport *transport,
                                 const pti_group_options *options) {
    pti_group *group = calloc(1, sizeof *group);
    if (group == NULL)
        return NULL;
    *group = (pti_group){.ctx = ctx,
                         .transport = transport,
                         .options = *options,
                         .member = calloc((size_t)transport->n_local, sizeof *group->member),
                         .recorded = calloc(PTI_GROUP_LAUNCHES, sizeof *group->recorded),
                         .kept_cuts = pti_kept_cuts_create()};
    pti_bell_create(&group->bell);
    bool is_made = group->member != NULL && group->recorded != NULL && group->kept_cuts != NULL &&
                   pti_copies_create(0, transport->n_members, &group->copies) && take_speeds(group);
    if (options->grid != NULL) {
        group->grid = *options->grid;
        group->options.grid = &group->grid;
    }
    if (is_made)
        return group;
    pti_bell_destroy(&group->bell);
    pti_kept_cuts_free(group->kept_cuts);
    pti_copies_free(&group->copies);
    free(group->member);
    free(group->speed);
    free(group->recorded);
    free(group);
    return NULL;
}

static void take_members(pti_group *group, polytile_queue *const *members) {
    for (int m = 0; m < group->transport->n_local; m++)
        group->member[m] = members[m];
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_share_cuts(members[m], group->kept_cuts);
}

polytile_status pti_group_create(polytile_context *ctx, const char *text, pti_transport *transport,
                                 polytile_queue *const *members, const pti_group_options *options,
                                 polytile_queue **queue) {
    pti_group *group = allocate_group(ctx, transport, options);
    *queue = NULL;
    if (group == NULL) {
        destroy_members(transport, members);
        return pti_fail_memory(ctx, text, sizeof *group);
    }
    take_members(group, members);
    group->queue = pti_queue_create_over_group(ctx, text, &group_functions, group);
    if (group->queue == NULL) {
        free_group(group);
        return pti_fail_memory(ctx, text, sizeof *group->queue);
    }
    polytile_status status = pti_group_link(group);
    if (status == POLYTILE_OK) {
        *queue = group->queue;
        return POLYTILE_OK;
    }
    pti_group_give_up(group);
    return pti_queue_give_up(group->queue, status);
}

pti_group *pti_group_of(const polytile_queue *queue) {
    return queue != NULL && queue->group_functions == &group_functions ? queue->group : NULL;
}

void pti_group_give_up(pti_group *group) {
    group->is_given_up = true;
}

pti_transport *pti_group_transport(pti_group *group) {
    return group->transport;
}

pti_group_array *pti_group_find(pti_group *group, const polytile_array *array) {
    return &group->array[array->position];
}
