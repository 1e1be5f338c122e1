#include "base/checked.h"
#include "base/plural.h"
#include "distribute/group/group.h"
#include "distribute/group/words.h"
#include "distribute/mpi/transport_mpi.h"
#include "distribute/open/devices.h"
#include "distribute/open/share_options.h"
#include "launch/host/host.h"
#include "queue/queue.h"

#include <polytile/mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A call of polytile_mpi_queue_create(). */
typedef struct queue_request {
    polytile_context *ctx;
    MPI_Comm comm;
    const char *device_text;
    int n_devices;
    polytile_share_options options;
    polytile_queue **members; /* one a device; owned, as long as they are in no queue of all */
} queue_request;

/* Checks of all ranks together. */

static const char *or_default(const char *text) {
    return text == NULL ? "default" : text;
}

static polytile_status compare_options(pti_transport *setup, const queue_request *of) {
    const polytile_share_options *options = &of->options;
    char words[768];
    snprintf(words, sizeof words,
             "%d %s a rank, grid %.200s, layout %.200s, policy %.200s, launches_per_exchange %lld",
             of->n_devices, pti_plural(of->n_devices, "device", "devices"),
             or_default(options->grid), or_default(options->layout), or_default(options->policy),
             (long long)options->launches_per_exchange);
    return setup->functions->compare(setup, pti_words_hash(words), words);
}

/** Parse how the queue is shared, and the grid if the options have one. */
static polytile_status parse_options(const queue_request *of, int n_members, pti_member_grid *grid,
                                     pti_group_options *parsed) {
    const pti_share_options given = {.given = &of->options,
                                     .members = of->n_devices > 1 ? "devices" : "ranks",
                                     .list = "the communicator",
                                     .n_members = n_members,
                                     .may_take = n_members <= PTI_DEAL_MAX_UNITS};
    return pti_share_options_parse(of->ctx, &given, grid, parsed);
}

/** Give up members that are in no queue of all. Returns the status. */
static polytile_status give_up_members(queue_request *of, polytile_status status) {
    for (int m = 0; of->members != NULL && m < of->n_devices; m++) {
        pti_queue_give_up(of->members[m], status);
        of->members[m] = NULL;
    }
    return status;
}

/** Open devices, by default with no more threads than the rank's share of the cores, less those
 * that drive GPUs. */
static polytile_status open_with_share(queue_request *of, int n_cores) {
    of->members = calloc((size_t)of->n_devices, sizeof *of->members);
    if (of->members == NULL)
        return pti_fail_memory(of->ctx, "a queue over ranks",
                               of->n_devices * (double)sizeof *of->members);
    const int n_left = n_cores - pti_devices_count_driven(of->device_text);
    int n_threads = pti_host_lower_threads((int)pti_max(1, n_left));
    polytile_status status = pti_devices_open_each(of->ctx, of->device_text, of->members);
    pti_host_restore_threads(n_threads);
    return status;
}

/** Open a rank's own queues, on every rank or none. */
static polytile_status open_members(pti_transport *setup, queue_request *of) {
    int n_cores;
    polytile_status status = pti_mpi_share_cores(of->ctx, pti_mpi_of(setup)->comm, &n_cores);
    if (status == POLYTILE_OK)
        status = open_with_share(of, n_cores);
    status = setup->functions->agree(setup, status);
    return status == POLYTILE_OK ? status : give_up_members(of, status);
}

/** Make a group of the queues, which takes them over, or destroy them. */
static polytile_status create_group(queue_request *of, pti_transport *transport,
                                    const pti_group_options *options, polytile_queue **queue) {
    char text[256];
    snprintf(text, sizeof text, "%.200s on %d ranks", of->device_text,
             pti_mpi_of(transport)->n_ranks);
    polytile_status status =
        pti_group_create(of->ctx, text, transport, of->members, options, queue);
    for (int m = 0; m < of->n_devices; m++)
        of->members[m] = NULL;
    return status;
}

/** Join the ranks for the queue, with a counter if rows are dealt out. */
static polytile_status create_transport(const queue_request *of, const pti_group_options *options,
                                        pti_transport **transport) {
    polytile_status status;
    PTI_TRY(pti_transport_mpi_create(of->ctx, of->comm, of->n_devices, transport));
    if (!options->deals_rows)
        return POLYTILE_OK;
    status = pti_mpi_counter_create(*transport);
    if (status == POLYTILE_OK)
        return POLYTILE_OK;
    (*transport)->functions->close(*transport);
done:
    return status;
}

/** Make the queue of all, on every rank or none. */
static polytile_status make_queue_of_all(pti_transport *setup, queue_request *of,
                                         const pti_group_options *options, polytile_queue **queue) {
    polytile_status status;
    pti_transport *transport = NULL;
    PTI_TRY(create_transport(of, options, &transport));
    PTI_TRY(create_group(of, transport, options, queue));
done:
    status = setup->functions->agree(setup, status);
    give_up_members(of, status);
    if (status != POLYTILE_OK) {
        if (*queue != NULL)
            pti_group_give_up(pti_group_of(*queue));
        pti_queue_give_up(*queue, status);
        *queue = NULL;
    }
    return status;
}

/** Create the queue by a setup transport: the group's own ends with the group on failure. */
static polytile_status create_queue_on_ranks(pti_transport *setup, queue_request *of,
                                             polytile_queue **queue) {
    polytile_status status;
    pti_member_grid grid;
    pti_group_options options;
    PTI_TRY(compare_options(setup, of));
    PTI_TRY(parse_options(of, setup->n_members, &grid, &options));
    PTI_TRY(open_members(setup, of));
    if (options.is_by_speed)
        PTI_TRY(pti_mpi_balance_load(setup, of->members, options.grid, &options.distribution));
    PTI_TRY(make_queue_of_all(setup, of, &options, queue));
done:
    give_up_members(of, status);
    free(of->members);
    return status;
}

polytile_status polytile_mpi_queue_create(polytile_context *ctx, MPI_Comm comm,
                                          const char *device_text,
                                          const polytile_share_options *options,
                                          polytile_queue **queue) {
    polytile_status status;
    pti_transport *setup = NULL;
    queue_request of = {.ctx = ctx,
                        .comm = comm,
                        .device_text = device_text,
                        .n_devices = pti_devices_count(device_text)};
    if (queue != NULL)
        *queue = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (queue == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "creating a queue needs a place for it");
    if (options != NULL)
        of.options = *options;
    PTI_TRY(pti_mpi_check_use(ctx, comm, "a queue"));
    PTI_TRY(pti_transport_mpi_create(ctx, comm, of.n_devices, &setup));
    PTI_TRY(create_queue_on_ranks(setup, &of, queue));
done:
    if (setup != NULL)
        setup->functions->close(setup);
    return status;
}
