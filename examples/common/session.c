#include "session.h"

#include "count.h"
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

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

/** Open the device; to plan only, one without its memory, so that any limit can be planned for. */
static polytile_status open_device(session *s) {
    device_text parts;
    TRY(take_device(s, &parts));
    bool has_limit = parts.memory[0] != '\0';
    if (has_limit && !polytile_size_parse(parts.memory, &s->plan_options.limit_bytes))
        return session_fail(s, POLYTILE_INVALID,
                            "the memory limit '%s' is no size such as 64MiB or 1.5GiB",
                            parts.memory);
    const char *text = s->options.plan_only ? parts.bare : s->device_text;
    TRY(polytile_device_open(s->ctx, text, &s->device));
    if (s->options.trace != NULL && !s->options.plan_only)
        TRY(polytile_device_trace(s->device, s->options.trace));
    if (!has_limit)
        s->plan_options.limit_bytes = polytile_device_get_limit(s->device);
    return POLYTILE_OK;
}

static polytile_status open_session(session *s) {
    if (polytile_context_create(&s->ctx) != POLYTILE_OK)
        return session_fail(s, POLYTILE_NO_MEMORY, "no context could be created");
    s->plan_options.strategy = s->options.strategy;
    s->plan_options.n_buffers = s->options.n_buffers;
    s->plan_options.block = s->options.n_block > 0 ? s->options.block : NULL;
    return open_device(s);
}

static void close_session(session *s) {
    polytile_context_destroy(s->ctx);
    for (int m = 0; m < s->n_memories; ++m)
        munmap(s->memory[m].data, (size_t)s->memory[m].n_bytes);
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
    result r = {.n_launches = 1};
    example_parsed parsed = example_options_parse(spec, argc, argv, &s.options);
    if (parsed != EXAMPLE_GO)
        return parsed == EXAMPLE_HELPED ? EXIT_DONE : EXIT_REFUSED;
    if (s.options.steps_per_pass > 1)
        fprintf(stderr, "%s: this version runs one time step in a pass over the data, not %lld\n",
                spec->name, (long long)s.options.steps_per_pass);
    polytile_status status = open_session(&s);
    if (status == POLYTILE_OK)
        status = body(&s, &r);
    if (status == POLYTILE_OK)
        status = polytile_device_trace(s.device, NULL);
    int exit_code = status == POLYTILE_OK ? report_result(&s, &r) : report_error(&s, status);
    close_session(&s);
    return exit_code;
}
