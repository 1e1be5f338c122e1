#include "launch/cuda/rounds.h"

#include "base/clock.h"
#include "base/list.h"
#include "launch/cuda/kernel.h"
#include "launch/cuda/loop.h"
#include "launch/cuda/runtime/order.h"
#include "launch/cuda/runtime/timing.h"
#include "launch/device/execution.h"

#include <stdlib.h>
#include <string.h>

/** A launch whose rounds go on; one a stream at most that the host enqueues round by round. */
typedef struct going {
    bool is_going;
    bool is_looping;      /* the GPU runs its rounds by itself, or has done so */
    pti_command command;  /* with views of its own */
    polytile_view *views; /* owned, and kept for the next launch */
    int n_views;          /* there is room for */
    polytile_repetition repetition;
    cudaEvent_t done; /* after the copy of the last round's number, or the loop */
} going;

struct pti_cuda_rounds {
    int n_going;
    int32_t *number; /* pinned: of each stream whether there is another round; then whether loops
                        are to stop */
    going on[PTI_MAX_LANES];
};

polytile_status pti_cuda_end_command(pti_cuda_device *cuda, const pti_command *command) {
    polytile_status status;
    PTI_TRY(pti_cuda_timing_stop(cuda->timing, command));
    PTI_TRY(pti_cuda_order_record(cuda->order, command));
done:
    return status;
}

enum { N_NUMBERS = PTI_MAX_LANES + 1, STOP = PTI_MAX_LANES };

/** The host waits for a loop busily for so long, and then looks every so often. */
static const double busy_s = 50e-6;
static const struct timespec pause = {.tv_nsec = 20000};

/** The streams of lanes are numbered from 0; later lanes share them. */
static int stream_of(const pti_cuda_device *cuda, const pti_op *op) {
    return op->lane % cuda->n_lanes;
}

static polytile_status create_rounds(pti_cuda_device *cuda) {
    polytile_status status = POLYTILE_OK;
    void *memory = NULL;
    if (cuda->rounds == NULL)
        cuda->rounds = calloc(1, sizeof *cuda->rounds);
    if (cuda->rounds == NULL)
        return pti_fail_memory(pti_cuda_context_of(cuda), "rounds", sizeof *cuda->rounds);
    if (cuda->rounds->number == NULL)
        PTI_TRY(PTI_CUDA(cuda, cudaHostAlloc,
                         (&memory, N_NUMBERS * sizeof *cuda->rounds->number,
                          cudaHostAllocMapped | cudaHostAllocPortable)));
    if (memory != NULL)
        cuda->rounds->number = memory;
done:
    return status;
}

static polytile_status reserve_going(pti_cuda_device *cuda, going *of, int n_views) {
    polytile_status status = POLYTILE_OK;
    if (of->done == NULL)
        PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&of->done, cudaEventDisableTiming)));
    if (n_views > of->n_views && !PTI_RESIZE(of->views, n_views))
        return pti_fail_memory(pti_cuda_context_of(cuda), "the views of a launcher",
                               (double)n_views * sizeof *of->views);
    of->n_views = n_views > of->n_views ? n_views : of->n_views;
done:
    return status;
}

/** Enqueue the copy of a round's number behind the round. */
static polytile_status fetch_number(pti_cuda_device *cuda, const going *of) {
    const int k = stream_of(cuda, of->command.op);
    cudaStream_t stream = pti_cuda_stream(cuda, pti_lane_stream(k));
    polytile_status status;
    PTI_TRY(PTI_CUDA(cuda, cudaMemcpyAsync,
                     (&cuda->rounds->number[k], of->repetition.condition,
                      sizeof *cuda->rounds->number, cudaMemcpyDeviceToHost, stream)));
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (of->done, stream)));
done:
    return status;
}

static polytile_status begin_going(pti_cuda_device *cuda, going *of) {
    polytile_status status;
    PTI_TRY(fetch_number(cuda, of));
    of->is_going = true;
    cuda->rounds->n_going++;
done:
    return status;
}

/** End a command whose loop is enqueued. */
static polytile_status end_looping(pti_cuda_device *cuda, const going *of) {
    polytile_status status;
    PTI_TRY(pti_cuda_end_command(cuda, &of->command));
    PTI_TRY(PTI_CUDA(
        cuda, cudaEventRecord,
        (of->done, pti_cuda_stream(cuda, pti_lane_stream(stream_of(cuda, of->command.op))))));
done:
    return status;
}

polytile_status pti_cuda_rounds_begin(pti_cuda_device *cuda, const pti_command *command,
                                      const int32_t *condition) {
    const int n_views = pti_sub_kernel_n_views(&command->sub_kernel);
    polytile_status status;
    PTI_TRY(create_rounds(cuda));
    going *of = &cuda->rounds->on[stream_of(cuda, command->op)];
    PTI_TRY(reserve_going(cuda, of, n_views));
    memcpy(of->views, command->sub_kernel.views, (size_t)n_views * sizeof *of->views);
    of->command = *command;
    of->command.sub_kernel.views = of->views;
    of->command.sub_kernel.repetition = &of->repetition;
    of->repetition = (polytile_repetition){.condition = condition};
    cuda->rounds->number[STOP] = 0;
    of->is_looping =
        pti_cuda_loop_enqueue(cuda, &of->command.sub_kernel, &cuda->rounds->number[STOP]);
    PTI_TRY(of->is_looping ? end_looping(cuda, of) : begin_going(cuda, of));
done:
    return status;
}

static polytile_status end_going(pti_cuda_device *cuda, going *of) {
    of->is_going = false;
    cuda->rounds->n_going--;
    return pti_cuda_end_command(cuda, &of->command);
}

static polytile_status enqueue_round(pti_cuda_device *cuda, going *of) {
    polytile_status status;
    of->repetition.round++;
    of->repetition.condition = NULL;
    of->command.sub_kernel.is_first = false;
    PTI_TRY(pti_cuda_launch(cuda, &of->command.sub_kernel));
    PTI_TRY(of->repetition.condition == NULL ? end_going(cuda, of) : fetch_number(cuda, of));
done:
    return status;
}

/** Go on with a launch if its last round is done. Error texts name it. */
static polytile_status go_on(pti_cuda_device *cuda, going *of) {
    const pti_command *submitted = cuda->command;
    polytile_status status;
    bool is_done;
    cuda->command = &of->command;
    PTI_TRY(pti_cuda_is_done(cuda, of->done, &is_done));
    if (is_done)
        PTI_TRY(cuda->rounds->number[stream_of(cuda, of->command.op)] == 0
                    ? end_going(cuda, of)
                    : enqueue_round(cuda, of));
done:
    cuda->command = submitted;
    return status;
}

static polytile_status refuse_cancelled(pti_cuda_device *cuda, const going *of) {
    cuda->execution->is_cancelled = true;
    if (of->is_looping)
        return pti_fail(pti_cuda_context_of(cuda), POLYTILE_CANCELLED,
                        "%s: cancelled on %s, within the rounds of a launcher",
                        of->command.sub_kernel.instance->kernel_name, cuda->device.text);
    return pti_fail(pti_cuda_context_of(cuda), POLYTILE_CANCELLED,
                    "%s: cancelled on %s, after %lld rounds of a launcher",
                    of->command.sub_kernel.instance->kernel_name, cuda->device.text,
                    (long long)of->repetition.round + 1);
}

/** Run rounds of all launches until one has no more. */
static polytile_status run_rounds(pti_cuda_device *cuda, const going *until) {
    polytile_status status = POLYTILE_OK;
    while (until->is_going) {
        if (pti_execution_is_cancelled(cuda->execution))
            return refuse_cancelled(cuda, until);
        for (int k = 0; k < cuda->n_lanes; k++)
            if (cuda->rounds->on[k].is_going)
                PTI_TRY(go_on(cuda, &cuda->rounds->on[k]));
    }
done:
    return status;
}

/** Wait until the GPU has run a loop to its end, unless the run is cancelled. */
static polytile_status await_loop(pti_cuda_device *cuda, going *of) {
    const double start_s = pti_now_s();
    polytile_status status = POLYTILE_OK;
    while (of->is_looping) {
        bool is_done;
        if (pti_execution_is_cancelled(cuda->execution))
            return refuse_cancelled(cuda, of);
        PTI_TRY(pti_cuda_is_done(cuda, of->done, &is_done));
        of->is_looping = !is_done;
        if (of->is_looping && pti_now_s() - start_s > busy_s)
            nanosleep(&pause, NULL);
    }
done:
    return status;
}

/** Before an operation, run the host-enqueued rounds of an operation that it waits for; if the host
 * itself waits, also those that the GPU runs. */
static polytile_status await_op(pti_cuda_device *cuda, int64_t index, bool host_waits) {
    const pti_op *op = &cuda->execution->schedule->op[index];
    going *of = &cuda->rounds->on[stream_of(cuda, op)];
    polytile_status status = POLYTILE_OK;
    if (op->kind != PTI_LAUNCH || of->command.index != index)
        return POLYTILE_OK;
    PTI_TRY(run_rounds(cuda, of));
    if (host_waits)
        PTI_TRY(await_loop(cuda, of));
done:
    return status;
}

polytile_status pti_cuda_rounds_await(pti_cuda_device *cuda, const pti_command *command,
                                      bool host_waits) {
    const pti_schedule *schedule = cuda->execution->schedule;
    const pti_op *op = command->op;
    polytile_status status = POLYTILE_OK;
    if (cuda->rounds == NULL)
        return POLYTILE_OK;
    if (pti_op_stream(op) >= PTI_STREAM_COMPUTE)
        PTI_TRY(run_rounds(cuda, &cuda->rounds->on[stream_of(cuda, op)]));
    for (int w = 0; w < op->n_waits; w++)
        PTI_TRY(await_op(cuda, schedule->wait[op->first_wait + w], host_waits));
done:
    return status;
}

polytile_status pti_cuda_rounds_finish(pti_cuda_device *cuda) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; cuda->rounds != NULL && k < cuda->n_lanes; k++)
        PTI_TRY(run_rounds(cuda, &cuda->rounds->on[k]));
    for (int k = 0; cuda->rounds != NULL && k < cuda->n_lanes; k++)
        PTI_TRY(await_loop(cuda, &cuda->rounds->on[k]));
done:
    return status;
}

void pti_cuda_rounds_abandon(pti_cuda_device *cuda) {
    if (cuda->rounds == NULL)
        return;
    for (int k = 0; k < PTI_MAX_LANES; k++)
        cuda->rounds->on[k].is_going = cuda->rounds->on[k].is_looping = false;
    cuda->rounds->n_going = 0;
    if (cuda->rounds->number != NULL)
        cuda->rounds->number[STOP] = 1;
}

void pti_cuda_rounds_destroy(pti_cuda_device *cuda) {
    if (cuda->rounds == NULL)
        return;
    for (int k = 0; k < PTI_MAX_LANES; k++) {
        if (cuda->rounds->on[k].done != NULL)
            cuda->api->cudaEventDestroy(cuda->rounds->on[k].done);
        free(cuda->rounds->on[k].views);
    }
    if (cuda->rounds->number != NULL)
        cuda->api->cudaFreeHost(cuda->rounds->number);
    free(cuda->rounds);
    cuda->rounds = NULL;
}
