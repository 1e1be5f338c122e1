#include "launch/device/trace.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A file that several devices write to, an event at a time: an open JSON array of events. */
typedef struct trace_file {
    FILE *stream;
    char *path; /* for error texts */
    double start_s;
    int n_writers; /* traces that have not ended */
    bool has_events;
    int64_t host_end_ns; /* of the last slice of the host's thread */
} trace_file;

/** The tracks of a device: its streams, and the thread that plans for it. */
enum { PLAN_TRACK = PTI_MAX_STREAMS, N_TRACKS };

/** One track's slices so far. */
typedef struct track {
    int64_t end_ns; /* of the last slice */
    bool is_in_run; /* the run's slice is open */
} track;

/**
 * The trace of one device.
 *
 * Units  Whole nanoseconds since the file's start_s, so that printed times compare as these, in any
 *        locale.
 */
struct pti_trace {
    trace_file *to;
    int pid;                      /* of the device, in the file */
    const pti_schedule *whole;    /* of the run in progress, borrowed; NULL between runs */
    const pti_schedule *schedule; /* the same, or the stretch of it that runs */
    int64_t first_superblock;     /* of the stretch, in the run */
    int64_t n_runs;               /* that have begun */
    int64_t planned_bytes;        /* of the run in progress, both ways */
    int64_t bound_bytes;          /* of it; NO_BOUND: not known */
    int64_t run_begin_ns;
    track track[N_TRACKS];
};

/** In place of a lower bound: there is none. */
enum { NO_BOUND = -1 };

/** Slabs of a chain are in two lanes on any device. */
enum { LEAST_LANES = 2 };

/** The name and the place of each track but those of later lanes, which follow the first one's. */
static const struct {
    const char *name;
    int place;
} tracks[N_TRACKS] = {
    [PTI_STREAM_IN] = {"in", 0},
    [PTI_STREAM_COMPUTE] = {"compute", 1},
    [PTI_STREAM_OUT] = {"out", 1 + PTI_MAX_LANES},
    [PLAN_TRACK] = {"plan", 2 + PTI_MAX_LANES},
};

/** The process of the host's thread in the file; devices follow. */
enum { HOST_PID = 0 };

/** Microseconds with three decimals, from nanoseconds that are not negative. */
#define MICROSECONDS   "%" PRId64 ".%03" PRId64
#define IN_US(time_ns) (time_ns) / 1000, (time_ns) % 1000

/** Print a name, escaped for a JSON string. */
static void print_escaped(FILE *file, const char *text) {
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            fprintf(file, "%s%c", c == '"' || c == '\\' ? "\\" : "", c);
    }
}

/** Print the name of a process, the program or a device, and what else is known of it. */
static void print_process(trace_file *to, int pid, const char *name, const char *figures) {
    FILE *file = to->stream;
    fprintf(file,
            "%s{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, "
            "\"args\": {\"name\": \"polytile ",
            to->has_events ? ",\n" : "", pid);
    print_escaped(file, name);
    fprintf(file, "\"%s}}", figures);
    to->has_events = true;
}

static void print_track(FILE *file, int pid, int tid, const char *name, int place) {
    fprintf(file,
            ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, "
            "\"args\": {\"name\": \"%s\"}}"
            ",\n{\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": %d, \"tid\": %d, "
            "\"args\": {\"sort_index\": %d}}",
            pid, tid, name, pid, tid, place);
}

/** Write what a file says first of a device: its name, its limit and its link, and the names of its
 * tracks. Rates are whole numbers, the same in any locale. */
static void print_device(trace_file *to, int pid, const polytile_device *device) {
    FILE *file = to->stream;
    char figures[160] = "", rates[100] = "";
    if (device->has_measured_link)
        snprintf(rates, sizeof rates,
                 ", \"upload_bytes_per_s\": %.0f, \"download_bytes_per_s\": %.0f",
                 device->link.upload_bytes_per_s, device->link.download_bytes_per_s);
    snprintf(figures, sizeof figures, ", \"limit_bytes\": %" PRId64 "%s", device->limit_bytes,
             rates);
    print_process(to, pid, device->text, figures);
    for (int t = 0; t < N_TRACKS; t++)
        if (tracks[t].name != NULL)
            print_track(file, pid, t, tracks[t].name, tracks[t].place);
    for (int lane = 1; lane < pti_max(device->n_lanes, LEAST_LANES); lane++) {
        char name[32];
        snprintf(name, sizeof name, "compute, lane %d", lane);
        print_track(file, pid, (int)pti_lane_stream(lane), name, 1 + lane);
    }
}

static FILE *open_stream(const char *path) {
    FILE *file;
    do
        file = fopen(path, "w");
    while (file == NULL && errno == EINTR);
    return file;
}

static void free_file(trace_file *file) {
    free(file->path);
    free(file);
}

/** Create a file with its head, and no writers yet. Of several devices it begins with the
 * program. */
static polytile_status create_file(polytile_context *ctx, const char *path, int n_devices,
                                   trace_file **file) {
    trace_file *made = calloc(1, sizeof *made);
    char *copy = strdup(path);
    FILE *stream = made == NULL || copy == NULL ? NULL : open_stream(path);
    *file = made;
    if (stream != NULL) {
        *made = (trace_file){.stream = stream, .path = copy, .start_s = pti_now_s()};
        fprintf(stream, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
        if (n_devices > 1)
            print_process(made, HOST_PID, "program", "");
        return POLYTILE_OK;
    }
    polytile_status status =
        made == NULL || copy == NULL || errno == ENOMEM
            ? pti_fail_memory(ctx, "trace", sizeof *made)
            : pti_fail(ctx, POLYTILE_IO, "trace %s: cannot be written: %s", path, strerror(errno));
    free(made);
    free(copy);
    return status;
}

/** Note that one device less writes to a file; the last one finishes it. */
static polytile_status leave_file(polytile_context *ctx, trace_file *file) {
    polytile_status status = POLYTILE_OK;
    if (__atomic_sub_fetch(&file->n_writers, 1, __ATOMIC_ACQ_REL) > 0)
        return POLYTILE_OK;
    fprintf(file->stream, "\n]}\n");
    bool failed = ferror(file->stream) != 0;
    if (fclose(file->stream) != 0 || failed)
        status = pti_fail(ctx, POLYTILE_IO, "trace %s: not all of it could be written: %s",
                          file->path, strerror(errno));
    free_file(file);
    return status;
}

static polytile_status end_traces(int n_devices, polytile_device *const *devices) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < n_devices; k++) {
        polytile_status ended = pti_trace_end(devices[k]);
        status = status == POLYTILE_OK ? ended : status;
    }
    return status;
}

/** Note that one more device writes to a file. */
static polytile_status join_file(polytile_device *device, int pid, trace_file *file) {
    struct pti_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return pti_fail_memory(device->object.context, "trace", sizeof *trace);
    *trace = (struct pti_trace){.to = file, .pid = pid, .bound_bytes = NO_BOUND};
    __atomic_add_fetch(&file->n_writers, 1, __ATOMIC_RELAXED);
    print_device(file, pid, device);
    device->trace = trace;
    return POLYTILE_OK;
}

polytile_status pti_trace_begin(polytile_context *ctx, int n_devices,
                                polytile_device *const *devices, const char *path) {
    trace_file *file;
    polytile_status status;
    PTI_TRY(end_traces(n_devices, devices));
    if (path == NULL)
        return POLYTILE_OK;
    PTI_TRY(create_file(ctx, path, n_devices, &file));
    file->n_writers = 1;
    for (int k = 0; k < n_devices && status == POLYTILE_OK; k++)
        status = join_file(devices[k], k + 1, file);
    if (status != POLYTILE_OK)
        end_traces(n_devices, devices);
    polytile_status left = leave_file(ctx, file);
    status = status == POLYTILE_OK ? left : status;
done:
    return status;
}

polytile_status polytile_device_trace(polytile_device *device, const char *path) {
    PTI_ENTER(device, device->object.context, "device");
    if (device->queue != NULL)
        device->wait(device->queue);
    return pti_trace_begin(device->object.context, 1, &device, path);
}

static int64_t since_start_ns(const trace_file *file, double time_s) {
    return llround(1e9 * (time_s - file->start_s));
}

static int64_t count_moved_bytes(const pti_schedule *schedule) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < schedule->n_ops; k++)
        if (schedule->op[k].kind == PTI_UPLOAD || schedule->op[k].kind == PTI_DOWNLOAD)
            bytes = pti_add_saturated(
                bytes, pti_mul_saturated(pti_schedule_times(schedule, k), schedule->op[k].bytes));
    return bytes;
}

void pti_trace_bound(polytile_device *device, int64_t bound_bytes) {
    if (device->trace != NULL)
        device->trace->bound_bytes = bound_bytes;
}

void pti_trace_run_begin(polytile_device *device, const pti_schedule *schedule) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL)
        return;
    trace->whole = trace->schedule = schedule;
    trace->first_superblock = 0;
    trace->n_runs++;
    trace->planned_bytes = count_moved_bytes(schedule);
    trace->run_begin_ns = since_start_ns(trace->to, pti_now_s());
}

void pti_trace_run_go_on(polytile_device *device, const pti_schedule *stretch,
                         int64_t first_superblock) {
    if (device->trace == NULL)
        return;
    device->trace->schedule = stretch;
    device->trace->first_superblock = first_superblock;
}

/** Print what is known of a run. Its number is the same on all tracks. */
static void print_run(const struct pti_trace *trace) {
    FILE *file = trace->to->stream;
    const pti_schedule *schedule = trace->whole;
    fprintf(file,
            "{\"run\": %" PRId64 ", \"launches\": %d, \"superblocks\": %" PRId64
            ", \"peak_bytes\": %" PRId64 ", \"planned_bytes\": %" PRId64,
            trace->n_runs, schedule->n_launches, pti_schedule_n_kernels(schedule),
            schedule->arena_bytes, trace->planned_bytes);
    if (trace->bound_bytes != NO_BOUND)
        fprintf(file, ", \"bound_bytes\": %" PRId64, trace->bound_bytes);
    fprintf(file, "}}");
}

/** Open the run's slice on a track before its first operation; unused tracks stay empty. */
static void enter_run(struct pti_trace *trace, int tid) {
    track *on = &trace->track[tid];
    if (on->is_in_run)
        return;
    on->is_in_run = true;
    on->end_ns = pti_max(on->end_ns, trace->run_begin_ns);
    FILE *file = trace->to->stream;
    fprintf(file, ",\n{\"name\": \"run ");
    print_escaped(file, trace->schedule->instance->kernel_name);
    fprintf(file,
            "\", \"cat\": \"run\", \"ph\": \"B\", \"ts\": " MICROSECONDS
            ", \"pid\": %d, \"tid\": %d, \"args\": ",
            IN_US(on->end_ns), trace->pid, tid);
    print_run(trace);
}

static void print_name(FILE *file, const char *word, const char *subject) {
    fprintf(file, ",\n{\"name\": \"%s ", word);
    print_escaped(file, subject);
    fprintf(file, "\", \"cat\": \"%s\", \"ph\": \"X\", ", word);
}

/** Print when and where an event was, which ends it. */
static void print_slice(FILE *file, int64_t start_ns, int64_t end_ns, int pid, int tid) {
    fprintf(file, "\"ts\": " MICROSECONDS ", \"dur\": " MICROSECONDS ", \"pid\": %d, \"tid\": %d}",
            IN_US(start_ns), IN_US(end_ns - start_ns), pid, tid);
}

static void print_launch(struct pti_trace *trace, const pti_op *op) {
    print_name(trace->to->stream, pti_op_word(op->kind),
               trace->schedule->launch[op->launch].call.instance->kernel_name);
    fprintf(trace->to->stream,
            "\"args\": {\"superblock\": %" PRId64 ", \"threads\": %" PRId64 "}, ",
            trace->first_superblock + op->superblock, pti_box_count(&op->box));
}

static void print_transfer(struct pti_trace *trace, const pti_op *op) {
    FILE *file = trace->to->stream;
    const pti_schedule *schedule = trace->schedule;
    const char *array =
        schedule->instance->operand[schedule->placement[op->placement].operand].name;
    print_name(file, pti_op_word(op->kind), array);
    fprintf(file, "\"args\": {\"superblock\": %" PRId64 ", \"bytes\": %" PRId64 ", \"array\": \"",
            trace->first_superblock + op->superblock, op->bytes);
    print_escaped(file, array);
    fprintf(file, "\"}, ");
}

void pti_trace_op(polytile_device *device, const pti_op *op, double start_s, double taken_s) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL || trace->schedule == NULL)
        return;
    int tid = (int)pti_op_stream(op);
    flockfile(trace->to->stream);
    enter_run(trace, tid);
    int64_t start_ns = pti_max(since_start_ns(trace->to, start_s), trace->track[tid].end_ns);
    int64_t end_ns = pti_max(since_start_ns(trace->to, start_s + taken_s), start_ns);
    (op->kind == PTI_LAUNCH ? print_launch : print_transfer)(trace, op);
    print_slice(trace->to->stream, start_ns, end_ns, trace->pid, tid);
    trace->track[tid].end_ns = end_ns;
    funlockfile(trace->to->stream);
}

/** Print a slice after the last one of its track. */
static void print_host_slice(trace_file *file, const char *word, const char *subject,
                             double start_s, int64_t *last_end_ns, int pid, int tid) {
    flockfile(file->stream);
    int64_t start_ns = pti_max(since_start_ns(file, start_s), *last_end_ns);
    *last_end_ns = pti_max(since_start_ns(file, pti_now_s()), start_ns);
    print_name(file->stream, word, subject);
    print_slice(file->stream, start_ns, *last_end_ns, pid, tid);
    funlockfile(file->stream);
}

void pti_trace_plan(polytile_device *device, const char *subject, double start_s) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL)
        return;
    print_host_slice(trace->to, "plan", subject, start_s, &trace->track[PLAN_TRACK].end_ns,
                     trace->pid, PLAN_TRACK);
}

void pti_trace_program(polytile_device *device, const char *word, const char *subject,
                       double start_s) {
    if (device->trace == NULL)
        return;
    trace_file *file = device->trace->to;
    print_host_slice(file, word, subject, start_s, &file->host_end_ns, HOST_PID, 0);
}

void pti_trace_run_end(polytile_device *device) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL || trace->schedule == NULL)
        return;
    int64_t now_ns = since_start_ns(trace->to, pti_now_s());
    flockfile(trace->to->stream);
    for (int tid = 0; tid < PTI_MAX_STREAMS; tid++) {
        track *on = &trace->track[tid];
        if (!on->is_in_run)
            continue;
        on->is_in_run = false;
        on->end_ns = pti_max(on->end_ns, now_ns);
        fprintf(trace->to->stream,
                ",\n{\"ph\": \"E\", \"ts\": " MICROSECONDS ", \"pid\": %d, \"tid\": %d}",
                IN_US(on->end_ns), trace->pid, tid);
    }
    funlockfile(trace->to->stream);
    trace->whole = trace->schedule = NULL;
    trace->bound_bytes = NO_BOUND;
}

polytile_status pti_trace_end(polytile_device *device) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL)
        return POLYTILE_OK;
    pti_trace_run_end(device);
    device->trace = NULL;
    trace_file *file = trace->to;
    free(trace);
    return leave_file(device->object.context, file);
}
