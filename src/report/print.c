#include "report/show.h"

#include "partition/show/json_write.h"
#include "partition/show/words.h"

#include <stdlib.h>

static double seconds_of(int64_t time_ns) {
    return 1e-9 * (double)time_ns;
}

/* Text. */

static pti_words percentage_of(int64_t part_ns, int64_t whole_ns) {
    return pti_words_of("%.0f %%", whole_ns > 0 ? 100.0 * (double)part_ns / (double)whole_ns : 0);
}

static void add_device(pti_text *text, const polytile_trace *trace, int p) {
    const pti_traced_process *process = &trace->process[p];
    const pti_occupancy *time = &process->time;
    pti_text_add(text, "%s, %s: ", pti_process_name(trace, p),
                 pti_words_seconds(seconds_of(time->span_ns)).text);
    pti_text_add(text, "kernels %s of the time, link %s (in %s, out %s), both at once %s, ",
                 percentage_of(time->kernels_ns, time->span_ns).text,
                 percentage_of(time->link_ns, time->span_ns).text,
                 percentage_of(time->in_ns, time->span_ns).text,
                 percentage_of(time->out_ns, time->span_ns).text,
                 percentage_of(time->both_ns, time->span_ns).text);
    pti_text_add(text, "planning alone %s, idle %s; %s, %s in, %s out",
                 percentage_of(time->plan_alone_ns, time->span_ns).text,
                 percentage_of(time->idle_ns, time->span_ns).text,
                 pti_words_count(process->n_kernels, "kernel").text,
                 pti_words_size(process->in_bytes).text, pti_words_size(process->out_bytes).text);
    if (process->n_bounded_runs > 0 && process->n_bounded_runs == process->n_runs)
        pti_text_add(text, ", lower bound %s", pti_words_size(process->bound_bytes).text);
    pti_text_add(text, "\n");
}

static void write_advice(pti_text *text, const polytile_trace *trace) {
    bool has_device = false;
    for (int p = 0; p < trace->n_processes; p++)
        has_device |= trace->process[p].is_device;
    if (!has_device)
        pti_text_add(text, "\nNo device is in this trace.\n");
    else
        pti_text_add(text,
                     trace->n_advice == 0 ? "\nNothing stands out.\n" : "\nWhat to change:\n");
    for (int k = 0; k < trace->n_advice; k++) {
        const pti_advice *advice = &trace->advice[k];
        pti_text_add(text, "  %s: %s\n", pti_process_name(trace, advice->process), advice->text);
    }
}

static void add_shown_line(pti_text *text, const pti_text *line) {
    for (const char *at = line->data; at != NULL && *at != '\0';) {
        const pti_shown_character shown = pti_text_show_next(at);
        pti_text_add(text, "%s", *at == '\n' ? "\n" : shown.bytes);
        at += shown.n_bytes;
    }
    text->failed |= line->failed;
}

/** Names come from a file, and may hold what a terminal would obey. */
void pti_trace_write_text(pti_text *text, const pti_object *object) {
    const polytile_trace *trace = (const polytile_trace *)object;
    pti_text line = {0};
    pti_text_add(&line, "%s in %s\n\n", pti_words_count(trace->n_slices, "operation").text,
                 pti_words_seconds(seconds_of(trace->end_ns)).text);
    for (int p = 0; p < trace->n_processes; p++)
        if (trace->process[p].is_device)
            add_device(&line, trace, p);
    write_advice(&line, trace);
    add_shown_line(text, &line);
    pti_text_free(&line);
}

/* JSON. */

static json_t *integer_or_null(bool is_known, int64_t value) {
    return is_known ? json_integer(value) : json_null();
}

static json_t *json_of_device(const polytile_trace *trace, int p) {
    const pti_traced_process *process = &trace->process[p];
    const pti_occupancy *time = &process->time;
    const bool has_bound =
        process->n_bounded_runs > 0 && process->n_bounded_runs == process->n_runs;
    const pti_json_member members[] = {
        {"name", pti_json_name(pti_process_name(trace, p))},
        {"limit_bytes", integer_or_null(process->limit_bytes > 0, process->limit_bytes)},
        {"peak_bytes", integer_or_null(process->peak_bytes > 0, process->peak_bytes)},
        {"span_s", pti_json_real(seconds_of(time->span_ns))},
        {"kernels_s", pti_json_real(seconds_of(time->kernels_ns))},
        {"in_s", pti_json_real(seconds_of(time->in_ns))},
        {"out_s", pti_json_real(seconds_of(time->out_ns))},
        {"link_s", pti_json_real(seconds_of(time->link_ns))},
        {"both_s", pti_json_real(seconds_of(time->both_ns))},
        {"plan_s", pti_json_real(seconds_of(time->plan_ns))},
        {"plan_alone_s", pti_json_real(seconds_of(time->plan_alone_ns))},
        {"idle_s", pti_json_real(seconds_of(time->idle_ns))},
        {"n_kernels", json_integer(process->n_kernels)},
        {"n_runs", json_integer(process->n_runs)},
        {"n_launches", json_integer(process->n_launches)},
        {"in_bytes", json_integer(process->in_bytes)},
        {"out_bytes", json_integer(process->out_bytes)},
        {"planned_bytes", integer_or_null(process->n_runs > 0, process->planned_bytes)},
        {"bound_bytes", integer_or_null(has_bound, process->bound_bytes)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

static json_t *json_of_kind(const polytile_trace *trace, const pti_traced_kind *kind) {
    const pti_json_member members[] = {
        {"device", pti_json_name(pti_process_name(trace, kind->process))},
        {"work", json_string(pti_traced_work_noun(kind->work))},
        {"name", pti_json_name(kind->name)},
        {"n", json_integer(kind->n)},
        {"total_s", pti_json_real(seconds_of(kind->total_ns))},
        {"least_s", pti_json_real(seconds_of(kind->least_ns))},
        {"most_s", pti_json_real(seconds_of(kind->most_ns))},
        {"bytes", json_integer(kind->bytes)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

static json_t *json_of_advice(const polytile_trace *trace, const pti_advice *advice) {
    const pti_json_member members[] = {
        {"rule", json_string(advice->rule)},
        {"device", pti_json_name(pti_process_name(trace, advice->process))},
        {"text", pti_json_name(advice->text)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

static json_t *json_devices(const polytile_trace *trace) {
    json_t *list = json_array();
    for (int p = 0; p < trace->n_processes; p++)
        if (trace->process[p].is_device)
            list = pti_json_append(list, json_of_device(trace, p));
    return list;
}

static json_t *json_kinds(const polytile_trace *trace) {
    int64_t n;
    const pti_traced_kind **kinds = pti_trace_longest_kinds(trace, &n);
    json_t *list = kinds == NULL ? NULL : json_array();
    for (int64_t k = 0; k < n && list != NULL; k++)
        list = pti_json_append(list, json_of_kind(trace, kinds[k]));
    free((void *)kinds);
    return list;
}

static json_t *json_advice(const polytile_trace *trace) {
    json_t *list = json_array();
    for (int k = 0; k < trace->n_advice; k++)
        list = pti_json_append(list, json_of_advice(trace, &trace->advice[k]));
    return list;
}

void pti_trace_write_json(pti_text *text, const pti_object *object) {
    const polytile_trace *trace = (const polytile_trace *)object;
    const pti_json_member members[] = {
        {"n_operations", json_integer(trace->n_slices)},
        {"span_s", pti_json_real(seconds_of(trace->end_ns))},
        {NULL, NULL},
    };
    pti_text_add(text, "{\n");
    pti_json_write_members(text, pti_json_extend(json_object(), members));
    pti_json_write_list(text, "advice", json_advice(trace));
    pti_text_add(text, ",\n");
    pti_json_write_list(text, "devices", json_devices(trace));
    pti_text_add(text, ",\n");
    pti_json_write_list(text, "kinds", json_kinds(trace));
    pti_text_add(text, "\n}\n");
}
