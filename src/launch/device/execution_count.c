#include "launch/device/execution.h"

#include "launch/device/trace.h"

/* What is known of a run while it goes on: operations done, bytes moved, arrays begun. */

void pti_execution_begin_count(pti_execution *run) {
    __atomic_store_n(&run->device->n_ops_done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&run->device->n_ops, run->schedule->n_ops, __ATOMIC_RELAXED);
}

/** Operations end about in their order. */
static void count_done(const pti_execution *run, int64_t n_done) {
    if (n_done > __atomic_load_n(&run->device->n_ops_done, __ATOMIC_RELAXED))
        __atomic_store_n(&run->device->n_ops_done, n_done, __ATOMIC_RELAXED);
}

void pti_execution_show(pti_execution *run, int64_t n_done) {
    count_done(run, n_done);
    if (n_done > 0)
        pti_progress_update(&run->progress, n_done - 1);
}

/** Return whether an operation's time is that of computing, in reports. */
static bool is_computing(const pti_op *op) {
    return op->kind == PTI_FILL || op->kind == PTI_LAUNCH;
}

void pti_execution_note(pti_execution *run, const pti_op *op, double start_s, double taken_s) {
    pti_trace_op(run->device, op, start_s, taken_s);
    *(is_computing(op) ? &run->report->compute_s : &run->report->transfer_s) += taken_s;
    count_done(run, op - run->schedule->op + 1);
    pti_progress_update(&run->progress, op - run->schedule->op);
}

static void begin_launch(pti_execution *run, const pti_op *op) {
    const pti_call *call = &run->schedule->launch[op->launch].call;
    for (int o = 0; o < call->instance->n_operands; o++) {
        if (call->instance->operand[o].writes)
            pti_completeness_begin(&run->completeness, call->array[o]);
    }
}

/** What a launch writes may stay on the device; a failure loses it as one in place does. */
void pti_execution_begin(pti_execution *run, const pti_command *command) {
    const pti_schedule *schedule = run->schedule;
    pti_op_kind kind = command->op->kind;
    run->device->n_ops_begun = command->index + 1;
    if (kind == PTI_DOWNLOAD || (schedule->in_place && kind == PTI_FILL))
        pti_completeness_begin(&run->completeness, command->operand);
    if (kind == PTI_LAUNCH && (schedule->in_place || !pti_schedule_is_of_one_launch(schedule)))
        begin_launch(run, command->op);
}

static void count_filled(pti_filled *filled, const pti_op *op) {
    if (filled->superblock != op->superblock)
        *filled = (pti_filled){.superblock = op->superblock};
    filled->n_elements += pti_box_count(&op->box);
}

void pti_execution_count(pti_execution *run, const pti_command *command) {
    const pti_op *op = command->op;
    run->report->h2d_bytes += op->kind == PTI_UPLOAD ? op->bytes : 0;
    run->report->d2h_bytes += op->kind == PTI_DOWNLOAD ? op->bytes : 0;
    run->report->n_kernels += op->kind == PTI_LAUNCH;
    if (op->kind == PTI_FILL)
        count_filled(&run->filled[command->operand], op);
}
