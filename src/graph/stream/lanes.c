#include "graph/stream/stream.h"

#include "launch/host/host.h"
#include "launch/open/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Which lanes there are, and the devices that they use. */

/** Find the number of a lane's tasks, or list them. */
static int list_tasks(const polytile_stream *stream, int resource, int *list) {
    int n = 0;
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++) {
        if (stream->expansion.tasks.task[t].resource != resource)
            continue;
        if (list != NULL)
            list[n] = t;
        n++;
    }
    return n;
}

/** Return whether this rank has a lane. */
static bool has_lane(const polytile_stream *stream, int resource) {
    bool has = false;
    for (int t = 0; t < stream->expansion.tasks.n_tasks; t++)
        has = has || (stream->expansion.tasks.task[t].resource == resource &&
                      pti_stream_has_task(stream, t));
    return has;
}

/** The host has no memory of its own here: the stream has it. */
static polytile_status open_host(polytile_context *ctx, const pti_device_text *parsed,
                                 polytile_device **device) {
    char text[64] = "host";
    if (parsed->value[PTI_OPTION_THREADS] > 0)
        snprintf(text, sizeof text, "host(threads=%lld)",
                 (long long)parsed->value[PTI_OPTION_THREADS]);
    return polytile_device_open(ctx, text, device);
}

static polytile_status open_unit(polytile_stream *stream, const pti_planned_unit *unit,
                                 pti_stream_lane *lane) {
    polytile_context *ctx = stream->object.context;
    pti_device_text parsed;
    polytile_status status;
    lane->memory = unit->memory;
    lane->cut_bytes = unit->cut_bytes;
    if (stream->ranks == NULL && unit->rank != 0)
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "%s: unit %s is on rank %d, and this stream is of one process; make one "
                        "over ranks by polytile_mpi_stream_create()",
                        stream->name, unit->name, unit->rank);
    PTI_TRY(pti_device_text_parse(ctx, unit->device, &parsed));
    status = parsed.driver == &pti_host_driver && unit->cut_bytes == 0
                 ? open_host(ctx, &parsed, &lane->device)
                 : polytile_device_open(ctx, unit->device, &lane->device);
done:
    return status;
}

/** Open a handle for copies of a memory's GPU; none where the memory is the host's. */
static polytile_status open_copier(polytile_context *ctx, const polytile_graph_plan *plan,
                                   int memory, polytile_device **device) {
    char text[64];
    polytile_status status = POLYTILE_OK;
    for (int u = 0; u < plan->n_units && *device == NULL; u++) {
        pti_device_text parsed;
        if (plan->unit[u].memory != memory || plan->unit[u].cut_bytes > 0)
            continue;
        PTI_TRY(pti_device_text_parse(ctx, plan->unit[u].device, &parsed));
        if (parsed.driver == &pti_host_driver)
            continue;
        snprintf(text, sizeof text, "%s:%lld", parsed.driver->name, (long long)parsed.number);
        PTI_TRY(polytile_device_open(ctx, text, device));
    }
done:
    return status;
}

/** Find the end of a link that is here. Frames leave and come in host memory. */
static polytile_status find_end(polytile_stream *stream, const polytile_graph_plan *plan,
                                pti_stream_lane *lane) {
    polytile_device *device = NULL;
    if (stream->ranks == NULL)
        return POLYTILE_OK;
    const pti_task_ranks *ranks = &stream->task_ranks[lane->task[0]];
    if (ranks->from == ranks->to)
        return POLYTILE_OK;
    lane->end = ranks->from == stream->ranks->rank ? PTI_STREAM_SENDS : PTI_STREAM_RECEIVES;
    const pti_task_note *note = &stream->expansion.task[lane->task[0]];
    const polytile_status status =
        open_copier(stream->object.context, plan,
                    lane->end == PTI_STREAM_SENDS ? note->from : note->to, &device);
    if (device == NULL)
        return status;
    polytile_device_close(device);
    return pti_fail(stream->object.context, POLYTILE_UNSUPPORTED,
                    "%s: link %s joins memories of GPUs of two ranks; leave it out of the machine, "
                    "so that frames go over host memory",
                    stream->name, lane->name);
}

/** Open the handle of the memory that a link fills, or, where that is the host's, of the one that
 * it empties. Without access to another GPU's memory CUDA copies all the same, by way of the
 * host. */
static polytile_status open_link(polytile_stream *stream, const polytile_graph_plan *plan,
                                 pti_stream_lane *lane) {
    polytile_context *ctx = stream->object.context;
    const char *why_not;
    const pti_task_note *note = &stream->expansion.task[lane->task[0]];
    polytile_status status;
    PTI_TRY(find_end(stream, plan, lane));
    if (lane->end != PTI_STREAM_BOTH_ENDS)
        return POLYTILE_OK;
    PTI_TRY(open_copier(ctx, plan, note->to, &lane->device));
    if (lane->device == NULL)
        PTI_TRY(open_copier(ctx, plan, note->from, &lane->device));
    else
        PTI_TRY(open_copier(ctx, plan, note->from, &lane->peer));
    if (lane->peer != NULL)
        lane->device->functions->peer->reaches(lane->device, lane->peer, &why_not);
done:
    return status;
}

/** False: no memory. */
static bool name_lane(const polytile_graph_plan *plan, const pti_task_note *note,
                      pti_stream_lane *lane) {
    if (lane->is_unit) {
        lane->name = strdup(plan->unit[lane->resource].name);
        return lane->name != NULL;
    }
    lane->from = strdup(plan->memory[note->from].name);
    lane->to = strdup(plan->memory[note->to].name);
    if (lane->from == NULL || lane->to == NULL)
        return false;
    if (asprintf(&lane->name, "%s -> %s", lane->from, lane->to) < 0)
        lane->name = NULL;
    return lane->name != NULL;
}

/** Return whether other threads may run short tasks of a lane: copies in host memory, and firings
 * on one thread. Each thread that calls for several has a team of its own, which would stay. */
static bool can_lend(const pti_stream_lane *lane) {
    return (lane->device == NULL && lane->end == PTI_STREAM_BOTH_ENDS) ||
           (lane->device != NULL && lane->device->cuda_capability == 0 &&
            lane->device->fill_threads == 1);
}

static polytile_status open_lane(polytile_stream *stream, const polytile_graph_plan *plan,
                                 int resource, int n_tasks) {
    pti_stream_lane *lane = &stream->lane[stream->n_lanes++];
    *lane = (pti_stream_lane){
        .stream = stream,
        .resource = resource,
        .is_unit = resource < plan->n_units,
        .n_tasks = n_tasks,
        .task = calloc((size_t)n_tasks, sizeof *lane->task),
        .is_lost = calloc((size_t)stream->expansion.tasks.n_buffers, sizeof *lane->is_lost)};
    if (lane->task == NULL || lane->is_lost == NULL)
        return pti_fail_memory(stream->object.context, stream->name, n_tasks);
    list_tasks(stream, resource, lane->task);
    if (!name_lane(plan, &stream->expansion.task[lane->task[0]], lane))
        return pti_fail_memory(stream->object.context, stream->name, PTI_UNKNOWN_BYTES);
    const polytile_status status = lane->is_unit ? open_unit(stream, &plan->unit[resource], lane)
                                                 : open_link(stream, plan, lane);
    lane->is_lent = can_lend(lane);
    return status;
}

polytile_status pti_stream_open_lanes(polytile_stream *stream, const polytile_graph_plan *plan) {
    const int n_resources = stream->expansion.tasks.n_resources;
    polytile_status status = POLYTILE_OK;
    stream->lane = calloc((size_t)n_resources + 1, sizeof *stream->lane);
    if (stream->lane == NULL)
        return pti_fail_memory(stream->object.context, stream->name, n_resources);
    for (int r = 0; r < n_resources; r++) {
        const int n_tasks = list_tasks(stream, r, NULL);
        if (has_lane(stream, r))
            PTI_TRY(open_lane(stream, plan, r, n_tasks));
    }
done:
    return status;
}

void pti_stream_close_lanes(polytile_stream *stream) {
    for (int l = 0; stream->lane != NULL && l < stream->n_lanes; l++) {
        pti_stream_lane *lane = &stream->lane[l];
        polytile_device_close(lane->device);
        polytile_device_close(lane->peer);
        free(lane->task);
        free(lane->is_lost);
        free(lane->name);
        free(lane->from);
        free(lane->to);
    }
    free(stream->lane);
}
