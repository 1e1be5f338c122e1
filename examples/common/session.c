#include "session.h"

#include "arguments.h"
#include "count.h"
#include "fields.h"
#include "report.h"
#include "threads.h"

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

polytile_launch_options session_launch_options(const session *s) {
    polytile_launch_options options = s->launch_options;
    options.plan.limit_bytes = 0;
    return options;
}

polytile_status session_agree(session *s, polytile_status status) {
    enum { PREFIX_SIZE = 32 };
    char text[SESSION_ERROR_SIZE];
    int agreed = (int)status;
    if (s->ranks.n == 1 || s->has_agreed_to_fail)
        return status;
    if (status != POLYTILE_OK && s->error[0] == '\0')
        session_fail(s, status, "%s", polytile_last_error(s->ctx));
    int first = ranks_agree(&s->ranks, &agreed, s->error, sizeof(s->error));
    if (first < 0)
        return POLYTILE_OK;
    s->has_agreed_to_fail = true;
    memcpy(text, s->error, sizeof(text));
    if (first > 0)
        snprintf(s->error, sizeof(s->error), "rank %d: %.*s", first,
                 SESSION_ERROR_SIZE - PREFIX_SIZE, text);
    return (polytile_status)agreed;
}

int session_count_devices(const session *s) {
    return s->ranks.n * s->n_own;
}

static polytile_status take_limit(session *s, device_text *parts) {
    const example_options *options = &s->options;
    if (options->limit == NULL)
        return POLYTILE_OK;
    if (parts->has_memory)
        return session_fail(s, POLYTILE_INVALID,
                            "--limit %s and --device '%s' both give a memory limit; give one",
                            options->limit, options->device);
    parts->has_memory = true;
    snprintf(parts->memory, sizeof(parts->memory), "%s", options->limit);
    return POLYTILE_OK;
}

/** Take the devices, each with --limit as its memory. */
static polytile_status take_devices(session *s) {
    const char *text = s->options.device != NULL ? s->options.device : "host";
    if (!device_list_split(text, &s->devices))
        return session_fail(s, POLYTILE_INVALID,
                            "--device has more than %d devices, or one that is longer than %d "
                            "characters",
                            DEVICE_LIST_MAX, DEVICE_TEXT_SIZE);
    for (int d = 0; d < s->devices.n; ++d) {
        TRY(take_limit(s, &s->devices.device[d]));
        s->is_cuda |= device_text_cuda(&s->devices.device[d]) >= 0;
    }
    s->own = 0;
    s->n_own = s->devices.n;
    if (s->ranks.n > 1)
        s->own = device_list_find_rank(&s->devices, s->ranks.here, &s->n_own);
    device_list_join(&s->devices, 0, s->devices.n, s->device_text);
    return POLYTILE_OK;
}

/** Read the limit of a device; 0: none. */
static polytile_status read_limit(session *s, const device_text *parts, int64_t *limit_bytes) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    *limit_bytes = 0;
    if (parts->has_memory && !polytile_size_parse(parts->memory, limit_bytes))
        return session_fail(s, POLYTILE_INVALID, "the memory limit '%s': %s", parts->memory,
                            polytile_size_explain(parts->memory, why));
    return POLYTILE_OK;
}

/** Read the largest limit of this process's devices, and that of the first. */
static polytile_status read_limits(session *s) {
    int64_t limit_bytes;
    for (int d = 0; d < s->devices.n; ++d) {
        TRY(read_limit(s, &s->devices.device[d], &limit_bytes));
        if (d == s->own)
            s->launch_options.plan.limit_bytes = limit_bytes;
        if (d >= s->own && d < s->own + s->n_own && s->limit_bytes < limit_bytes)
            s->limit_bytes = limit_bytes;
    }
    s->has_limit = s->launch_options.plan.limit_bytes > 0;
    return POLYTILE_OK;
}

/** Prepare to plan for any limit: on a host without that memory, for a GPU that is not here. */
static polytile_status prepare_planning(session *s) {
    const device_text *parts = &s->devices.device[s->own];
    if (device_text_cuda(parts) < 0)
        return polytile_device_open(s->ctx, parts->bare, &s->device);
    if (!s->has_limit)
        return session_fail(s, POLYTILE_INVALID,
                            "--plan does not open %s and cannot tell its memory; give --limit, "
                            "such as --limit 16GiB",
                            s->device_text);
    return POLYTILE_OK;
}

/** Open a queue over ranks, each on its own devices. */
static polytile_status open_ranks_queue(session *s) {
    char text[DEVICE_LIST_SIZE];
    TRY(session_agree(s, POLYTILE_OK));
    return ranks_create_queue(s->ctx, device_list_join(&s->devices, s->own, s->n_own, text),
                              s->options.share, &s->queue);
}

/** Open the device, for runs or for a queue. */
static polytile_status open_for_use(session *s) {
    const polytile_share_options share = {.policy = s->options.share};
    if (!s->spec->uses_queue && session_count_devices(s) == 1)
        return polytile_device_open(s->ctx, s->device_text, &s->device);
    if (s->ranks.n > 1)
        TRY(open_ranks_queue(s));
    else
        TRY(polytile_queue_create_shared(s->ctx, s->device_text, &share, &s->queue));
    s->device = polytile_queue_get_device(s->queue);
    return POLYTILE_OK;
}

/** Trace the device, or all that the queue has. */
static polytile_status set_trace(const session *s, const char *path) {
    return s->queue != NULL ? polytile_queue_trace(s->queue, path)
                            : polytile_device_trace(s->device, path);
}

/** Of several ranks the first traces its devices; the others call this as well, as ranks do. */
static polytile_status begin_trace(const session *s) {
    if (s->options.trace == NULL)
        return POLYTILE_OK;
    return set_trace(s, s->ranks.rank == 0 ? s->options.trace : NULL);
}

/** Open the device, and plan for the memory and the link that it has. */
static polytile_status open_to_run(session *s) {
    TRY(open_for_use(s));
    TRY(begin_trace(s));
    s->launch_options.plan.limit_bytes = polytile_device_get_limit(s->device);
    s->launch_options.plan.link = polytile_device_get_link(s->device);
    if (s->limit_bytes < s->launch_options.plan.limit_bytes)
        s->limit_bytes = s->launch_options.plan.limit_bytes;
    return POLYTILE_OK;
}

/** Check the policy also where there is nothing to share, by simulating a row. */
static polytile_status check_share(session *s) {
    double speeds[EXAMPLE_MOST_UNITS];
    const int n_units = session_count_devices(s);
    const polytile_simulation_request request = {.n_units = n_units,
                                                 .speeds = speeds,
                                                 .n_rows = 1,
                                                 .n_policies = 1,
                                                 .policies = &s->options.share};
    polytile_simulation *simulation = NULL;
    if (s->options.share == NULL || n_units > EXAMPLE_MOST_UNITS)
        return POLYTILE_OK;
    for (int u = 0; u < n_units; ++u)
        speeds[u] = 1;
    TRY(polytile_simulation_create(s->ctx, &request, &simulation));
    polytile_simulation_destroy(simulation);
    return POLYTILE_OK;
}

/** Refuse what is for single launches, for rows that devices share, and for ranks. */
static polytile_status refuse_for_stream(session *s) {
    const struct {
        const char *option;
        bool is_given;
        const char *why;
    } refused[] = {
        {"--ranks", s->ranks.n > 1, "a stream runs on one rank"},
        {"--share", s->options.share != NULL, "the units of a stream have actors, not rows"},
        {"--block", s->options.n_block > 0, "actors run in place, in blocks that the library has"},
        {"--buffers", s->options.n_buffers > 0,
         "the plan of the graph says how many frames lie "
         "where"},
        {"--trace", s->options.trace != NULL, "streams write no trace; --json has what units do"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; ++k)
        if (refused[k].is_given)
            return session_fail(s, POLYTILE_UNSUPPORTED, "%s: %s", refused[k].option,
                                refused[k].why);
    return POLYTILE_OK;
}

static polytile_status open_devices(session *s) {
    TRY(take_devices(s));
    TRY(check_share(s));
    TRY(read_limits(s));
    if (s->options.pinned && !s->is_cuda)
        return session_fail(s, POLYTILE_INVALID,
                            "--memory pinned is for copies to and from a GPU; use it with --device "
                            "cuda:K, not with %s",
                            s->device_text);
    if (s->spec->uses_stream)
        return refuse_for_stream(s);
    return s->options.plan_only ? prepare_planning(s) : open_to_run(s);
}

static polytile_status open_session(session *s) {
    polytile_status status = polytile_context_create(&s->ctx);
    if (status != POLYTILE_OK)
        return session_fail(s, status, "%s", polytile_status_text(status));
    s->launch_options.plan.strategy = s->options.strategy;
    s->launch_options.plan.n_buffers = s->options.n_buffers;
    s->launch_options.plan.block = s->options.n_block > 0 ? s->options.block : NULL;
    s->launch_options.plan.launches_per_pass = s->options.steps_per_pass;
    return open_devices(s);
}

/** Close the session; unfinished files are abandoned. */
static void close_session(session *s) {
    field_abandon_outputs(s);
    polytile_context_destroy(s->ctx);
    session_free_memory(s);
}

static int exit_code_of(polytile_status status) {
    return status == POLYTILE_NO_FIT ? EXIT_NO_FIT : EXIT_REFUSED;
}

/** Report an error, which all ranks know, on the first one. */
static int report_error(const session *s, polytile_status status) {
    const char *text = s->error[0] != '\0' ? s->error : polytile_last_error(s->ctx);
    size_t length = strlen(s->spec->name);
    bool is_named = strncmp(text, s->spec->name, length) == 0 && text[length] == ':';
    char shown[2048];
    polytile_text_show(text[0] != '\0' ? text : polytile_status_text(status), shown, sizeof shown);
    if (s->ranks.rank == 0)
        fprintf(stderr, "%s%s%s\n", is_named ? "" : s->spec->name, is_named ? "" : ": ", shown);
    return exit_code_of(status);
}

static int print_result(const session *s, const result *r) {
    if (s->options.json)
        report_json(s, r);
    else
        report_text(s, r);
    if (fflush(stdout) == 0)
        return EXIT_DONE;
    perror(s->spec->name);
    return EXIT_REFUSED;
}

/** Print the result on the first rank; a failed check of any rank also goes to stderr. */
static int report_result(session *s, result *r) {
    r->max_error = ranks_largest(&s->ranks, r->max_error);
    bool differs = r->checked && r->max_error > r->tolerance;
    bool is_first = s->ranks.rank == 0;
    int exit_code = is_first ? print_result(s, r) : EXIT_DONE;
    exit_code = (int)ranks_largest(&s->ranks, exit_code);
    if (exit_code != EXIT_DONE || !differs)
        return exit_code;
    if (is_first)
        fprintf(stderr, "%s: the check failed: an element is off by %g\n", s->spec->name,
                r->max_error);
    return EXIT_CHECK_FAILED;
}

/** Set the limit to the largest of all ranks' devices, as the peak is. */
static void share_limit(session *s) {
    double limit_bytes = ranks_largest(&s->ranks, (double)s->limit_bytes);
    if (s->ranks.n > 1)
        s->limit_bytes = limit_bytes < (double)INT64_MAX ? (int64_t)limit_bytes : INT64_MAX;
}

/** End the trace, after waiting for the device; all ranks call this or none. */
static polytile_status end_trace(const session *s) {
    return s->device != NULL ? set_trace(s, NULL) : POLYTILE_OK;
}

/** Run everything between the command line and the report, which comes after the files have their
 * names. */
static int run_session(session *s, example_body *body) {
    result r = {0};
    polytile_status status = session_agree(s, open_session(s));
    if (status == POLYTILE_OK) {
        share_limit(s);
        status = body(s, &r);
    }
    status = session_agree(s, status);
    if (status == POLYTILE_OK)
        status = session_agree(s, end_trace(s));
    if (status == POLYTILE_OK)
        status = session_agree(s, field_finish_outputs(s));
    int exit_code = status == POLYTILE_OK ? report_result(s, &r) : report_error(s, status);
    close_session(s);
    return exit_code;
}

static polytile_status refuse_ranks(session *s) {
    return session_fail(s, POLYTILE_INVALID,
                        "--ranks %lld was given to a program that mpiexec started on %d; give only "
                        "one of the numbers",
                        (long long)s->options.ranks, s->ranks.n);
}

static polytile_status refuse_restart(session *s, const char *why) {
    return session_fail(s, POLYTILE_UNSUPPORTED, "--ranks %lld: %s", (long long)s->options.ranks,
                        why);
}

/** Become --ranks ranks, which then come here again, unless there are that many already. */
static polytile_status take_ranks(session *s, char **argv) {
    if (s->options.ranks == 0 || s->options.ranks == s->ranks.n)
        return POLYTILE_OK;
    if (s->ranks.is_job)
        return refuse_ranks(s);
    return refuse_restart(s, ranks_restart(s->options.ranks, argv));
}

/** Compare arguments: others would wait for what one rank alone does. */
static polytile_status compare_arguments(session *s, char **argv) {
    char text[ARGUMENTS_TEXT_SIZE];
    if (arguments_agree(&s->ranks, s->spec->name, argv, text))
        return POLYTILE_OK;
    s->has_agreed_to_fail = true;
    return session_fail(s, POLYTILE_INVALID, "%s", text);
}

static int run_command_line(session *s, int argc, char **argv, example_body *body) {
    polytile_status status = compare_arguments(s, argv);
    if (status != POLYTILE_OK)
        return report_error(s, status);
    example_parsed parsed = example_options_parse(s->spec, argc, argv, &s->options);
    if (parsed == EXAMPLE_HELPED && s->ranks.rank == 0)
        example_options_help(s->spec);
    if (parsed == EXAMPLE_HELPED)
        return EXIT_DONE;
    status = parsed == EXAMPLE_GO ? take_ranks(s, argv)
                                  : session_fail(s, POLYTILE_INVALID, "%s", s->options.misuse);
    status = session_agree(s, status);
    return status == POLYTILE_OK ? run_session(s, body) : report_error(s, status);
}

int example_main(const example_spec *spec, int argc, char **argv, example_body *body) {
    session s = {.spec = spec};
    ranks_join(&s.ranks);
    threads_limit(s.ranks.rank == 0 ? spec->name : NULL);
    int exit_code = run_command_line(&s, argc, argv, body);
    ranks_leave(&s.ranks);
    return exit_code;
}
