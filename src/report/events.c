#include "report/events.h"

#include "base/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** The longest text of one event; those of traces have some hundred bytes. */
enum { MOST_EVENT_BYTES = 1 << 20 };

static int next_byte(pti_trace_events *of) {
    return getc_unlocked(of->file);
}

static int next_byte_of_value(pti_trace_events *of) {
    int byte;
    do
        byte = next_byte(of);
    while (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r');
    return byte;
}

static polytile_status refuse_end(const pti_trace_events *of) {
    if (ferror(of->file))
        return pti_fail_errno(of->ctx, of->path, "read");
    if (of->n_events == 0)
        return pti_fail(of->ctx, POLYTILE_INVALID,
                        "%s: the file ends before its first event; it is empty or was cut off",
                        of->path);
    return pti_fail(of->ctx, POLYTILE_INVALID,
                    "%s: the file ends behind event %" PRId64
                    "; it was cut off, or is still being written: end the trace first",
                    of->path, of->n_events);
}

static polytile_status refuse_byte(const pti_trace_events *of, int byte, const char *wanted) {
    if (byte == EOF)
        return refuse_end(of);
    const char shown[] = {(char)byte, '\0'};
    return pti_fail(of->ctx, POLYTILE_INVALID,
                    "%s: is no trace: byte %ld is \"%s\", where %s is expected", of->path,
                    ftell(of->file) - 1, byte == '\0' ? "NUL" : shown, wanted);
}

static bool is_one_of(int byte, const char *bytes) {
    return byte != '\0' && strchr(bytes, byte) != NULL;
}

/** Refuse a byte that no value begins with. */
static polytile_status check_value(const pti_trace_events *of, int byte) {
    return byte == EOF || byte == '\0' || is_one_of(byte, ",]}:") ? refuse_byte(of, byte, "a value")
                                                                  : POLYTILE_OK;
}

/** Keep a byte of an event's text. */
static polytile_status keep_byte(pti_trace_events *of, int byte) {
    if (of->length == MOST_EVENT_BYTES)
        return pti_fail(of->ctx, POLYTILE_INVALID, "%s: event %" PRId64 " has more than %d bytes",
                        of->path, of->n_events + 1, MOST_EVENT_BYTES);
    if (!PTI_GROW(of->text, of->length, &of->capacity))
        return pti_fail_memory(of->ctx, "an event of a trace", (double)of->capacity);
    of->text[of->length++] = (char)byte;
    return POLYTILE_OK;
}

/** Where the text of a value stands. */
typedef struct value_walk {
    int depth; /* of objects and lists */
    bool is_in_text, is_escaped;
} value_walk;

static void step_walk(value_walk *walk, int byte) {
    if (walk->is_escaped)
        walk->is_escaped = false;
    else if (walk->is_in_text && byte == '\\')
        walk->is_escaped = true;
    else if (byte == '"')
        walk->is_in_text = !walk->is_in_text;
    else if (!walk->is_in_text)
        walk->depth += (byte == '{' || byte == '[') - (byte == '}' || byte == ']');
}

/** Go through a value that begins with a byte, and keep its text if it is wanted. A number or a
 * word ends before the byte that is no longer of it. */
static polytile_status walk_value(pti_trace_events *of, int byte, bool is_kept) {
    value_walk walk = {0};
    const bool is_word = !is_one_of(byte, "{[\"");
    of->length = 0;
    for (;; byte = next_byte(of)) {
        if (byte == EOF)
            return refuse_end(of);
        if (is_word && is_one_of(byte, ",]} \n\t\r")) {
            ungetc(byte, of->file);
            return POLYTILE_OK;
        }
        step_walk(&walk, byte);
        polytile_status status = is_kept ? keep_byte(of, byte) : POLYTILE_OK;
        if (status != POLYTILE_OK)
            return status;
        if (!is_word && walk.depth <= 0 && !walk.is_in_text)
            return POLYTILE_OK;
    }
}

static bool is_text(const pti_trace_events *of, const char *text) {
    return of->length == (int64_t)strlen(text) && memcmp(of->text, text, (size_t)of->length) == 0;
}

/** Read a member's name and its colon, and the first byte of its value. */
static polytile_status read_name(pti_trace_events *of, int *byte) {
    polytile_status status;
    int colon = ':';
    *byte = next_byte_of_value(of);
    if (*byte != '"')
        return refuse_byte(of, *byte, "a member's name, such as \"traceEvents\",");
    PTI_TRY(walk_value(of, *byte, true));
    colon = next_byte_of_value(of);
    if (colon != ':')
        return refuse_byte(of, colon, "a colon");
    *byte = next_byte_of_value(of);
done:
    return status;
}

static polytile_status refuse_no_events(const pti_trace_events *of) {
    return pti_fail(of->ctx, POLYTILE_INVALID,
                    "%s: is no trace: it has no list \"traceEvents\"; give a file that "
                    "polytile_queue_trace() or --trace wrote",
                    of->path);
}

/** Go on to the list of events of an object. */
static polytile_status find_list(pti_trace_events *of) {
    polytile_status status;
    for (;;) {
        int byte;
        PTI_TRY(read_name(of, &byte));
        if (is_text(of, "\"traceEvents\""))
            return byte == '[' ? POLYTILE_OK : refuse_no_events(of);
        PTI_TRY(check_value(of, byte));
        PTI_TRY(walk_value(of, byte, false));
        byte = next_byte_of_value(of);
        if (byte == '}')
            return refuse_no_events(of);
        if (byte != ',')
            return refuse_byte(of, byte, "a comma");
    }
done:
    return status;
}

static polytile_status find_events(pti_trace_events *of) {
    const int first = next_byte_of_value(of);
    if (first == '[')
        return POLYTILE_OK;
    if (first != '{')
        return refuse_byte(of, first, "an object of JSON");
    of->is_object = true;
    return find_list(of);
}

polytile_status pti_trace_events_open(polytile_context *ctx, const char *path,
                                      pti_trace_events *events) {
    *events = (pti_trace_events){.ctx = ctx, .path = path};
    do
        events->file = fopen(path, "r");
    while (events->file == NULL && errno == EINTR);
    if (events->file == NULL)
        return errno == ENOMEM ? pti_fail_memory(ctx, path, PTI_UNKNOWN_BYTES)
                               : pti_fail_errno(ctx, path, "open");
    const polytile_status status = find_events(events);
    if (status != POLYTILE_OK)
        pti_trace_events_close(events);
    return status;
}

/** What stands behind the list of events has to end. */
static polytile_status read_end(pti_trace_events *of) {
    int byte = next_byte_of_value(of);
    polytile_status status;
    while (of->is_object && byte == ',') {
        PTI_TRY(read_name(of, &byte));
        PTI_TRY(check_value(of, byte));
        PTI_TRY(walk_value(of, byte, false));
        byte = next_byte_of_value(of);
    }
    if (of->is_object && byte != '}')
        return refuse_byte(of, byte, "the end of the object");
    byte = of->is_object ? next_byte_of_value(of) : byte;
    status = byte == EOF && !ferror(of->file) ? POLYTILE_OK : refuse_byte(of, byte, "the end");
done:
    return status;
}

static polytile_status parse_event(pti_trace_events *of, pti_trace_event *event) {
    size_t place;
    const char *why = pti_trace_event_parse(of->text, (size_t)of->length, event, &place);
    if (why == NULL)
        return POLYTILE_OK;
    return pti_fail(of->ctx, POLYTILE_INVALID,
                    "%s: event %" PRId64 " is no JSON: %s (byte %zu of it)", of->path,
                    of->n_events + 1, why, place);
}

polytile_status pti_trace_events_next(pti_trace_events *of, pti_trace_event *event,
                                      bool *is_there) {
    int byte = next_byte_of_value(of);
    polytile_status status;
    *is_there = false;
    if (byte == ']')
        return read_end(of);
    if (of->n_events > 0) {
        if (byte != ',')
            return refuse_byte(of, byte, "a comma, or the end of the events,");
        byte = next_byte_of_value(of);
    }
    if (byte != '{')
        return refuse_byte(of, byte, "an event, an object of JSON,");
    PTI_TRY(walk_value(of, byte, true));
    PTI_TRY(parse_event(of, event));
    of->n_events++;
    *is_there = true;
done:
    return status;
}

void pti_trace_events_close(pti_trace_events *events) {
    if (events->file != NULL)
        fclose(events->file);
    free(events->text);
    *events = (pti_trace_events){0};
}
