#include "frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Write a text where the command line says; NULL: it does not. */
static polytile_status write_text(session *s, const char *path, const char *text) {
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (path == NULL)
        return POLYTILE_OK;
    const bool is_written = file != NULL && fputs(text, file) >= 0;
    if (file == NULL || fclose(file) != 0 || !is_written)
        return session_fail(s, POLYTILE_IO, "cannot write %s: %s", path, strerror(errno));
    return POLYTILE_OK;
}

bool frames_close_text(FILE *to) {
    const bool has_failed = ferror(to) != 0;
    return fclose(to) == 0 && !has_failed;
}

static polytile_status write_machine(session *s, char **text) {
    char device[2 * DEVICE_TEXT_SIZE];
    size_t length;
    FILE *to = open_memstream(text, &length);
    if (to != NULL) {
        fprintf(to, "digraph machine {\n");
        for (int d = 0; d < s->devices.n; ++d)
            fprintf(to, "unit%d [device=\"%s\"];\n", d,
                    device_text_join(&s->devices.device[d], device));
        fprintf(to, "}\n");
    }
    if (to != NULL && frames_close_text(to))
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_NO_MEMORY,
                        "the text of the machine cannot be written: no memory is left");
}

static polytile_status parse_machine(session *s, frames *of) {
    char *text = NULL;
    polytile_status status = write_machine(s, &text);
    if (status == POLYTILE_OK)
        status = write_text(s, s->options.machine, text);
    if (status == POLYTILE_OK)
        status = polytile_machine_parse(s->ctx, text, &of->machine);
    free(text);
    return status;
}

polytile_status frames_parse(session *s, const char *text, frames *of) {
    TRY(write_text(s, s->options.graph, text));
    TRY(polytile_graph_parse(s->ctx, text, &of->graph));
    return parse_machine(s, of);
}

polytile_status frames_plan(session *s, frames *of, bool may_take_turns, result *r) {
    const bool is_usual = s->options.strategy == NULL && !s->options.no_overlap;
    const polytile_graph_options options = {.strategy = s->options.strategy,
                                            .no_overlap = s->options.no_overlap,
                                            .in_turn = may_take_turns && is_usual,
                                            .in_superblocks = is_usual};
    TRY(polytile_graph_plan_create(of->graph, of->machine, &options, &of->plan));
    polytile_graph_plan_get_summary(of->plan, &r->graph);
    r->plan.strategy = s->options.strategy != NULL ? s->options.strategy : "best";
    r->plan.bound = "";
    r->plan.peak_device_bytes = r->graph.device_bytes;
    r->plan.h2d_bytes = r->graph.h2d_bytes;
    r->plan.d2h_bytes = r->graph.d2h_bytes;
    r->plan.plan_seconds = r->graph.plan_seconds;
    return POLYTILE_OK;
}

void frames_report(const frames *of, int64_t n_frames, double total_s, result *r) {
    const double n = (double)n_frames;
    polytile_stream_lane lane[DEVICE_LIST_MAX * DEVICE_LIST_MAX];
    polytile_stream_report done;
    polytile_stream_get_report(of->stream, &done);
    const int n_lanes =
        polytile_stream_get_lanes(of->stream, DEVICE_LIST_MAX * DEVICE_LIST_MAX, lane);
    r->period_s = done.period_s;
    r->run = (polytile_report){.n_kernels = r->plan.n_kernels,
                               .peak_device_bytes = r->plan.peak_device_bytes,
                               .h2d_bytes = r->plan.h2d_bytes,
                               .d2h_bytes = r->plan.d2h_bytes,
                               .p2p_bytes = r->graph.p2p_bytes,
                               .lower_bound_bytes = r->plan.lower_bound_bytes,
                               .plan_s = r->plan.plan_seconds,
                               .run_s = total_s / n};
    for (int l = 0; l < n_lanes && l < DEVICE_LIST_MAX * DEVICE_LIST_MAX; ++l)
        *(lane[l].is_unit ? &r->run.compute_s : &r->run.transfer_s) += lane[l].busy_s / n;
    r->ran = true;
}

polytile_status frames_write_profile(session *s, const frames *of) {
    char *text = NULL;
    if (s->options.profile == NULL)
        return POLYTILE_OK;
    TRY(polytile_stream_to_json(of->stream, &text));
    const polytile_status status = write_text(s, s->options.profile, text);
    free(text);
    return status;
}
