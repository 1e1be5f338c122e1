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

/** One stream's slices so far. */
typedef struct track {
    int64_t end_ns; /* of the last slice */
    bool is_in_run; /* the run's slice is open */
} track;

/**
 * A trace being written: an open JSON array of events.
 *
 * Units  Whole nanoseconds since start_s, so that printed times compare as these, in any locale.
 */
struct pti_trace {
    FILE *file;
    char *path; /* for error texts */
    double start_s;
    const pti_schedule *schedule; /* of the run in progress, borrowed; NULL between runs */
    int64_t run_begin_ns;
    track track[PTI_N_STREAMS];
};

/** The name and the place of each track. */
static const struct {
    const char *name;
    int place;
} tracks[PTI_N_STREAMS] = {
    [PTI_STREAM_IN] = {"in", 0},
    [PTI_STREAM_COMPUTE] = {"compute", 1},
    [PTI_STREAM_CONCURRENT] = {"compute, concurrent", 2},
    [PTI_STREAM_OUT] = {"out", 3},
};

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

/** Write the file's head: the process is the device, a track is a stream. */
static void begin_file(FILE *file, const char *device_text) {
    fprintf(file, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n"
                  "{\"name\": \"process_name\", \"ph\": \"M\", \"pid\": 1, "
                  "\"args\": {\"name\": \"polytile ");
    print_escaped(file, device_text);
    fprintf(file, "\"}}");
    for (int s = 0; s < PTI_N_STREAMS; s++)
        fprintf(file,
                ",\n{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %d, "
                "\"args\": {\"name\": \"%s\"}}"
                ",\n{\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": 1, \"tid\": %d, "
                "\"args\": {\"sort_index\": %d}}",
                s, tracks[s].name, s, tracks[s].place);
}

static FILE *open_file(const char *path) {
    FILE *file;
    do
        file = fopen(path, "w");
    while (file == NULL && errno == EINTR);
    return file;
}

polytile_status polytile_device_trace(polytile_device *device, const char *path) {
    PTI_ENTER(device, device->object.context, "device");
    polytile_context *ctx = device->object.context;
    if (device->queue != NULL)
        device->wait(device->queue);
    polytile_status status = pti_trace_end(device);
    if (status != POLYTILE_OK || path == NULL)
        return status;
    struct pti_trace *trace = calloc(1, sizeof *trace);
    char *copy = strdup(path);
    FILE *file = trace == NULL || copy == NULL ? NULL : open_file(path);
    if (file == NULL) {
        status = trace == NULL || copy == NULL || errno == ENOMEM
                     ? pti_fail_memory(ctx, "trace", sizeof *trace)
                     : pti_fail(ctx, POLYTILE_IO, "trace %s: cannot be written: %s", path,
                                strerror(errno));
        free(trace);
        free(copy);
        return status;
    }
    *trace = (struct pti_trace){.file = file, .path = copy, .start_s = pti_now_s()};
    begin_file(file, device->text);
    device->trace = trace;
    return POLYTILE_OK;
}

static int64_t since_start_ns(const struct pti_trace *trace, double time_s) {
    return llround(1e9 * (time_s - trace->start_s));
}

void pti_trace_run_begin(polytile_device *device, const pti_schedule *schedule) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL)
        return;
    trace->schedule = schedule;
    trace->run_begin_ns = since_start_ns(trace, pti_now_s());
}

/** Open the run's slice on a track before its first operation; unused tracks stay empty. */
static void enter_run(struct pti_trace *trace, int tid) {
    track *on = &trace->track[tid];
    if (on->is_in_run)
        return;
    on->is_in_run = true;
    on->end_ns = pti_max(on->end_ns, trace->run_begin_ns);
    fprintf(trace->file, ",\n{\"name\": \"run ");
    print_escaped(trace->file, trace->schedule->instance->kernel_name);
    fprintf(trace->file,
            "\", \"cat\": \"run\", \"ph\": \"B\", \"ts\": " MICROSECONDS
            ", \"pid\": 1, \"tid\": %d, \"args\": {\"superblocks\": %" PRId64 "}}",
            IN_US(on->end_ns), tid, trace->schedule->n_superblocks);
}

static void print_name(struct pti_trace *trace, const pti_op *op, const char *subject) {
    fprintf(trace->file, ",\n{\"name\": \"%s ", pti_op_word(op->kind));
    print_escaped(trace->file, subject);
    fprintf(trace->file, "\", \"cat\": \"%s\", \"ph\": \"X\", ", pti_op_word(op->kind));
}

static void print_launch(struct pti_trace *trace, const pti_op *op) {
    print_name(trace, op, trace->schedule->launch[op->launch].call.instance->kernel_name);
    fprintf(trace->file, "\"args\": {\"superblock\": %" PRId64 ", \"threads\": %" PRId64 "}, ",
            op->superblock, pti_box_count(&op->box));
}

static void print_transfer(struct pti_trace *trace, const pti_op *op) {
    const pti_schedule *schedule = trace->schedule;
    const char *array =
        schedule->instance->operand[schedule->placement[op->placement].operand].name;
    print_name(trace, op, array);
    fprintf(trace->file,
            "\"args\": {\"superblock\": %" PRId64 ", \"bytes\": %" PRId64 ", \"array\": \"",
            op->superblock, op->bytes);
    print_escaped(trace->file, array);
    fprintf(trace->file, "\"}, ");
}

void pti_trace_op(polytile_device *device, const pti_op *op, double start_s, double taken_s) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL || trace->schedule == NULL)
        return;
    int tid = (int)pti_op_stream(op);
    enter_run(trace, tid);
    int64_t start_ns = pti_max(since_start_ns(trace, start_s), trace->track[tid].end_ns);
    int64_t end_ns = pti_max(since_start_ns(trace, start_s + taken_s), start_ns);
    (op->kind == PTI_LAUNCH ? print_launch : print_transfer)(trace, op);
    fprintf(trace->file,
            "\"ts\": " MICROSECONDS ", \"dur\": " MICROSECONDS ", \"pid\": 1, \"tid\": %d}",
            IN_US(start_ns), IN_US(end_ns - start_ns), tid);
    trace->track[tid].end_ns = end_ns;
}

void pti_trace_run_end(polytile_device *device) {
    struct pti_trace *trace = device->trace;
    if (trace == NULL || trace->schedule == NULL)
        return;
    int64_t now_ns = since_start_ns(trace, pti_now_s());
    for (int tid = 0; tid < PTI_N_STREAMS; tid++) {
        track *on = &trace->track[tid];
        if (!on->is_in_run)
            continue;
        on->is_in_run = false;
        on->end_ns = pti_max(on->end_ns, now_ns);
        fprintf(trace->file,
                ",\n{\"ph\": \"E\", \"ts\": " MICROSECONDS ", \"pid\": 1, \"tid\": %d}",
                IN_US(on->end_ns), tid);
    }
    trace->schedule = NULL;
}

polytile_status pti_trace_end(polytile_device *device) {
    struct pti_trace *trace = device->trace;
    polytile_status status = POLYTILE_OK;
    if (trace == NULL)
        return POLYTILE_OK;
    pti_trace_run_end(device);
    device->trace = NULL;
    fprintf(trace->file, "\n]}\n");
    bool failed = ferror(trace->file) != 0;
    if (fclose(trace->file) != 0 || failed)
        status =
            pti_fail(device->object.context, POLYTILE_IO,
                     "trace %s: not all of it could be written: %s", trace->path, strerror(errno));
    free(trace->path);
    free(trace);
    return status;
}
