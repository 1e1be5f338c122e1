#include "gpu/queue_stage.h"

#include "gpu/report.h"

static void require(const queue_stage *s, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 s->ctx != NULL ? polytile_last_error(s->ctx) : "");
}

enum { MOST_TRACED = 16 };

static const char *trace_prefix;
static polytile_queue *traced[MOST_TRACED];
static int n_traced, n_begun;

void queue_stage_trace(const char *prefix) {
    trace_prefix = prefix;
}

void queue_stage_end_traces(void) {
    while (n_traced > 0)
        polytile_queue_trace(traced[--n_traced], NULL);
}

static void begin_trace(const queue_stage *s) {
    char path[512];
    if (trace_prefix == NULL || n_traced == MOST_TRACED)
        return;
    traced[n_traced++] = s->queue;
    snprintf(path, sizeof path, "%s-%d.json", trace_prefix, ++n_begun);
    require(s, polytile_queue_trace(s->queue, path), path);
}

void queue_stage_open_shared(queue_stage *s, const char *devices,
                             const polytile_share_options *share, const char *declaration,
                             const polytile_implementation *implementation) {
    *s = (queue_stage){0};
    require(s, polytile_context_create(&s->ctx), "polytile_context_create");
    require(s, polytile_queue_create_shared(s->ctx, devices, share, &s->queue), devices);
    begin_trace(s);
    require(s, polytile_kernel_create(s->ctx, declaration, implementation, &s->kernel),
            declaration);
}

void queue_stage_open_on(queue_stage *s, const char *devices, const char *declaration,
                         const polytile_implementation *implementation) {
    queue_stage_open_shared(s, devices, NULL, declaration, implementation);
}

void queue_stage_close(queue_stage *s) {
    for (int t = 0; t < n_traced; t++) {
        if (traced[t] != s->queue)
            continue;
        polytile_queue_trace(s->queue, NULL);
        traced[t--] = traced[--n_traced];
    }
    polytile_context_destroy(s->ctx);
    *s = (queue_stage){0};
}

void queue_stage_open(queue_stage *s, int64_t memory_bytes, const char *declaration,
                      const polytile_implementation *implementation) {
    char text[64];
    snprintf(text, sizeof text, "cuda:0(memory=%lldB)", (long long)memory_bytes);
    queue_stage_open_on(s, text, declaration, implementation);
}

void queue_stage_wrap(queue_stage *s, int n_dims, const int64_t *extents, float *data) {
    const char *name = polytile_kernel_get_array_name(s->kernel, s->n_arrays);
    require(s,
            polytile_array_wrap(s->ctx, name, POLYTILE_F32, n_dims, extents, data,
                                &s->arrays[s->n_arrays]),
            "polytile_array_wrap");
    s->n_arrays++;
}

void queue_stage_attach(const queue_stage *s) {
    require(s, polytile_queue_attach(s->queue, s->n_arrays, s->arrays), "polytile_queue_attach");
}

void queue_stage_detach(const queue_stage *s) {
    require(s, polytile_queue_detach(s->queue, s->n_arrays, s->arrays), "polytile_queue_detach");
}

void queue_stage_launch(const queue_stage *s, const polytile_domain *threads,
                        polytile_array *const *arrays) {
    require(s,
            polytile_queue_launch(s->queue, s->kernel, threads, s->n_arrays,
                                  arrays != NULL ? arrays : s->arrays, NULL),
            "polytile_queue_launch");
}

void queue_stage_wait(const queue_stage *s) {
    require(s, polytile_queue_wait(s->queue), "polytile_queue_wait");
}

polytile_report queue_stage_report(const queue_stage *s) {
    polytile_report report;
    polytile_queue_get_report(s->queue, true, &report);
    return report;
}
