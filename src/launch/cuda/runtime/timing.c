#include "launch/cuda/runtime/timing.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/clock.h"
#include "launch/device/execution.h"
#include "launch/device/trace.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

/** Without a trace this many operations of a stream are timed, up to twice as many: each pair of
 * events delays its stream by 3 us (docs/ceilings.md). */
enum { N_TIMED = 16 };

/** Pairs of events made with the device, so that CUDA's memory for the first ones counts as the
 * device's overhead. */
enum { N_FIRST_PAIRS = 32 };

/** Streams are asked after this many operations, which costs up to a microsecond each; more often
 * if more pairs wait than a run without a trace has. */
enum { CALLS_BETWEEN_LOOKS = 64, MANY_PAIRS = 2 * N_TIMED * 4 };

/** cudaEventElapsedTime() has 24 bits: over this time they resolve 8 ns. */
static const double max_span_s = 0.1;

/** With a progress bar the end of a run is noticed late by this part of its time, within the limit;
 * below the least useful sleep the GPU is asked all the time. */
static const double watch_part = 0.005, min_sleep_s = 50e-6, max_sleep_s = 0.05;

/** The events around one operation, in a list of the pool or of a stream. */
typedef struct event_pair {
    struct event_pair *next;
    cudaEvent_t start;
    cudaEvent_t stop;
    int64_t op_index;
    double work;
} event_pair;

/** One stream of the current run. */
typedef struct lane {
    int64_t n_ops;  /* in the schedule */
    int64_t stride; /* one of this many is timed */
    int64_t n_seen;
    double work;       /* of the operations seen: threads of launches, bytes of others */
    double timed_work; /* of those whose times are known */
    double timed_s;
    event_pair *open;  /* started and not stopped; NULL: none */
    event_pair *first; /* enqueued, oldest first */
    event_pair *last;
    event_pair
        *anchor; /* an operation whose start is known, from which later starts are measured; NULL:
                     the origin */
    double anchor_s; /* its start, after the origin */
} lane;

struct pti_cuda_timing {
    pti_cuda_device *cuda;
    pti_execution *execution; /* NULL between runs */
    lane lane[PTI_MAX_STREAMS];
    event_pair *pool;   /* not in use; kept between runs */
    cudaEvent_t origin; /* recorded when a traced run begins */
    double origin_s;    /* on the clock of pti_now_s() */
    int64_t n_pending;  /* pairs in all lanes' lists */
    int n_calls;        /* of harvest, since it looked */
};

static void release_pair(pti_cuda_timing *timing, event_pair *unused) {
    unused->next = timing->pool;
    timing->pool = unused;
}

static void destroy_pair(const pti_cuda_timing *timing, event_pair *of) {
    if (of->start != NULL)
        timing->cuda->api->cudaEventDestroy(of->start);
    if (of->stop != NULL)
        timing->cuda->api->cudaEventDestroy(of->stop);
    free(of);
}

static polytile_status create_pair(pti_cuda_timing *timing, event_pair **made) {
    polytile_status status;
    *made = calloc(1, sizeof **made);
    if (*made == NULL)
        return pti_fail_memory(timing->cuda->device.object.context, "an event's place",
                               sizeof **made);
    PTI_TRY(PTI_CUDA(timing->cuda, cudaEventCreateWithFlags, (&(*made)->start, cudaEventDefault)));
    PTI_TRY(PTI_CUDA(timing->cuda, cudaEventCreateWithFlags, (&(*made)->stop, cudaEventDefault)));
    return POLYTILE_OK;
done:
    destroy_pair(timing, *made);
    *made = NULL;
    return status;
}

static polytile_status acquire_pair(pti_cuda_timing *timing, event_pair **taken) {
    if (timing->pool == NULL)
        return create_pair(timing, taken);
    *taken = timing->pool;
    timing->pool = timing->pool->next;
    return POLYTILE_OK;
}

static polytile_status fill_pool(pti_cuda_timing *timing) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < N_FIRST_PAIRS; k++) {
        event_pair *made = NULL;
        PTI_TRY(create_pair(timing, &made));
        release_pair(timing, made);
    }
done:
    return status;
}

polytile_status pti_cuda_timing_create(pti_cuda_device *cuda, pti_cuda_timing **timing) {
    polytile_status status;
    pti_cuda_timing *made = calloc(1, sizeof *made);
    *timing = NULL;
    if (made == NULL)
        return pti_fail_memory(cuda->device.object.context, "timing", sizeof *made);
    made->cuda = cuda;
    PTI_TRY(PTI_CUDA(cuda, cudaEventCreateWithFlags, (&made->origin, cudaEventDefault)));
    PTI_TRY(fill_pool(made));
    *timing = made;
    return POLYTILE_OK;
done:
    pti_cuda_timing_destroy(made);
    return status;
}

void pti_cuda_timing_destroy(pti_cuda_timing *timing) {
    if (timing == NULL)
        return;
    pti_cuda_timing_abandon(timing);
    while (timing->pool != NULL) {
        event_pair *unused = timing->pool;
        timing->pool = unused->next;
        destroy_pair(timing, unused);
    }
    if (timing->origin != NULL)
        timing->cuda->api->cudaEventDestroy(timing->origin);
    free(timing);
}

static bool is_traced(const pti_cuda_timing *timing) {
    return timing->cuda->device.trace != NULL;
}

static void count_ops(pti_cuda_timing *timing, const pti_schedule *schedule) {
    for (int64_t k = 0; k < schedule->n_ops; k++)
        timing->lane[pti_op_stream(&schedule->op[k])].n_ops++;
    for (int s = 0; s < pti_schedule_n_streams(schedule); s++)
        timing->lane[s].stride =
            is_traced(timing) ? 1 : pti_max(1, timing->lane[s].n_ops / N_TIMED);
}

/**
 * Find one point in time on the clocks of the GPU and of the host.
 *
 * The event happens between two readings of the host's clock, so their middle is wrong by at most
 * half their distance: some microseconds on an idle GPU, the same for the whole run. The clocks
 * drift by some microseconds a second, so every run measures anew.
 */
static polytile_status find_origin(pti_cuda_timing *timing) {
    pti_cuda_device *cuda = timing->cuda;
    polytile_status status;
    double before_s = pti_now_s();
    PTI_TRY(PTI_CUDA(cuda, cudaEventRecord, (timing->origin, cuda->stream[PTI_STREAM_COMPUTE])));
    PTI_TRY(PTI_CUDA(cuda, cudaEventSynchronize, (timing->origin)));
    timing->origin_s = 0.5 * (before_s + pti_now_s());
done:
    return status;
}

polytile_status pti_cuda_timing_begin(pti_cuda_timing *timing, pti_execution *execution) {
    pti_cuda_timing_abandon(timing);
    timing->execution = execution;
    count_ops(timing, execution->schedule);
    return is_traced(timing) ? find_origin(timing) : POLYTILE_OK;
}

static double work_of_command(const pti_command *command) {
    if (command->n_threads > 0)
        return command->n_threads;
    return command->op->kind == PTI_LAUNCH ? (double)pti_box_count(&command->op->box)
                                           : (double)command->op->bytes;
}

/** Return whether to time an operation: those in the middle of each stride, since the first ones
 * may differ. */
static bool is_to_be_timed(lane *of) {
    return of->n_seen++ % of->stride == of->stride / 2;
}

polytile_status pti_cuda_timing_start(pti_cuda_timing *timing, const pti_command *command) {
    pti_stream stream = pti_op_stream(command->op);
    lane *on = &timing->lane[stream];
    polytile_status status = POLYTILE_OK;
    on->work += work_of_command(command);
    if (!is_to_be_timed(on))
        return POLYTILE_OK;
    PTI_TRY(acquire_pair(timing, &on->open));
    on->open->op_index = command->index;
    on->open->work = work_of_command(command);
    PTI_TRY(PTI_CUDA(timing->cuda, cudaEventRecord,
                     (on->open->start, pti_cuda_stream(timing->cuda, stream))));
done:
    return status;
}

static void append_pair(pti_cuda_timing *timing, lane *to, event_pair *enqueued) {
    enqueued->next = NULL;
    *(to->first == NULL ? &to->first : &to->last->next) = enqueued;
    to->last = enqueued;
    timing->n_pending++;
}

polytile_status pti_cuda_timing_stop(pti_cuda_timing *timing, const pti_command *command) {
    pti_stream stream = pti_op_stream(command->op);
    lane *on = &timing->lane[stream];
    polytile_status status = POLYTILE_OK;
    if (on->open == NULL)
        return POLYTILE_OK;
    PTI_TRY(PTI_CUDA(timing->cuda, cudaEventRecord,
                     (on->open->stop, pti_cuda_stream(timing->cuda, stream))));
    append_pair(timing, on, on->open);
    on->open = NULL;
done:
    return status;
}

static event_pair *take_first(pti_cuda_timing *timing, lane *from) {
    event_pair *first = from->first;
    from->first = first->next;
    timing->n_pending--;
    return first;
}

static polytile_status elapsed_seconds(pti_cuda_timing *timing, cudaEvent_t from, cudaEvent_t to,
                                       double *seconds) {
    float milliseconds = 0;
    polytile_status status =
        PTI_CUDA(timing->cuda, cudaEventElapsedTime, (&milliseconds, from, to));
    *seconds = 1e-3 * (double)milliseconds;
    return status;
}

/** Measure the lane's later starts from this operation's. */
static void move_anchor(pti_cuda_timing *timing, lane *of, event_pair *to, double start_s) {
    if (of->anchor != NULL)
        release_pair(timing, of->anchor);
    of->anchor = to;
    of->anchor_s = start_s;
}

/** Write a finished operation to the trace; its pair becomes the anchor or goes to the pool. */
static polytile_status trace_operation(pti_cuda_timing *timing, lane *of, event_pair *done,
                                       double taken_s) {
    const pti_op *op = &timing->execution->schedule->op[done->op_index];
    cudaEvent_t from = of->anchor == NULL ? timing->origin : of->anchor->start;
    double span_s;
    polytile_status status = elapsed_seconds(timing, from, done->start, &span_s);
    if (status == POLYTILE_OK)
        pti_trace_op(&timing->cuda->device, op, timing->origin_s + of->anchor_s + span_s, taken_s);
    if (status == POLYTILE_OK && span_s > max_span_s)
        move_anchor(timing, of, done, of->anchor_s + span_s);
    else
        release_pair(timing, done);
    return status;
}

/** Record the oldest timed operation of a lane, which is done. */
static polytile_status note_times(pti_cuda_timing *timing, lane *of) {
    event_pair *done = take_first(timing, of);
    int64_t op_index = done->op_index;
    const double work = done->work;
    double taken_s;
    polytile_status status = elapsed_seconds(timing, done->start, done->stop, &taken_s);
    if (status == POLYTILE_OK && is_traced(timing))
        status = trace_operation(timing, of, done, taken_s);
    else
        release_pair(timing, done);
    if (status != POLYTILE_OK)
        return status;
    of->timed_s += taken_s;
    of->timed_work += work;
    pti_progress_update(&timing->execution->progress, op_index);
    return POLYTILE_OK;
}

static polytile_status look_at_lanes(pti_cuda_timing *timing) {
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < PTI_MAX_STREAMS; s++) {
        lane *of = &timing->lane[s];
        for (bool done = true; of->first != NULL && done;) {
            PTI_TRY(pti_cuda_is_done(timing->cuda, of->first->stop, &done));
            if (done)
                PTI_TRY(note_times(timing, of));
        }
    }
    pti_progress_show(&timing->execution->progress);
done:
    return status;
}

polytile_status pti_cuda_timing_harvest(pti_cuda_timing *timing) {
    if (++timing->n_calls < CALLS_BETWEEN_LOOKS && timing->n_pending < MANY_PAIRS)
        return POLYTILE_OK;
    timing->n_calls = 0;
    return look_at_lanes(timing);
}

static void rest_between_looks(double running_s) {
    double wanted_s = watch_part * running_s;
    double sleep_s = wanted_s > max_sleep_s ? max_sleep_s : wanted_s;
    if (sleep_s >= min_sleep_s)
        nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * sleep_s)}, NULL);
}

polytile_status pti_cuda_timing_watch(pti_cuda_timing *timing) {
    const pti_progress *progress = &timing->execution->progress;
    polytile_status status = POLYTILE_OK;
    while (pti_progress_may_show(progress) && timing->n_pending > 0) {
        PTI_TRY(look_at_lanes(timing));
        if (timing->n_pending > 0)
            rest_between_looks(pti_now_s() - progress->start_s);
    }
done:
    return status;
}

/** Estimate the time of all of a lane's operations from the timed ones. */
static double extrapolate_time(const lane *of) {
    return of->timed_work > 0 ? of->timed_s * of->work / of->timed_work : of->timed_s;
}

polytile_status pti_cuda_timing_end(pti_cuda_timing *timing) {
    polytile_report *report = timing->execution->report;
    polytile_status status = POLYTILE_OK;
    for (int s = 0; s < PTI_MAX_STREAMS; s++) {
        while (timing->lane[s].first != NULL)
            PTI_TRY(note_times(timing, &timing->lane[s]));
    }
    report->compute_s = 0;
    for (int s = PTI_STREAM_COMPUTE; s < PTI_MAX_STREAMS; s++)
        report->compute_s = fmax(report->compute_s, extrapolate_time(&timing->lane[s]));
    report->transfer_s = extrapolate_time(&timing->lane[PTI_STREAM_IN]) +
                         extrapolate_time(&timing->lane[PTI_STREAM_OUT]);
done:
    pti_cuda_timing_abandon(timing);
    return status;
}

void pti_cuda_timing_abandon(pti_cuda_timing *timing) {
    for (int s = 0; s < PTI_MAX_STREAMS; s++) {
        lane *of = &timing->lane[s];
        while (of->first != NULL)
            release_pair(timing, take_first(timing, of));
        if (of->open != NULL)
            release_pair(timing, of->open);
        if (of->anchor != NULL)
            release_pair(timing, of->anchor);
        *of = (lane){0};
    }
    timing->n_calls = 0;
    timing->execution = NULL;
}
