#include "launch/cuda/runtime/order.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* A stream runs its operations in order. So only the last operation of another stream that it
 * waited for counts; those before need no wait. */

/** Events made at once, so that CUDA's memory for them is known when the device is opened. */
enum { FIRST_EVENTS = 64 };

/** One operation's event. */
typedef struct milestone {
    int n_waiters; /* streams that will wait for it and have not yet */
    int event;     /* in the pool, once recorded */
} milestone;

/** For each stream, the last operation of each other one that it waited for; -1: none. */
typedef struct progress {
    int64_t last[PTI_MAX_STREAMS][PTI_MAX_STREAMS];
} progress;

struct pti_cuda_order {
    pti_cuda_device *cuda;
    const pti_schedule *schedule; /* of the run, borrowed */
    milestone *of_op;             /* one an operation */
    int64_t op_capacity;
    progress reached;
    cudaEvent_t *event; /* all that were ever made */
    int *idle;          /* those not recorded, or whose waits are all enqueued */
    int n_events, n_idle, event_capacity;
};

static polytile_status grow_pool(pti_cuda_order *order, int capacity) {
    if (!PTI_RESIZE(order->event, capacity) || !PTI_RESIZE(order->idle, capacity))
        return pti_fail_memory(order->cuda->device.object.context, "the events between streams",
                               (double)capacity * sizeof *order->event);
    order->event_capacity = capacity;
    return POLYTILE_OK;
}

/** Add an event to the pool. */
static polytile_status add_event_to_pool(pti_cuda_order *order) {
    polytile_status status;
    if (order->n_events == order->event_capacity)
        PTI_TRY(grow_pool(order, (int)pti_max(FIRST_EVENTS, 2 * order->event_capacity)));
    PTI_TRY(PTI_CUDA(order->cuda, cudaEventCreateWithFlags,
                     (&order->event[order->n_events], cudaEventDisableTiming)));
    order->idle[order->n_idle++] = order->n_events++;
done:
    return status;
}

polytile_status pti_cuda_order_create(pti_cuda_device *cuda, pti_cuda_order **order) {
    polytile_status status = POLYTILE_OK;
    pti_cuda_order *made = calloc(1, sizeof *made);
    *order = NULL;
    if (made == NULL)
        return pti_fail_memory(cuda->device.object.context, "cuda", sizeof *made);
    made->cuda = cuda;
    while (made->n_events < FIRST_EVENTS)
        PTI_TRY(add_event_to_pool(made));
    *order = made;
    return POLYTILE_OK;
done:
    pti_cuda_order_destroy(made);
    return status;
}

void pti_cuda_order_destroy(pti_cuda_order *order) {
    if (order == NULL)
        return;
    for (int k = 0; k < order->n_events; k++)
        order->cuda->api->cudaEventDestroy(order->event[k]);
    free(order->event);
    free(order->idle);
    free(order->of_op);
    free(order);
}

static void forget_progress(progress *reached) {
    memset(reached->last, -1, sizeof reached->last);
}

/**
 * Find what a stream must still wait for before an operation, and record it as waited for.
 *
 * wait_for: of each stream the operation, or -1. False if there is none.
 */
static bool find_waits(const pti_schedule *schedule, progress *reached, const pti_op *op,
                       int64_t wait_for[PTI_MAX_STREAMS]) {
    pti_stream own = pti_op_stream(op);
    bool any = false;
    for (int s = 0; s < pti_schedule_n_streams(schedule); s++)
        wait_for[s] = -1;
    for (int w = 0; w < op->n_waits; w++) {
        int64_t other = schedule->wait[op->first_wait + w];
        pti_stream stream = pti_op_stream(&schedule->op[other]);
        if (stream != own && other > reached->last[own][stream]) {
            reached->last[own][stream] = other;
            wait_for[stream] = other;
            any = true;
        }
    }
    return any;
}

/** Count the waits as the run will enqueue them. */
static void count_waiters(pti_cuda_order *order, const pti_schedule *schedule) {
    int64_t wait_for[PTI_MAX_STREAMS];
    forget_progress(&order->reached);
    for (int64_t k = 0; k < schedule->n_ops; k++) {
        if (!find_waits(schedule, &order->reached, &schedule->op[k], wait_for))
            continue;
        for (int s = 0; s < pti_schedule_n_streams(schedule); s++) {
            if (wait_for[s] >= 0)
                order->of_op[wait_for[s]].n_waiters++;
        }
    }
}

static polytile_status reserve_milestones(pti_cuda_order *order, const pti_schedule *schedule) {
    if (schedule->n_ops <= order->op_capacity)
        return POLYTILE_OK;
    free(order->of_op);
    order->op_capacity = 0;
    order->of_op = malloc((size_t)schedule->n_ops * sizeof *order->of_op);
    if (order->of_op == NULL)
        return pti_fail_memory(order->cuda->device.object.context, schedule->instance->kernel_name,
                               (double)schedule->n_ops * sizeof *order->of_op);
    order->op_capacity = schedule->n_ops;
    return POLYTILE_OK;
}

polytile_status pti_cuda_order_begin(pti_cuda_order *order, const pti_schedule *schedule) {
    polytile_status status;
    PTI_TRY(reserve_milestones(order, schedule));
    if (schedule->n_ops > 0)
        memset(order->of_op, 0, (size_t)schedule->n_ops * sizeof *order->of_op);
    count_waiters(order, schedule);
    forget_progress(&order->reached);
    order->schedule = schedule;
done:
    return status;
}

static polytile_status enqueue_wait(pti_cuda_order *order, pti_stream stream, int64_t other) {
    milestone *of = &order->of_op[other];
    polytile_status status = PTI_CUDA(
        order->cuda, cudaStreamWaitEvent,
        (pti_cuda_stream(order->cuda, stream), order->event[of->event], cudaEventWaitDefault));
    if (--of->n_waiters == 0)
        order->idle[order->n_idle++] = of->event;
    return status;
}

polytile_status pti_cuda_order_wait(pti_cuda_order *order, const pti_command *command) {
    polytile_status status = POLYTILE_OK;
    int64_t wait_for[PTI_MAX_STREAMS];
    if (!find_waits(order->schedule, &order->reached, command->op, wait_for))
        return POLYTILE_OK;
    for (int s = 0; s < pti_schedule_n_streams(order->schedule); s++) {
        if (wait_for[s] >= 0)
            PTI_TRY(enqueue_wait(order, pti_op_stream(command->op), wait_for[s]));
    }
done:
    return status;
}

polytile_status pti_cuda_order_record(pti_cuda_order *order, const pti_command *command) {
    polytile_status status = POLYTILE_OK;
    milestone *of = &order->of_op[command->index];
    if (of->n_waiters == 0)
        return POLYTILE_OK;
    if (order->n_idle == 0)
        PTI_TRY(add_event_to_pool(order));
    of->event = order->idle[--order->n_idle];
    PTI_TRY(PTI_CUDA(
        order->cuda, cudaEventRecord,
        (order->event[of->event], pti_cuda_stream(order->cuda, pti_op_stream(command->op)))));
done:
    return status;
}

void pti_cuda_order_end(pti_cuda_order *order) {
    order->n_idle = order->n_events;
    for (int k = 0; k < order->n_events; k++)
        order->idle[k] = k;
    order->schedule = NULL;
}
