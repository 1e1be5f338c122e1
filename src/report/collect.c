#include "report/collect.h"

#include "base/checked.h"
#include "base/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Times beyond are none: three centuries do not fit nanoseconds of 64 bits. */
#define MOST_US 1e15

static polytile_status refuse_event(const pti_trace_collector *collector,
                                    const pti_trace_event *event, const char *what) {
    return pti_fail(collector->ctx, POLYTILE_INVALID, "%s: event %" PRId64 " (\"%.200s\") %s",
                    collector->path, collector->n_events, event->name == NULL ? "" : event->name,
                    what);
}

/* Processes and tracks. */

static int find_process(const polytile_trace *to, int64_t pid) {
    int k = to->n_processes - 1;
    while (k >= 0 && to->process[k].pid != pid)
        k--;
    return k;
}

static int find_track(const polytile_trace *to, int process, int64_t tid) {
    int k = to->n_tracks - 1;
    while (k >= 0 && (to->track[k].process != process || to->track[k].tid != tid))
        k--;
    return k;
}

static polytile_status add_process(pti_trace_collector *collector, const pti_trace_event *event,
                                   int64_t pid, int *process) {
    polytile_trace *to = collector->to;
    *process = find_process(to, pid);
    if (*process >= 0)
        return POLYTILE_OK;
    if (to->n_processes == PTI_MOST_TRACED_PROCESSES)
        return refuse_event(collector, event,
                            "is of one process more than the 1024 that a report can have");
    if (!PTI_RESIZE(to->process, to->n_processes + 1))
        return pti_fail_memory(collector->ctx, "a process of a trace", sizeof *to->process);
    to->process[to->n_processes] = (pti_traced_process){.pid = pid};
    *process = to->n_processes++;
    return POLYTILE_OK;
}

static polytile_status add_track(pti_trace_collector *collector, const pti_trace_event *event,
                                 int process, int64_t tid, int *track) {
    polytile_trace *to = collector->to;
    *track = find_track(to, process, tid);
    if (*track >= 0)
        return POLYTILE_OK;
    if (to->n_tracks == PTI_MOST_TRACED_TRACKS)
        return refuse_event(collector, event,
                            "is of one thread more than the 4096 that a report can have");
    if (!PTI_RESIZE(to->track, to->n_tracks + 1))
        return pti_fail_memory(collector->ctx, "a track of a trace", sizeof *to->track);
    to->track[to->n_tracks] = (pti_traced_track){.process = process, .tid = tid, .place = tid};
    *track = to->n_tracks++;
    return POLYTILE_OK;
}

/** Find the process and, where the event has a thread or needs one, the track. */
static polytile_status find_process_and_track(pti_trace_collector *collector,
                                              const pti_trace_event *event, bool needs_track,
                                              int *process, int *track) {
    polytile_status status;
    *track = -1;
    if (!event->pid.is_whole)
        return refuse_event(collector, event, "has no process: pid, a whole number");
    if (needs_track && !event->tid.is_whole)
        return refuse_event(collector, event, "has no thread: tid, a whole number");
    PTI_TRY(add_process(collector, event, event->pid.whole, process));
    if (needs_track)
        PTI_TRY(add_track(collector, event, *process, event->tid.whole, track));
done:
    return status;
}

/* Numbers. */

static int64_t whole_of(pti_event_number number) {
    return number.is_whole ? pti_max(number.whole, 0) : 0;
}

static double real_of(pti_event_number number) {
    return number.real > 0 && isfinite(number.real) ? number.real : 0;
}

static polytile_status read_time(const pti_trace_collector *collector, const pti_trace_event *event,
                                 const char *key, pti_event_number value, int64_t *time_ns) {
    char what[80];
    const double time_us = value.real;
    snprintf(what, sizeof what, "has no %s, a number of microseconds", key);
    if (!value.is_there)
        return refuse_event(collector, event, what);
    snprintf(what, sizeof what, "has a %s out of range: %g us", key, time_us);
    if (!(fabs(time_us) <= MOST_US))
        return refuse_event(collector, event, what);
    *time_ns = llround(1e3 * time_us);
    return POLYTILE_OK;
}

/* What events say. */

static polytile_status set_name(const pti_trace_collector *collector, const char *text,
                                char **name) {
    static const char program[] = "polytile ";
    if (text == NULL)
        return POLYTILE_OK;
    if (strncmp(text, program, sizeof program - 1) == 0)
        text += sizeof program - 1;
    free(*name);
    *name = strdup(text);
    return *name == NULL
               ? pti_fail_memory(collector->ctx, "a name of a trace", (double)strlen(text) + 1)
               : POLYTILE_OK;
}

/** Names and places of processes and threads. */
static polytile_status take_metadata(pti_trace_collector *collector, const pti_trace_event *event) {
    const char *name = event->name;
    const bool is_of_thread = name != NULL && strncmp(name, "thread_", 7) == 0;
    polytile_status status;
    int process, track;
    if (name == NULL || (!is_of_thread && strcmp(name, "process_name") != 0))
        return POLYTILE_OK;
    PTI_TRY(find_process_and_track(collector, event, is_of_thread, &process, &track));
    pti_traced_process *device = &collector->to->process[process];
    if (!is_of_thread) {
        device->limit_bytes = whole_of(event->limit_bytes);
        device->in_bytes_per_s = real_of(event->upload_bytes_per_s);
        device->out_bytes_per_s = real_of(event->download_bytes_per_s);
        PTI_TRY(set_name(collector, event->given_name, &device->name));
        device->is_program = device->name != NULL && strcmp(device->name, "program") == 0;
        return POLYTILE_OK;
    }
    if (strcmp(name, "thread_sort_index") == 0)
        collector->to->track[track].place = event->sort_index.whole;
    if (strcmp(name, "thread_name") == 0)
        status = set_name(collector, event->given_name, &collector->to->track[track].name);
done:
    return status;
}

/** Count a run, unless this is a further track of one that is counted. */
static polytile_status take_run(pti_trace_collector *collector, const pti_trace_event *event) {
    const int64_t number = whole_of(event->run);
    polytile_status status;
    int process, track;
    PTI_TRY(find_process_and_track(collector, event, false, &process, &track));
    pti_traced_process *device = &collector->to->process[process];
    if (number <= device->last_run)
        return POLYTILE_OK;
    device->last_run = number;
    device->n_runs++;
    device->n_launches = pti_add_saturated(device->n_launches, whole_of(event->launches));
    device->n_superblocks = pti_add_saturated(device->n_superblocks, whole_of(event->superblocks));
    device->peak_bytes = pti_max(device->peak_bytes, whole_of(event->peak_bytes));
    device->planned_bytes =
        pti_add_saturated(device->planned_bytes, whole_of(event->planned_bytes));
    device->n_bounded_runs += event->bound_bytes.is_whole;
    device->bound_bytes = pti_add_saturated(device->bound_bytes, whole_of(event->bound_bytes));
done:
    return status;
}

/** Count an operation with those of its kind, of its process and of its track. */
static void count_in_kind(polytile_trace *to, const pti_traced_slice *slice, int64_t bytes) {
    pti_traced_kind *kind = &to->kind[slice->kind];
    pti_traced_process *process = &to->process[kind->process];
    const int64_t taken_ns = slice->end_ns - slice->begin_ns;
    kind->least_ns = kind->n == 0 ? taken_ns : pti_min(kind->least_ns, taken_ns);
    kind->most_ns = pti_max(kind->most_ns, taken_ns);
    kind->total_ns = pti_add_saturated(kind->total_ns, taken_ns);
    kind->bytes = pti_add_saturated(kind->bytes, bytes);
    kind->n++;
    process->is_device |= kind->work < PTI_WORK_PLAN;
    process->n_kernels += kind->work == PTI_WORK_LAUNCH;
    if (kind->work == PTI_WORK_UPLOAD)
        process->in_bytes = pti_add_saturated(process->in_bytes, bytes);
    if (kind->work == PTI_WORK_DOWNLOAD)
        process->out_bytes = pti_add_saturated(process->out_bytes, bytes);
    to->track[slice->track].n_slices++;
}

/** Keep an operation with its begin and duration. */
static polytile_status take_slice(pti_trace_collector *collector, const pti_trace_event *event) {
    polytile_trace *to = collector->to;
    pti_traced_slice slice = {0};
    polytile_status status;
    int64_t taken_ns;
    int process;
    PTI_TRY(find_process_and_track(collector, event, true, &process, &slice.track));
    PTI_TRY(read_time(collector, event, "ts", event->ts, &slice.begin_ns));
    PTI_TRY(read_time(collector, event, "dur", event->dur, &taken_ns));
    if (taken_ns < 0)
        return refuse_event(collector, event,
                            "has a negative duration; its clock was set back, or it was edited");
    slice.end_ns = slice.begin_ns + taken_ns;
    if (to->n_slices == PTI_MOST_TRACED_SLICES)
        return refuse_event(collector, event,
                            "is one operation more than the 200 million that a report can have");
    PTI_TRY(pti_trace_find_kind(collector, process, event, &slice.kind));
    if (!PTI_GROW(to->slice, to->n_slices, &to->slice_capacity))
        return pti_fail_memory(collector->ctx, "operations of a trace",
                               2.0 * (double)to->slice_capacity * sizeof slice);
    to->slice[to->n_slices++] = slice;
    count_in_kind(to, &slice, whole_of(event->bytes));
done:
    return status;
}

polytile_status pti_trace_collect(pti_trace_collector *collector, const pti_trace_event *event) {
    const char *phase = event->phase, *category = event->category;
    collector->n_events++;
    if (phase == NULL)
        return refuse_event(collector, event, "has no phase: ph, such as \"X\"");
    if (strcmp(phase, "X") == 0)
        return take_slice(collector, event);
    if (strcmp(phase, "M") == 0)
        return take_metadata(collector, event);
    if (strcmp(phase, "B") == 0 && category != NULL && strcmp(category, "run") == 0)
        return take_run(collector, event);
    collector->to->n_left_out += strcmp(phase, "E") != 0;
    return POLYTILE_OK;
}

void pti_trace_collector_free(pti_trace_collector *collector) {
    free(collector->bucket);
}
