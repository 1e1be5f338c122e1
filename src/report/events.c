#include "report/events.h"

#include "base/list.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** The longest text of one event; those of traces have some hundred bytes. */
enum { MOST_EVENT_BYTES = 1 << 20 };

static int read_byte(pti_trace_events *events) {
    return getc_unlocked(events->file);
}

static int next_byte_of_value(pti_trace_events *events) {
    int byte;
    do
        byte = read_byte(events);
    while (byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r');
    return byte;
}

static polytile_status refuse_end(const pti_trace_events *events) {
    if (ferror(events->file))
        return pti_fail_errno(events->ctx, events->path, "read");
    if (events->n_events == 0)
        return pti_fail(events->ctx, POLYTILE_INVALID,
                        "%s: the file ends before its first event; it is empty or was cut off",
                        events->path);
    return pti_fail(events->ctx, POLYTILE_INVALID,
                    "%s: the file ends behind event %" PRId64
                    "; it was cut off, or is still being written: end the trace first",
                    events->path, events->n_events);
}

static polytile_status refuse_byte(const pti_trace_events *events, int byte, const char *wanted) {
    if (byte == EOF)
        return refuse_end(events);
    const char shown[] = {(char)byte, '\0'};
    return pti_fail(events->ctx, POLYTILE_INVALID,
                    "%s: is no trace: byte %ld is \"%s\", where %s is expected", events->path,
                    ftell(events->file) - 1, byte == '\0' ? "NUL" : shown, wanted);
}

static bool is_one_of(int byte, const char *bytes) {
    return byte != '\0' && strchr(bytes, byte) != NULL;
}

/** Refuse a byte that no value begins with. */
static polytile_status check_value(const pti_trace_events *events, int byte) {
    return byte == EOF || byte == '\0' || is_one_of(byte, ",]}:")
               ? refuse_byte(events, byte, "a value")
               : POLYTILE_OK;
}

/** Keep a byte of an event's text. */
static polytile_status keep_byte(pti_trace_events *events, int byte) {
    if (events->length == MOST_EVENT_BYTES)
        return pti_fail(events->ctx, POLYTILE_INVALID,
                        "%s: event %" PRId64 " has more than %d bytes", events->path,
                        events->n_events + 1, MOST_EVENT_BYTES);
    if (!PTI_GROW(events->text, events->length, &events->capacity))
        return pti_fail_memory(events->ctx, "an event of a trace", (double)events->capacity);
    events->text[events->length++] = (char)byte;
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
static polytile_status walk_value(pti_trace_events *events, int byte, bool is_kept) {
    value_walk walk = {0};
    const bool is_word = !is_one_of(byte, "{[\"");
    events->length = 0;
    for (;; byte = read_byte(events)) {
        if (byte == EOF)
            return refuse_end(events);
        if (is_word && is_one_of(byte, ",]} \n\t\r")) {
            ungetc(byte, events->file);
            return POLYTILE_OK;
        }
        step_walk(&walk, byte);
        polytile_status status = is_kept ? keep_byte(events, byte) : POLYTILE_OK;
        if (status != POLYTILE_OK)
            return status;
        if (!is_word && walk.depth <= 0 && !walk.is_in_text)
            return POLYTILE_OK;
    }
}

static bool is_text(const pti_trace_events *events, const char *text) {
    return events->length == (int64_t)strlen(text) &&
           memcmp(events->text, text, (size_t)events->length) == 0;
}

/** Read a member's name and its colon, and the first byte of its value. */
static polytile_status read_name(pti_trace_events *events, int *byte) {
    polytile_status status;
    int colon = ':';
    *byte = next_byte_of_value(events);
    if (*byte != '"')
        return refuse_byte(events, *byte, "a member's name, such as \"traceEvents\",");
    PTI_TRY(walk_value(events, *byte, true));
    colon = next_byte_of_value(events);
    if (colon != ':')
        return refuse_byte(events, colon, "a colon");
    *byte = next_byte_of_value(events);
done:
    return status;
}

static polytile_status refuse_no_events(const pti_trace_events *events) {
    return pti_fail(events->ctx, POLYTILE_INVALID,
                    "%s: is no trace: it has no list \"traceEvents\"; give a file that "
                    "polytile_queue_trace() or --trace wrote",
                    events->path);
}

/** Go on to the list of events of an object. */
static polytile_status find_list(pti_trace_events *events) {
    polytile_status status;
    for (;;) {
        int byte;
        PTI_TRY(read_name(events, &byte));
        if (is_text(events, "\"traceEvents\""))
            return byte == '[' ? POLYTILE_OK : refuse_no_events(events);
        PTI_TRY(check_value(events, byte));
        PTI_TRY(walk_value(events, byte, false));
        byte = next_byte_of_value(events);
        if (byte == '}')
            return refuse_no_events(events);
        if (byte != ',')
            return refuse_byte(events, byte, "a comma");
    }
done:
    return status;
}

static polytile_status find_events(pti_trace_events *events) {
    const int first = next_byte_of_value(events);
    if (first == '[')
        return POLYTILE_OK;
    if (first != '{')
        return refuse_byte(events, first, "an object of JSON");
    events->is_object = true;
    return find_list(events);
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

/** Read what comes after the list of events, up to the end of the file. */
static polytile_status read_end(pti_trace_events *events) {
    int byte = next_byte_of_value(events);
    polytile_status status;
    while (events->is_object && byte == ',') {
        PTI_TRY(read_name(events, &byte));
        PTI_TRY(check_value(events, byte));
        PTI_TRY(walk_value(events, byte, false));
        byte = next_byte_of_value(events);
    }
    if (events->is_object && byte != '}')
        return refuse_byte(events, byte, "the end of the object");
    byte = events->is_object ? next_byte_of_value(events) : byte;
    status =
        byte == EOF && !ferror(events->file) ? POLYTILE_OK : refuse_byte(events, byte, "the end");
done:
    return status;
}

static polytile_status parse_event(pti_trace_events *events, pti_trace_event *event) {
    size_t place;
    const char *why = pti_trace_event_parse(events->text, (size_t)events->length, event, &place);
    if (why == NULL)
        return POLYTILE_OK;
    return pti_fail(events->ctx, POLYTILE_INVALID,
                    "%s: event %" PRId64 " is no JSON: %s (byte %zu of it)", events->path,
                    events->n_events + 1, why, place);
}

polytile_status pti_trace_events_next(pti_trace_events *events, pti_trace_event *event,
                                      bool *is_there) {
    int byte = next_byte_of_value(events);
    polytile_status status;
    *is_there = false;
    if (byte == ']')
        return read_end(events);
    if (events->n_events > 0) {
        if (byte != ',')
            return refuse_byte(events, byte, "a comma, or the end of the events,");
        byte = next_byte_of_value(events);
    }
    if (byte != '{')
        return refuse_byte(events, byte, "an event, an object of JSON,");
    PTI_TRY(walk_value(events, byte, true));
    PTI_TRY(parse_event(events, event));
    events->n_events++;
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
