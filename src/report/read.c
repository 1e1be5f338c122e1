#include "report/advice.h"
#include "report/collect.h"
#include "report/events.h"

#include <stdlib.h>

/* Traces as programs see them. */

static void destroy_trace(pti_object *object) {
    polytile_trace *trace = (polytile_trace *)object;
    for (int p = 0; p < trace->n_processes; p++)
        free(trace->process[p].name);
    for (int t = 0; t < trace->n_tracks; t++)
        free(trace->track[t].name);
    for (int64_t k = 0; k < trace->n_kinds; k++)
        free(trace->kind[k].name);
    for (int k = 0; k < trace->n_advice; k++)
        free(trace->advice[k].text);
    free(trace->process);
    free(trace->track);
    free(trace->kind);
    free(trace->slice);
    free(trace->advice);
    free(trace);
}

void polytile_trace_destroy(polytile_trace *trace) {
    if (trace != NULL)
        pti_object_release(&trace->object);
}

static polytile_status collect_events(pti_trace_events *events, pti_trace_collector *collector) {
    polytile_status status;
    pti_trace_event event;
    bool is_there;
    for (;;) {
        PTI_TRY(pti_trace_events_next(events, &event, &is_there));
        if (!is_there)
            return POLYTILE_OK;
        PTI_TRY(pti_trace_collect(collector, &event));
    }
done:
    return status;
}

static polytile_status read_file(polytile_context *ctx, const char *path, polytile_trace *trace) {
    pti_trace_collector collector = {.ctx = ctx, .path = path, .to = trace};
    pti_trace_events events;
    polytile_status status = pti_trace_events_open(ctx, path, &events);
    if (status != POLYTILE_OK)
        return status;
    status = collect_events(&events, &collector);
    pti_trace_events_close(&events);
    pti_trace_collector_free(&collector);
    if (status != POLYTILE_OK || trace->n_slices > 0)
        return status;
    return pti_fail(
        ctx, POLYTILE_INVALID,
        "%s: has no operations: begin a trace before what is to be seen, and end it behind", path);
}

static polytile_status fill_trace(polytile_context *ctx, const char *path, polytile_trace *trace) {
    polytile_status status;
    PTI_TRY(read_file(ctx, path, trace));
    PTI_TRY(pti_number_namesakes(ctx, trace));
    PTI_TRY(pti_trace_measure(ctx, trace));
    PTI_TRY(pti_trace_advise(ctx, trace));
done:
    return status;
}

polytile_status polytile_trace_read(polytile_context *ctx, const char *path,
                                    polytile_trace **trace) {
    if (trace != NULL)
        *trace = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (path == NULL || trace == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the %s is NULL", __func__,
                        path == NULL ? "path" : "place for the trace");
    polytile_trace *made = calloc(1, sizeof *made);
    if (made == NULL)
        return pti_fail_memory(ctx, "a trace", sizeof *made);
    const polytile_status status = fill_trace(ctx, path, made);
    if (status != POLYTILE_OK) {
        destroy_trace(&made->object);
        return status;
    }
    pti_object_adopt(ctx, &made->object, destroy_trace);
    *trace = made;
    return POLYTILE_OK;
}
