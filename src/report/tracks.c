#include "report/show.h"

#include "base/checked.h"
#include "partition/show/json_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** A page with no more operations than this shows each of them. */
enum { MOST_SLICES = 20000 };
/** Else it has spans: the least and the most of a track, and the most of all tracks. */
enum { LEAST_SPANS = 128, MOST_SPANS = 16384, MOST_SPANS_OF_ALL = 1 << 20 };

/** Digits of numbers below 64: how busy a span is, and which kind is in it. */
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
enum { N_DIGITS = 64 };

/** One of the equal spans that a track is cut into. */
typedef struct busy_span {
    int64_t busy_ns;
    int64_t lead_ns; /* of the kind over all others, by the vote of Boyer and Moore (1981) */
    int kind;
} busy_span;

/** What is written of the tracks. */
typedef struct tracks_page {
    const polytile_trace *of;
    pti_text *text;
    int *number_of_kind; /* in the list of kinds of the page; owned */
    int *row_of_track;   /* of the spans; -1: it has none; owned */
    int n_rows;
    int64_t n_spans;  /* of each row */
    busy_span *spans; /* owned */
} tracks_page;

/** Number the kinds as the page lists them; those that it does not list share the last number. */
static bool number_kinds(tracks_page *page) {
    const polytile_trace *trace = page->of;
    int64_t n;
    const pti_traced_kind **kinds = pti_trace_longest_kinds(trace, &n);
    page->number_of_kind = malloc((size_t)(trace->n_kinds + 1) * sizeof(int));
    if (kinds == NULL || page->number_of_kind == NULL) {
        free((void *)kinds);
        return false;
    }
    for (int64_t k = 0; k < trace->n_kinds; k++)
        page->number_of_kind[k] = N_DIGITS - 1;
    for (int64_t k = 0; k < n && k < N_DIGITS - 1; k++)
        page->number_of_kind[kinds[k] - trace->kind] = (int)k;
    free((void *)kinds);
    return true;
}

static bool number_rows(tracks_page *page) {
    page->row_of_track = malloc((size_t)page->of->n_tracks * sizeof(int));
    for (int t = 0; page->row_of_track != NULL && t < page->of->n_tracks; t++)
        page->row_of_track[t] = page->of->track[t].n_slices > 0 ? page->n_rows++ : -1;
    return page->row_of_track != NULL;
}

/** Count a part of an operation that lies in a span, whose kind is that of most of its time. */
static void vote_for_kind(busy_span *of, int kind, int64_t part_ns) {
    of->busy_ns += part_ns;
    if (of->kind == kind || of->lead_ns == 0) {
        of->kind = kind;
        of->lead_ns += part_ns;
    } else if (of->lead_ns >= part_ns) {
        of->lead_ns -= part_ns;
    } else {
        of->kind = kind;
        of->lead_ns = part_ns - of->lead_ns;
    }
}

/** Return where a span begins: the first of the time behind all spans before it. */
static int64_t begin_of(const tracks_page *page, int64_t k) {
    return (int64_t)((__int128)page->of->end_ns * k / page->n_spans);
}

static int64_t span_at(const tracks_page *page, int64_t time_ns) {
    int64_t k = (int64_t)((__int128)time_ns * page->n_spans / pti_max(page->of->end_ns, 1));
    k = pti_min(k, page->n_spans - 1);
    while (k + 1 < page->n_spans && begin_of(page, k + 1) <= time_ns)
        k++;
    return k;
}

/** Count an operation from a time on, behind which its track was free. */
static void count_in_spans(const tracks_page *page, const pti_traced_slice *slice,
                           int64_t begin_ns) {
    busy_span *row = page->spans + page->n_spans * page->row_of_track[slice->track];
    for (int64_t k = span_at(page, begin_ns); k < page->n_spans && begin_ns < slice->end_ns; k++) {
        const int64_t end_ns =
            k + 1 == page->n_spans ? slice->end_ns : pti_min(slice->end_ns, begin_of(page, k + 1));
        vote_for_kind(&row[k], page->number_of_kind[slice->kind], end_ns - begin_ns);
        begin_ns = end_ns;
    }
}

/** Count what each track does in each span of time. False when memory runs out. */
static bool count_work_in_spans(tracks_page *page) {
    const polytile_trace *trace = page->of;
    int64_t *end_ns = calloc((size_t)trace->n_tracks, sizeof *end_ns);
    page->n_spans = pti_min(pti_max(MOST_SPANS_OF_ALL / page->n_rows, LEAST_SPANS), MOST_SPANS);
    page->spans = calloc((size_t)(page->n_rows * page->n_spans), sizeof *page->spans);
    for (int64_t k = 0; end_ns != NULL && page->spans != NULL && k < trace->n_slices; k++) {
        const pti_traced_slice *slice = &trace->slice[k];
        count_in_spans(page, slice, pti_max(slice->begin_ns, end_ns[slice->track]));
        end_ns[slice->track] = pti_max(end_ns[slice->track], slice->end_ns);
    }
    const bool is_counted = end_ns != NULL && page->spans != NULL;
    free(end_ns);
    return is_counted;
}

/** Return a digit that is 0 only where nothing runs, and the last only where something always
 * does. */
static char busy_digit(int64_t busy_ns, int64_t span_ns) {
    if (busy_ns <= 0)
        return digits[0];
    if (busy_ns >= span_ns)
        return digits[N_DIGITS - 1];
    const double part = (double)busy_ns / (double)span_ns;
    return digits[1 + (int)(part * (N_DIGITS - 2))];
}

static void write_spans(const tracks_page *page, int track) {
    const busy_span *row = page->spans + page->n_spans * page->row_of_track[track];
    pti_text_add(page->text, ", \"busy\": \"");
    char *written = pti_text_extend(page->text, (size_t)page->n_spans);
    for (int64_t k = 0; written != NULL && k < page->n_spans; k++)
        written[k] = busy_digit(row[k].busy_ns, begin_of(page, k + 1) - begin_of(page, k));
    pti_text_add(page->text, "\", \"kinds\": \"");
    written = pti_text_extend(page->text, (size_t)page->n_spans);
    for (int64_t k = 0; written != NULL && k < page->n_spans; k++)
        written[k] = digits[row[k].kind];
    pti_text_add(page->text, "\"");
}

static void write_slices(const tracks_page *page, int track) {
    const char *comma = "";
    pti_text_add(page->text, ", \"slices\": [");
    for (int64_t k = 0; k < page->of->n_slices; k++) {
        const pti_traced_slice *slice = &page->of->slice[k];
        if (slice->track != track)
            continue;
        pti_text_add(page->text, "%s[%" PRId64 ",%" PRId64 ",%d]", comma, slice->begin_ns,
                     slice->end_ns - slice->begin_ns, page->number_of_kind[slice->kind]);
        comma = ",";
    }
    pti_text_add(page->text, "]");
}

static void write_track(const tracks_page *page, int t, bool has_spans) {
    const pti_traced_track *track = &page->of->track[t];
    json_t *device = pti_json_name(pti_process_name(page->of, track->process));
    json_t *name = pti_json_name(track->name == NULL ? "" : track->name);
    pti_text_add(page->text,
                 "{\"process\": %d, \"place\": %" PRId64 ", \"device\": ", track->process,
                 track->place);
    pti_text_add_json(page->text, device, JSON_ENCODE_ANY);
    pti_text_add(page->text, ", \"name\": ");
    pti_text_add_json(page->text, name, JSON_ENCODE_ANY);
    (has_spans ? write_spans : write_slices)(page, t);
    pti_text_add(page->text, "}");
    json_decref(device);
    json_decref(name);
}

void pti_trace_write_tracks(pti_text *text, const polytile_trace *trace) {
    tracks_page page = {.of = trace, .text = text};
    const bool has_spans = trace->n_slices > MOST_SLICES;
    const char *comma = "";
    if (!number_kinds(&page) || !number_rows(&page) || (has_spans && !count_work_in_spans(&page)))
        text->failed = true;
    pti_text_add(text, "[");
    for (int t = 0; !text->failed && t < trace->n_tracks; t++) {
        if (page.row_of_track[t] < 0)
            continue;
        pti_text_add(text, "%s\n", comma);
        write_track(&page, t, has_spans);
        comma = ",";
    }
    pti_text_add(text, "]");
    free(page.number_of_kind);
    free(page.row_of_track);
    free(page.spans);
}
