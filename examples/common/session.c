#include "session.h"

#include "count.h"
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_DONE = 0, EXIT_CHECK_FAILED = 1, EXIT_REFUSED = 2, EXIT_NO_FIT = 3 };

polytile_status session_fail(session *s, polytile_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(s->error, sizeof(s->error), format, arguments);
    va_end(arguments);
    return status;
}

polytile_status session_check_block(session *s, int n_indices) {
    if (s->options.n_block == 0 || s->options.n_block == n_indices)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INVALID,
                        "--block needs as many numbers as the kernel has indices, %d; it has %d",
                        n_indices, s->options.n_block);
}

polytile_plan_options session_launch_options(const session *s) {
    polytile_plan_options options = s->plan_options;
    options.limit_bytes = 0;
    return options;
}

/** The device's text with --limit as its memory. */
static polytile_status take_device(session *s, device_text *parts) {
    const example_options *options = &s->options;
    if (!device_text_split(options->device ? options->device : "host", parts))
        return session_fail(s, POLYTILE_INVALID, "--device is longer than %d characters",
                            DEVICE_TEXT_SIZE);
    if (options->limit != NULL && parts->memory[0] != '\0')
        return session_fail(s, POLYTILE_INVALID,
                            "--limit %s and --device '%s' both give a memory limit; give one",
                            options->limit, options->device);
    if (options->limit != NULL)
        snprintf(parts->memory, sizeof(parts->memory), "%s", options->limit);
    device_text_join(parts, s->device_text);
    return POLYTILE_OK;
}

static bool is_cuda(const device_text *parts) {
    return strncmp(parts->bare, "cuda", 4) == 0 && strchr(":(", parts->bare[4]) != NULL;
}

static polytile_status read_limit(session *s, const device_text *parts) {
    s->has_limit = parts->memory[0] != '\0';
    if (s->has_limit && !polytile_size_parse(parts->memory, &s->limit_bytes))
        return session_fail(s, POLYTILE_INVALID,
                            "the memory limit '%s' is no size such as 64MiB or 1.5GiB",
                            parts->memory);
    return POLYTILE_OK;
}

/** Get ready to plan for any limit: on a host without that memory, for a GPU that is not here. */
static polytile_status prepare_planning(session *s, const device_text *parts) {
    s->plan_options.limit_bytes = s->limit_bytes;
    if (!s->is_cuda)
        return polytile_device_open(s->ctx, parts->bare, &s->device);
    if (s->limit_bytes == 0)
        return session_fail(s, POLYTILE_INVALID,
                            "--plan does not open %s and cannot tell its memory; give --limit, "
                            "such as --limit 16GiB",
                            s->device_text);
    return POLYTILE_OK;
}

/** Open the device, for runs or for a queue. */
static polytile_status open_for_use(session *s) {
    if (!s->spec->uses_queue)
        return polytile_device_open(s->ctx, s->device_text, &s->device);
    TRY(polytile_queue_create(s->ctx, s->device_text, &s->queue));
    s->device = polytile_queue_get_device(s->queue);
    return POLYTILE_OK;
}

/** Open the device, and plan for the memory and the link that it has. */
static polytile_status open_to_run(session *s) {
    TRY(open_for_use(s));
    if (s->options.trace != NULL)
        TRY(polytile_device_trace(s->device, s->options.trace));
    s->plan_options.limit_bytes = polytile_device_get_limit(s->device);
    s->plan_options.link = polytile_device_get_link(s->device);
    if (!s->has_limit)
        s->limit_bytes = s->plan_options.limit_bytes;
    return POLYTILE_OK;
}

static polytile_status open_device(session *s) {
    device_text parts;
    TRY(take_device(s, &parts));
    TRY(read_limit(s, &parts));
    s->is_cuda = is_cuda(&parts);
    if (s->options.pinned && !s->is_cuda)
        return session_fail(s, POLYTILE_INVALID,
                            "--memory pinned is for copies to and from a GPU; use it with --device "
                            "cuda:K, not with %s",
                            s->device_text);
    return s->options.plan_only ? prepare_planning(s, &parts) : open_to_run(s);
}

static polytile_status open_session(session *s) {
    if (polytile_context_create(&s->ctx) != POLYTILE_OK)
        return session_fail(s, POLYTILE_NO_MEMORY, "no context could be created");
    s->plan_options.strategy = s->options.strategy;
    s->plan_options.n_buffers = s->options.n_buffers;
    s->plan_options.block = s->options.n_block > 0 ? s->options.block : NULL;
    s->plan_options.launches_per_pass = s->options.steps_per_pass;
    return open_device(s);
}

static void close_session(session *s) {
    polytile_context_destroy(s->ctx);
    session_free_memory(s);
}

static int report_error(const session *s, polytile_status status) {
    const char *text = s->error[0] != '\0' ? s->error : polytile_last_error(s->ctx);
    size_t length = strlen(s->spec->name);
    bool is_named = strncmp(text, s->spec->name, length) == 0 && text[length] == ':';
    fprintf(stderr, "%s%s%s\n", is_named ? "" : s->spec->name, is_named ? "" : ": ",
            text[0] != '\0' ? text : polytile_status_text(status));
    return status == POLYTILE_NO_FIT ? EXIT_NO_FIT : EXIT_REFUSED;
}

/** Print what came out; a failed check also goes to stderr. */
static int report_result(const session *s, const result *r) {
    bool differs = r->checked && r->max_error > r->tolerance;
    if (s->options.json)
        report_json(s, r);
    else
        report_text(s, r);
    if (fflush(stdout) != 0) {
        perror(s->spec->name);
        return EXIT_REFUSED;
    }
    if (differs)
        fprintf(stderr, "%s: the check failed: an element is off by %g\n", s->spec->name,
                r->max_error);
    return differs ? EXIT_CHECK_FAILED : EXIT_DONE;
}

int example_main(const example_spec *spec, int argc, char **argv, example_body *body) {
    session s = {.spec = spec};
    result r = {0};
    example_parsed parsed = example_options_parse(spec, argc, argv, &s.options);
    if (parsed != EXAMPLE_GO)
        return parsed == EXAMPLE_HELPED ? EXIT_DONE : EXIT_REFUSED;
    polytile_status status = open_session(&s);
    if (status == POLYTILE_OK)
        status = body(&s, &r);
    if (status == POLYTILE_OK && s.device != NULL)
        status = polytile_device_trace(s.device, NULL);
    int exit_code = status == POLYTILE_OK ? report_result(&s, &r) : report_error(&s, status);
    close_session(&s);
    return exit_code;
}
