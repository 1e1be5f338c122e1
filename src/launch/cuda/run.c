#include "launch/cuda/run.h"
#include "launch/cuda/runtime/cuda.h"

#include "launch/cuda/kernel.h"
#include "launch/cuda/rounds.h"
#include "launch/cuda/runtime/copy.h"
#include "launch/cuda/runtime/nvtx.h"
#include "launch/cuda/runtime/order.h"
#include "launch/cuda/runtime/timing.h"
#include "launch/cuda/staging/route.h"
#include "launch/cuda/staging/staging.h"
#include "launch/cuda/tiles.h"
#include "launch/device/execution.h"
#include "launch/host/copy/box_copy.h"
#include "launch/peers/newer.h"
#include "launch/peers/peers.h"
#include "launch/peers/sharing.h"

#include <stdlib.h>
#include <string.h>

/* Run a schedule on its streams. Between begin and finish, only transfers through the staging ring
 * wait for the GPU. */

enum { PAGE_BYTES = 4096 };

/** What all runs of stretches of a schedule have in common. */
typedef struct pti_cuda_stretches {
    const pti_schedule *schedule; /* with its period; borrowed, as the arrays */
    polytile_array *const *arrays;
    pti_cuda_host_memory kinds[]; /* one an operand */
} pti_cuda_stretches;

/** The run in progress. */
typedef struct pti_cuda_run {
    bool is_staging; /* something went through the ring */
    bool has_failed;
    pti_cuda_host_memory kinds[]; /* one an operand */
} pti_cuda_run;

static size_t kinds_bytes(const pti_schedule *schedule) {
    return (size_t)schedule->instance->n_operands * sizeof(pti_cuda_host_memory);
}

polytile_status pti_cuda_begin_stretches(polytile_device *device, const pti_schedule *schedule,
                                         polytile_array *const *arrays) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    const size_t n_bytes = sizeof *cuda->stretches + kinds_bytes(schedule);
    polytile_status status;
    cuda->stretches = calloc(1, n_bytes);
    if (cuda->stretches == NULL)
        return pti_fail_memory(device->object.context, schedule->instance->kernel_name,
                               (double)n_bytes);
    cuda->stretches->schedule = schedule;
    cuda->stretches->arrays = arrays;
    PTI_TRY(pti_cuda_enter(cuda));
    PTI_TRY(pti_cuda_routes_begin(cuda, schedule, arrays, cuda->stretches->kinds));
done:
    return status;
}

polytile_status pti_cuda_end_stretches(polytile_device *device) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    pti_cuda_stretches *ended = cuda->stretches;
    polytile_status status = POLYTILE_OK;
    if (ended != NULL)
        status = pti_cuda_routes_end(cuda, ended->schedule, ended->arrays, ended->kinds);
    if (status != POLYTILE_OK)
        cuda->api->cudaGetLastError();
    free(ended);
    cuda->stretches = NULL;
    return status;
}

/** Find how a run's arrays travel: in a stretch as in all others. */
static polytile_status begin_routes(pti_cuda_device *cuda) {
    const pti_execution *execution = cuda->execution;
    if (cuda->stretches == NULL)
        return pti_cuda_routes_begin(cuda, execution->schedule, execution->arrays,
                                     cuda->run->kinds);
    memcpy(cuda->run->kinds, cuda->stretches->kinds, kinds_bytes(execution->schedule));
    return POLYTILE_OK;
}

static polytile_status end_routes(pti_cuda_device *cuda) {
    const pti_execution *execution = cuda->execution;
    return cuda->stretches != NULL ? POLYTILE_OK
                                   : pti_cuda_routes_end(cuda, execution->schedule,
                                                         execution->arrays, cuda->run->kinds);
}

static polytile_status prepare_run(pti_cuda_device *cuda, pti_execution *execution) {
    polytile_status status;
    pti_cuda_run *run = cuda->run;
    PTI_TRY(pti_cuda_enter(cuda));
    PTI_TRY(begin_routes(cuda));
    PTI_TRY(pti_cuda_order_begin(cuda->order, execution->schedule));
    PTI_TRY(pti_cuda_timing_begin(cuda->timing, execution));
done:
    run->has_failed = status != POLYTILE_OK;
    return status;
}

polytile_status pti_cuda_begin(polytile_device *device, pti_execution *execution) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    const char *name = execution->schedule->instance->kernel_name;
    size_t run_bytes = sizeof *cuda->run + kinds_bytes(execution->schedule);
    pti_nvtx_push(name);
    cuda->execution = execution;
    cuda->run = calloc(1, run_bytes);
    if (cuda->run == NULL)
        return pti_fail_memory(device->object.context, name, (double)run_bytes);
    return prepare_run(cuda, execution);
}

/** Create the ring at the first transfer that needs it. */
static polytile_status use_ring(pti_cuda_device *cuda) {
    polytile_status status = POLYTILE_OK;
    if (cuda->run->is_staging)
        return POLYTILE_OK;
    if (cuda->staging == NULL)
        PTI_TRY(pti_staging_create(cuda, PTI_STAGING_BUFFER_BYTES, &cuda->staging));
    PTI_TRY(pti_staging_begin(cuda->staging, cuda->execution, cuda->run->kinds));
    cuda->run->is_staging = true;
done:
    return status;
}

static polytile_status upload_box(pti_cuda_device *cuda, const pti_move *move) {
    return pti_cuda_copy(cuda, move, cudaMemcpyHostToDevice, cuda->stream[PTI_STREAM_IN]);
}

/** Upload from a copy of a box in pages of its own. CUDA is done with pageable memory when it
 * returns; but another run may have pinned the array, in whole or in part, and unpin it when it
 * ends. */
static polytile_status upload_aside(pti_cuda_device *cuda, const pti_move *move) {
    polytile_status status;
    pti_memory_layout layout = pti_memory_layout_of(move->box, move->element_bytes);
    size_t n_pages = ((size_t)layout.size_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
    pti_memory_span aside = {aligned_alloc(PAGE_BYTES, n_pages * PAGE_BYTES), &layout};
    pti_move apart = *move, up = *move;
    if (aside.base == NULL)
        return pti_fail_memory(cuda->device.object.context,
                               "the copy of what another GPU was to upload",
                               (double)n_pages * PAGE_BYTES);
    apart.to = up.from = aside;
    pti_box_copy(&apart, cuda->n_host_threads);
    status = upload_box(cuda, &up);
    free(aside.base);
    return status;
}

/** Exchange parts of an upload with other GPUs, and upload those that do not come. The ring has
 * gone on to later uploads. */
static polytile_status exchange_parts(pti_cuda_device *cuda, const pti_command *command) {
    bool is_pageable = cuda->run->kinds[command->operand] == PTI_CUDA_PAGEABLE;
    polytile_domain missing[PTI_MOST_PEERS];
    int n_missing;
    polytile_status status;
    pti_move move = command->move;
    PTI_TRY(pti_sharing_exchange(cuda->execution, command, missing, &n_missing));
    for (int k = 0; k < n_missing; k++) {
        move.box = &missing[k];
        PTI_TRY(is_pageable ? upload_aside(cuda, &move) : upload_box(cuda, &move));
    }
done:
    return status;
}

static polytile_status copy_newer(void *of, polytile_device *from, const pti_move *move) {
    pti_cuda_device *cuda = of;
    return pti_cuda_copy_from_peer(cuda, move, pti_cuda_of(from)->number,
                                   cuda->stream[PTI_STREAM_IN]);
}

/** Get from other GPUs what these have newer. Through the ring all comes from the host before that:
 * it has looked ahead. */
static polytile_status pull_box(pti_cuda_device *cuda, const pti_command *command) {
    const bool is_staged = pti_cuda_is_staged(command, cuda->run->kinds);
    pti_execution *execution = cuda->execution;
    const int64_t pulled_before = execution->report->p2p_bytes;
    pti_boxes rest = {0};
    pti_move move = command->move;
    polytile_status status = POLYTILE_OK;
    if (is_staged)
        PTI_TRY(pti_staging_upload(cuda->staging, command));
    PTI_TRY(pti_peers_pull(execution, command, copy_newer, cuda, &rest));
    for (int b = 0; b < rest.n_boxes && !is_staged; b++) {
        move.box = &rest.box[b];
        PTI_TRY(upload_box(cuda, &move));
    }
    if (!is_staged)
        execution->report->h2d_bytes -= execution->report->p2p_bytes - pulled_before;
done:
    pti_boxes_free(&rest);
    return status;
}

static polytile_status run_upload(pti_cuda_device *cuda, const pti_command *command) {
    polytile_status status;
    if (pti_peers_is_pulling(cuda->execution->device))
        return pull_box(cuda, command);
    PTI_TRY(pti_cuda_is_staged(command, cuda->run->kinds)
                ? pti_staging_upload(cuda->staging, command)
                : upload_box(cuda, &command->move));
    status = exchange_parts(cuda, command);
done:
    return status;
}

static polytile_status download_box(pti_cuda_device *cuda, const pti_command *command) {
    return pti_cuda_copy(cuda, &command->move, cudaMemcpyDeviceToHost,
                         cuda->stream[PTI_STREAM_OUT]);
}

static polytile_status copy_on_device(pti_cuda_device *cuda, const pti_command *command) {
    polytile_status status = POLYTILE_OK;
    pti_overlapping_copy slices = pti_move_overlapping(&command->move);
    polytile_domain box;
    pti_move slice = command->move;
    slice.box = &box;
    while (pti_overlapping_next(&slices, &box))
        PTI_TRY(pti_cuda_copy(cuda, &slice, cudaMemcpyDeviceToDevice, cuda->stream[PTI_STREAM_IN]));
done:
    return status;
}

static polytile_status fill_box(pti_cuda_device *cuda, const pti_command *command) {
    return pti_cuda_fill(cuda, &command->move, pti_cuda_stream(cuda, pti_op_stream(command->op)));
}

static polytile_status submit_launch(pti_cuda_device *cuda, const pti_command *command) {
    polytile_repetition repetition = {0};
    pti_sub_kernel sub_kernel = command->sub_kernel;
    polytile_status status;
    sub_kernel.repetition = &repetition;
    PTI_TRY(pti_cuda_launch(cuda, &sub_kernel));
    PTI_TRY(repetition.condition == NULL
                ? pti_cuda_end_command(cuda, command)
                : pti_cuda_rounds_begin(cuda, command, repetition.condition));
done:
    return status;
}

static polytile_status (*const enqueue[])(pti_cuda_device *cuda, const pti_command *command) = {
    [PTI_UPLOAD] = run_upload,    [PTI_COPY] = copy_on_device,   [PTI_FILL] = fill_box,
    [PTI_LAUNCH] = submit_launch, [PTI_DOWNLOAD] = download_box,
};

/** Enqueue a command after what it waits for. */
static polytile_status submit_now(pti_cuda_device *cuda, const pti_command *command) {
    polytile_status status;
    PTI_TRY(pti_cuda_order_wait(cuda->order, command));
    PTI_TRY(pti_sharing_prepare(cuda->execution, command));
    PTI_TRY(pti_cuda_timing_start(cuda->timing, command));
    PTI_TRY(enqueue[command->op->kind](cuda, command));
    if (command->op->kind != PTI_LAUNCH)
        PTI_TRY(pti_cuda_end_command(cuda, command));
done:
    return status;
}

/** Submit a command; a download through the ring is enqueued when there are buffers for it. */
static polytile_status submit_command(pti_cuda_device *cuda, const pti_command *command) {
    polytile_status status;
    bool is_staged = pti_cuda_is_staged(command, cuda->run->kinds);
    PTI_TRY(pti_cuda_rounds_await(cuda, command, is_staged));
    if (is_staged)
        PTI_TRY(use_ring(cuda));
    if (cuda->run->is_staging)
        PTI_TRY(pti_staging_wait_command(cuda->staging, command));
    PTI_TRY(is_staged && command->op->kind == PTI_DOWNLOAD
                ? pti_staging_download(cuda->staging, command)
                : submit_now(cuda, command));
    PTI_TRY(pti_cuda_timing_harvest(cuda->timing));
done:
    return status;
}

polytile_status pti_cuda_submit(polytile_device *device, const pti_command *command) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    cuda->command = command;
    pti_nvtx_push(pti_op_word(command->op->kind));
    polytile_status status = submit_command(cuda, command);
    pti_nvtx_pop();
    cuda->command = NULL;
    cuda->run->has_failed |= status != POLYTILE_OK;
    return status;
}

/** Wait for all that any of the launches waits for, and take back what others use of the memory
 * that any of them writes. */
static polytile_status wait_for_all_launches(pti_cuda_device *cuda, const pti_tiles *tiles) {
    polytile_status status = POLYTILE_OK;
    for (int64_t k = tiles->first_op; k < tiles->first_op + tiles->n_ops; k++) {
        const pti_command command = {
            .op = &cuda->execution->schedule->op[k], .index = k, .operand = -1};
        PTI_TRY(pti_cuda_rounds_await(cuda, &command, cuda->run->is_staging));
        if (cuda->run->is_staging)
            PTI_TRY(pti_staging_wait_command(cuda->staging, &command));
        PTI_TRY(pti_cuda_order_wait(cuda->order, &command));
        PTI_TRY(pti_sharing_prepare(cuda->execution, &command));
    }
done:
    return status;
}

static polytile_status enqueue_tiles(pti_cuda_device *cuda, const pti_tile_command *command) {
    polytile_status status;
    PTI_TRY(pti_cuda_timing_start(cuda->timing, &command->first));
    PTI_TRY(pti_cuda_launch_tiles(cuda, command));
    PTI_TRY(pti_cuda_timing_stop(cuda->timing, &command->first));
done:
    return status;
}

/** Enqueue launches as one; of a slab that has no threads of the last one nothing is to be run. */
static polytile_status submit_as_one(pti_cuda_device *cuda, const pti_tile_command *command) {
    polytile_status status;
    PTI_TRY(wait_for_all_launches(cuda, command->tiles));
    if (command->first.sub_kernel.threads != NULL)
        PTI_TRY(enqueue_tiles(cuda, command));
    if (command->last.op != NULL)
        PTI_TRY(pti_cuda_order_record(cuda->order, &command->last));
    PTI_TRY(pti_cuda_timing_harvest(cuda->timing));
done:
    return status;
}

polytile_status pti_cuda_submit_tiles(polytile_device *device, const pti_tile_command *command) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    cuda->command = &command->first;
    pti_nvtx_push("tiles");
    polytile_status status = submit_as_one(cuda, command);
    pti_nvtx_pop();
    cuda->command = NULL;
    cuda->run->has_failed |= status != POLYTILE_OK;
    return status;
}

static polytile_status synchronize_streams(pti_cuda_device *cuda) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < pti_cuda_n_streams(cuda); s++)
        PTI_TRY(PTI_CUDA(cuda, cudaStreamSynchronize, (cuda->stream[s])));
done:
    return status;
}

static polytile_status complete_run(pti_cuda_device *cuda) {
    polytile_status status;
    PTI_TRY(pti_cuda_rounds_finish(cuda));
    if (cuda->run->is_staging)
        PTI_TRY(pti_staging_finish(cuda->staging, true));
    PTI_TRY(pti_cuda_timing_watch(cuda->timing));
    PTI_TRY(synchronize_streams(cuda));
    PTI_TRY(pti_cuda_timing_end(cuda->timing));
    pti_cuda_order_end(cuda->order);
    PTI_TRY(end_routes(cuda));
done:
    cuda->run->has_failed |= status != POLYTILE_OK;
    return status;
}

/** Wait for everything, whatever fails meanwhile. */
static void wait_for_everything(pti_cuda_device *cuda) {
    pti_cuda_rounds_abandon(cuda);
    for (int s = 0; s < pti_cuda_n_streams(cuda); s++)
        cuda->api->cudaStreamSynchronize(cuda->stream[s]);
    if (cuda->run->is_staging)
        pti_staging_finish(cuda->staging, false);
    pti_cuda_timing_abandon(cuda->timing);
    pti_cuda_order_end(cuda->order);
    end_routes(cuda);
    cuda->api->cudaGetLastError();
}

/** Wait for everything after complete_run() failed, and keep its error. */
static void recover_run(pti_cuda_device *cuda, polytile_status status) {
    polytile_context *ctx = cuda->device.object.context;
    pti_error first = {0};
    pti_error_keep(&first, ctx, status);
    wait_for_everything(cuda);
    pti_error_restore(ctx, &first);
}

/** Finish a run; does nothing if there was no memory to begin it. One that was cancelled ends as
 * one that failed: transfers that were looked ahead for never come. */
polytile_status pti_cuda_finish(polytile_device *device) {
    pti_cuda_device *cuda = pti_cuda_of(device);
    polytile_status status = POLYTILE_OK;
    if (cuda->run != NULL) {
        cuda->run->has_failed |= cuda->execution->is_cancelled;
        if (!cuda->run->has_failed)
            status = complete_run(cuda);
        if (cuda->run->has_failed)
            recover_run(cuda, status);
    }
    free(cuda->run);
    cuda->run = NULL;
    cuda->execution = NULL;
    pti_nvtx_pop();
    return status;
}
