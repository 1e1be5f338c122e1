#include "access/bind/rebase.h"
#include "access/footprint/fold.h"
#include "access/footprint/footprint.h"
#include "access/footprint/narrow.h"
#include "access/footprint/slabs.h"
#include "access/kernel.h"
#include "launch/device/completeness.h"
#include "launch/device/fill.h"
#include "launch/device/lanes.h"
#include "launch/execute/run_check.h"
#include "launch/execute/specialise.h"
#include "partition/arena/build.h"
#include "partition/choose/kept_cuts.h"
#include "partition/window/plan.h"
#include "queue/aliased.h"
#include "queue/cache.h"
#include "queue/looked_up.h"
#include "queue/prepared.h"
#include "queue/scratch.h"
#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

/** Refuse a limit of one launch: the device's memory is the queue's. */
static polytile_status check_limit(const polytile_queue *queue, const pti_request *request) {
    if (request->options->plan.limit_bytes == 0)
        return POLYTILE_OK;
    return pti_fail(queue->object.context, POLYTILE_INVALID,
                    "%s: a limit of %lld bytes for one launch of a queue, whose arrays share %s; "
                    "give the limit in the device's text, as host(memory=64MiB), and 0 here",
                    polytile_kernel_get_name(request->kernel),
                    (long long)request->options->plan.limit_bytes, pti_queue_text(queue));
}

static polytile_status check_request_arrays(const pti_instance *instance,
                                            const pti_request *request) {
    polytile_context *ctx = request->kernel->object.context;
    polytile_status status = POLYTILE_OK;
    PTI_TRY(pti_run_check_steps(request->kernel, instance));
    for (int a = 0; a < instance->n_operands; a++) {
        if (instance->operand[a].is_scratch)
            continue;
        PTI_TRY(pti_run_check_view(request->kernel, a, pti_request_given(request, a)));
        PTI_TRY(pti_run_check_writable(ctx, instance, a, request->arrays[a]));
    }
done:
    return status;
}

/** False when memory runs out. */
static bool find_hulls(pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    size_t n_operands = (size_t)instance->n_operands;
    prepared->touched = calloc(n_operands, sizeof *prepared->touched);
    prepared->written = calloc(n_operands, sizeof *prepared->written);
    if (prepared->touched == NULL || prepared->written == NULL)
        return false;
    for (int a = 0; a < instance->n_operands; a++) {
        pti_footprint_find_hull(instance, a, PTI_TOUCHES, &instance->threads,
                                &prepared->touched[a]);
        prepared->written[a] = pti_box_empty(instance->operand[a].domain.n_dims);
        if (instance->operand[a].writes)
            pti_footprint_find_hull(instance, a, PTI_WRITES, &instance->threads,
                                    &prepared->written[a]);
    }
    return true;
}

/** Find which arrays a launch replaces: members of all processes have to know it alike. False when
 * memory runs out. */
static bool find_overwritten(pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    prepared->is_overwritten =
        calloc((size_t)instance->n_operands, sizeof *prepared->is_overwritten);
    bool has_memory = prepared->is_overwritten != NULL;
    for (int a = 0; a < instance->n_operands && has_memory; a++)
        has_memory = instance->operand[a].is_scratch ||
                     pti_completeness_find_overwritten(instance, a, &prepared->is_overwritten[a]);
    return has_memory;
}

/** Return whether all arrays that launches of the queue use, this one included, fit the device
 * whole, each beginning at its alignment. The mutex is locked. */
static bool all_fit(const polytile_queue *queue, const pti_prepared *prepared) {
    int64_t free_bytes = prepared->arena_bytes;
    for (int p = 0; p < queue->n_arrays; p++) {
        const polytile_array *array = queue->array[p].array;
        if (array == NULL || (!queue->array[p].is_used && !pti_prepared_uses(prepared, p)))
            continue;
        if (array->n_bytes > free_bytes)
            return false;
        free_bytes -= pti_resident_padded(array->n_bytes);
    }
    return free_bytes >= 0;
}

/** Copy how a launch is cut, which the queue's thread may change. The mutex is locked. False when
 * memory runs out. */
static bool copy_partition(const pti_partition *from, pti_partition *to) {
    bool is_copied = true;
    *to = (pti_partition){.n_buffers = from->n_buffers};
    memcpy(to->shape, from->shape, sizeof to->shape);
    for (int64_t k = 0; is_copied && k < from->n_superblocks; k++)
        is_copied = pti_partition_add(to, &from->superblock[k]);
    return is_copied;
}

/** Cut a launch as its twin was, in pieces that are as that one's. The mutex is locked. False when
 * memory runs out. */
static bool cut_as_twin(polytile_queue *queue, const pti_prepared *twin, pti_prepared *prepared) {
    const pti_partition *from = &twin->partition;
    bool is_copied = true;
    if (twin->way > 0 &&
        pti_ways_adopt(queue->object.context, &prepared->ways, twin->ways.call[twin->way].instance,
                       &prepared->way) != POLYTILE_OK)
        return false;
    if (twin->way > 0 && prepared->way == 0)
        return true;
    prepared->is_cut_apart = twin->is_cut_apart;
    prepared->partition = *from;
    prepared->partition.superblock = NULL;
    prepared->partition.n_superblocks = prepared->partition.n_allocated = 0;
    for (int64_t k = 0; is_copied && k < from->n_superblocks; k++)
        is_copied = pti_partition_add(&prepared->partition, &from->superblock[k]);
    return is_copied;
}

/** Find what launches are cut for at present, and how one over the same data was cut. A launch that
 * has a twin is cut as that. */
static polytile_status find_arena_and_former(polytile_queue *queue, const pti_request *request,
                                             pti_prepared *prepared, pti_partition *former) {
    bool is_copied = true;
    int64_t n_superblocks = 0;
    pthread_mutex_lock(&queue->mutex);
    const pti_prepared *related = pti_cache_find_related(queue, request);
    prepared->arena_bytes = queue->usable_bytes;
    prepared->serial = ++queue->n_cut;
    prepared->all_fit = all_fit(queue, prepared);
    const pti_prepared *twin = pti_cache_find_twin(queue, prepared, related);
    if (twin != NULL) {
        n_superblocks = twin->partition.n_superblocks;
        is_copied = cut_as_twin(queue, twin, prepared);
    } else if (related != NULL) {
        n_superblocks = related->partition.n_superblocks;
        is_copied = copy_partition(&related->partition, former);
    }
    pthread_mutex_unlock(&queue->mutex);
    return is_copied ? POLYTILE_OK
                     : pti_fail_memory(queue->object.context, prepared->instance->kernel_name,
                                       (double)n_superblocks * sizeof(polytile_domain));
}

/** Add to a certificate for less than the device's limit that the queue has no more. */
static polytile_status explain_limit(const polytile_queue *queue, int64_t arena_bytes) {
    char had[32], limit[32];
    const polytile_device *device = queue->device;
    polytile_context *ctx = queue->object.context;
    if (arena_bytes >= device->limit_bytes)
        return POLYTILE_NO_FIT;
    return pti_fail(ctx, POLYTILE_NO_FIT,
                    "%s; the queue has only %s of %s on %s (other programs may hold the rest)",
                    polytile_last_error(ctx), polytile_size_format(arena_bytes, had),
                    polytile_size_format(device->limit_bytes, limit), device->text);
}

/** Cut as a member of the same group has cut a launch as large, if one has; else cut, and keep
 * that. */
static polytile_status cut_as_members(polytile_queue *queue, const pti_grain_request *request,
                                      pti_prepared *prepared) {
    const bool is_kept = queue->kept_cuts != NULL && !request->all_fit && request->former == NULL;
    if (is_kept && pti_kept_cuts_find(queue->kept_cuts, request, &prepared->partition))
        return POLYTILE_OK;
    polytile_status status =
        pti_aliased_cut(queue->object.context, request, &prepared->partition, &prepared->way);
    if (status == POLYTILE_OK && is_kept && prepared->way == 0)
        pti_kept_cuts_add(queue->kept_cuts, request, &prepared->partition);
    return status;
}

/** Cut as a launch over the same data was, or anew where that does not fit. */
static polytile_status cut_as_before(polytile_queue *queue, const pti_grain_request *request,
                                     pti_prepared *prepared) {
    polytile_context *ctx = queue->object.context;
    pti_grain_request anew = *request;
    polytile_status status = cut_as_members(queue, request, prepared);
    if (status != POLYTILE_NO_FIT || request->former == NULL)
        return status;
    pti_clear_error(ctx);
    anew.former = NULL;
    return pti_aliased_cut(ctx, &anew, &prepared->partition, &prepared->way);
}

/** Cut a launch when it is made, so that one of which no block fits is refused at once. */
static polytile_status cut_prepared(polytile_queue *queue, const pti_request *request,
                                    pti_prepared *prepared) {
    pti_partition former = {0};
    polytile_status status;
    PTI_TRY(find_arena_and_former(queue, request, prepared, &former));
    if (prepared->partition.n_superblocks > 0)
        goto done;
    prepared->is_cut_apart = former.n_superblocks == 0;
    pti_grain_request grain = {.ways = &prepared->ways,
                               .options = &prepared->options,
                               .arena_bytes = prepared->arena_bytes,
                               .all_fit = prepared->all_fit,
                               .former = former.n_superblocks > 0 ? &former : NULL};
    status = cut_as_before(queue, &grain, prepared);
    if (status == POLYTILE_NO_FIT)
        status = explain_limit(queue, prepared->arena_bytes);
done:
    pti_partition_free(&former);
    return status;
}

static polytile_status build_in_place(pti_prepared *prepared, polytile_context *ctx) {
    if (pti_schedule_build_in_place(prepared->instance, &prepared->in_place) == POLYTILE_OK)
        return POLYTILE_OK;
    return pti_fail_memory(ctx, prepared->instance->kernel_name,
                           sizeof *prepared->in_place +
                               prepared->instance->n_operands * (double)sizeof(pti_placement));
}

/** The bytes of those lists of a prepared launch that have an entry an operand. */
static double lists_bytes(const pti_prepared *prepared) {
    return prepared->instance->n_operands *
           (double)(sizeof *prepared->touched + sizeof *prepared->written +
                    sizeof *prepared->is_overwritten + sizeof *prepared->array_serial +
                    sizeof *prepared->position);
}

/** Prove that the program's launch is sound. */
static polytile_status bind_and_check(polytile_queue *queue, const pti_request *request,
                                      pti_prepared *prepared) {
    polytile_status status;
    PTI_TRY(check_limit(queue, request));
    PTI_TRY(pti_plan_bind_operands(request->kernel, request->domain,
                                   request->given == NULL ? request->arrays : request->given,
                                   request->options, &prepared->instance));
    if (request->given != NULL)
        PTI_TRY(pti_instance_rebase(queue->object.context, request->given, request->arrays,
                                    &prepared->instance));
    PTI_TRY(check_request_arrays(prepared->instance, request));
done:
    return status;
}

/** Find what stands for scratch, and compare it with the body's views. */
static polytile_status find_scratch(polytile_queue *queue, const pti_request *request,
                                    pti_prepared *prepared) {
    const pti_instance *instance = prepared->instance;
    polytile_status status;
    PTI_TRY(pti_queue_find_scratch(queue, instance, prepared->position));
    for (int o = 0; o < instance->n_operands; o++)
        if (instance->operand[o].is_scratch)
            PTI_TRY(
                pti_run_check_view(request->kernel, o, queue->array[prepared->position[o]].array));
done:
    return status;
}

/** Fill in all of a launch that does not depend on the device. */
static polytile_status bind_launch(polytile_queue *queue, const pti_request *request,
                                   pti_prepared *prepared) {
    polytile_status status;
    PTI_TRY(request->whole == NULL
                ? bind_and_check(queue, request, prepared)
                : pti_instance_narrow(request->kernel, request->whole, request->domain,
                                      request->arrays, &prepared->instance));
    if (!pti_prepared_fill_key(prepared, request) || !find_hulls(prepared) ||
        (queue->group_functions != NULL && !find_overwritten(prepared)))
        PTI_TRY(pti_fail_memory(queue->object.context, prepared->instance->kernel_name,
                                lists_bytes(prepared)));
    PTI_TRY(find_scratch(queue, request, prepared));
    prepared->instance->piece_alignment_bytes = PTI_RESIDENT_ALIGNMENT;
    PTI_TRY(pti_instance_add_slabs(queue->object.context, prepared->instance));
    PTI_TRY(pti_instance_add_bands(queue->object.context, prepared->instance));
    prepared->ways = pti_ways_of(pti_prepared_call(prepared),
                                 pti_takes_pieces(&request->kernel->implementation));
    if (prepared->ways.may_split)
        PTI_TRY(pti_instance_add_fold(queue->object.context, prepared->instance));
    prepared->touched_bytes = pti_asked_touched_bytes(prepared->instance);
    prepared->implementation = request->kernel->implementation;
    prepared->config = (pti_launch_config){.implementation = &prepared->implementation,
                                           .character = &prepared->character,
                                           .block = prepared->options.block,
                                           .n_values = pti_kernel_n_values(request->kernel)};
done:
    return status;
}

static polytile_status bind_for_members(polytile_queue *queue, const pti_request *request,
                                        pti_prepared *prepared) {
    prepared->serial = ++queue->n_cut;
    return bind_launch(queue, request, prepared);
}

static polytile_status fill_prepared(polytile_queue *queue, const pti_request *request,
                                     pti_prepared *prepared) {
    const polytile_implementation *found;
    polytile_status status;
    if (request->whole == NULL)
        PTI_TRY(pti_run_check_kernel(queue->device, request->kernel));
    PTI_TRY(bind_launch(queue, request, prepared));
    PTI_TRY(pti_specialise(queue->device, request->kernel, prepared->instance, &found));
    prepared->implementation = *found;
    PTI_TRY(queue->residency == NULL ? build_in_place(prepared, queue->object.context)
                                     : cut_prepared(queue, request, prepared));
done:
    return status;
}

static polytile_status prepare_new(polytile_queue *queue, const pti_request *request,
                                   pti_prepared **prepared) {
    polytile_status status;
    pti_prepared *made = calloc(1, sizeof *made);
    *prepared = NULL;
    if (made == NULL)
        return pti_fail_memory(queue->object.context, polytile_kernel_get_name(request->kernel),
                               sizeof *made);
    PTI_TRY(queue->group_functions == NULL ? fill_prepared(queue, request, made)
                                           : bind_for_members(queue, request, made));
    pti_cache_add(queue, made);
    *prepared = made;
done:
    if (status != POLYTILE_OK)
        pti_prepared_free(made);
    return status;
}

/** Warn of an incomplete array that is read, unless queued launches make it complete by then. */
static void warn_incomplete(polytile_queue *queue, const pti_prepared *prepared, int operand,
                            const polytile_array *array) {
    const pti_instance *instance = prepared->instance;
    if (pti_array_is_complete(array) || !instance->operand[operand].reads ||
        pti_cache_is_overwritten(queue, array->position))
        return;
    pti_array_warn_incomplete(array, instance->kernel_name);
}

/** NULL: the launch is new. */
static pti_prepared *find_prepared(polytile_queue *queue, const pti_request *request) {
    const uint64_t hash = pti_request_hash(request);
    pti_prepared *found = pti_cache_find(queue, request, hash);
    if (found != NULL)
        return found;
    found = pti_victims_take(queue, request, hash);
    if (found != NULL)
        pti_cache_add(queue, found);
    return found;
}

/** How many streams a launch has: as asked, or as the device does, if it runs in lanes. */
static int64_t choose_streams(polytile_queue *queue, const pti_request *request) {
    const polytile_kernel *kernel = request->kernel;
    const int64_t n_asked = request->options->plan.n_streams;
    if (!pti_runs_in_lanes(&kernel->implementation))
        return 1;
    return n_asked != 0 ? n_asked
                        : pti_lanes_choose(queue->device, pti_lanes_key(kernel->declaration_hash,
                                                                        request->domain));
}

polytile_status pti_queue_prepare(polytile_queue *queue, const pti_request *request,
                                  pti_prepared **prepared) {
    polytile_launch_options options = *request->options;
    pti_request filled = *request;
    polytile_status status = POLYTILE_OK;
    if (options.plan.link == NULL && queue->group_functions == NULL)
        options.plan.link = polytile_device_get_link(queue->device);
    if (queue->group_functions == NULL) {
        options.plan.n_streams = choose_streams(queue, &filled);
        options.plan.fill_threads = pti_device_planned_fill_threads(
            queue->device, &request->kernel->implementation, &options.plan);
    }
    filled.options = &options;
    PTI_TRY(pti_queue_await_looked_up(queue, &filled));
    *prepared = find_prepared(queue, &filled);
    if (*prepared == NULL)
        PTI_TRY(prepare_new(queue, &filled, prepared));
    for (int a = 0; request->whole == NULL && a < (*prepared)->n_arrays; a++)
        if (request->arrays[a] != NULL)
            warn_incomplete(queue, *prepared, a, request->arrays[a]);
done:
    return status;
}
