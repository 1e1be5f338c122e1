#include "launch/trace.h"

#include "launch/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A trace being written: an open JSON array of events. */
struct pti_trace {
    FILE *file;
    char *path; /* for error texts */
    double start_s;
};

static const char *const stream_names[] = {"in", "compute", "out"};

/** Name the tracks, in the order of the streams. */
static void begin_file(FILE *file) {
    fprintf(file, "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n");
    for (int s = 0; s < PTI_N_STREAMS; s++)
        fprintf(file,
                "%s{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 1, \"tid\": %d, "
                "\"args\": {\"name\": \"%s\"}}",
                s == 0 ? "" : ",\n", s, stream_names[s]);
}

polytile_status polytile_device_trace(polytile_device *device, const char *path) {
    if (device == NULL)
        return POLYTILE_INVALID;
    polytile_context *ctx = device->object.context;
    pti_clear_error(ctx);
    polytile_status status = pti_trace_end(device);
    if (status != POLYTILE_OK || path == NULL)
        return status;
    struct pti_trace *trace = calloc(1, sizeof *trace);
    char *copy = strdup(path);
    FILE *file = trace == NULL || copy == NULL ? NULL : fopen(path, "w");
    if (file == NULL) {
        status = trace == NULL || copy == NULL
                     ? pti_fail_memory(ctx, "trace", sizeof *trace)
                     : pti_fail(ctx, POLYTILE_IO, "trace %s: cannot be written: %s", path,
                                strerror(errno));
        free(trace);
        free(copy);
        return status;
    }
    *trace = (struct pti_trace){.file = file, .path = copy, .start_s = pti_now_s()};
    begin_file(file);
    device->trace = trace;
    return POLYTILE_OK;
}

/** The array an operation moves; a launch is named after its kernel. */
static const char *subject_of(const pti_schedule *schedule, const pti_op *op) {
    if (op->kind == PTI_LAUNCH)
        return schedule->instance->kernel_name;
    return schedule->instance->operand[schedule->placement[op->placement].operand].name;
}

void pti_trace_op(polytile_device *device, const pti_schedule *schedule, const pti_op *op,
                  double start_s, double taken_s) {
    if (device->trace == NULL)
        return;
    fprintf(device->trace->file,
            ",\n{\"name\": \"%s %s\", \"cat\": \"%s\", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, "
            "\"pid\": 1, \"tid\": %d, \"args\": {\"superblock\": %" PRId64 ", \"bytes\": %" PRId64
            "}}",
            pti_op_word(op->kind), subject_of(schedule, op), pti_op_word(op->kind),
            1e6 * (start_s - device->trace->start_s), 1e6 * taken_s, (int)pti_op_stream(op->kind),
            op->superblock, op->bytes);
}

polytile_status pti_trace_end(polytile_device *device) {
    struct pti_trace *trace = device->trace;
    polytile_status status = POLYTILE_OK;
    if (trace == NULL)
        return POLYTILE_OK;
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
