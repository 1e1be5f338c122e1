#include "graph/stream/stream.h"

#include "base/checked.h"
#include "base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What a stream did so far. */

static void finish_frame(polytile_stream *stream, const pti_stream_frame *frame) {
    stream->last_finish_s = pti_now_s();
    if (stream->n_finished == 0)
        stream->first_finish_s = stream->last_finish_s;
    stream->latency_s[stream->n_finished % PTI_STREAM_LATENCIES] =
        stream->last_finish_s - frame->pushed_s;
    stream->n_finished++;
    stream->n_failed += frame->error.status != POLYTILE_OK;
}

void pti_stream_finish_frames(polytile_stream *stream) {
    while (stream->n_finished < stream->n_pushed &&
           pti_stream_frame_of(stream, stream->n_finished)->n_left == 0)
        finish_frame(stream, pti_stream_frame_of(stream, stream->n_finished));
}

static int compare_seconds(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void fill_in_latencies(const polytile_stream *stream, polytile_stream_report *report) {
    double sorted[PTI_STREAM_LATENCIES];
    const int64_t n = pti_min(stream->n_finished, PTI_STREAM_LATENCIES);
    if (n == 0)
        return;
    memcpy(sorted, stream->latency_s, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_seconds);
    report->latency_median_s = sorted[n / 2];
    report->latency_99_s = sorted[pti_ceil_div(99 * n, 100) - 1];
    report->latency_most_s = sorted[n - 1];
}

void polytile_stream_get_report(polytile_stream *stream, polytile_stream_report *report) {
    if (report == NULL)
        return;
    *report = (polytile_stream_report){0};
    if (stream == NULL)
        return;
    pthread_mutex_lock(&stream->mutex);
    report->n_pushed = stream->n_pushed;
    report->n_pulled = stream->n_pulled;
    report->n_failed = stream->n_failed;
    report->n_dropped = stream->n_dropped;
    report->n_bytes = stream->n_bytes;
    report->n_lanes = stream->n_lanes;
    if (stream->n_finished > 1)
        report->period_s =
            (stream->last_finish_s - stream->first_finish_s) / (double)(stream->n_finished - 1);
    fill_in_latencies(stream, report);
    pthread_mutex_unlock(&stream->mutex);
}

int polytile_stream_get_lanes(polytile_stream *stream, int capacity, polytile_stream_lane *lanes) {
    if (stream == NULL)
        return 0;
    pthread_mutex_lock(&stream->mutex);
    const double taken_s =
        stream->n_finished > 0 ? stream->last_finish_s - stream->first_push_s : 0;
    for (int l = 0; lanes != NULL && l < stream->n_lanes && l < capacity; l++) {
        const pti_stream_lane *lane = &stream->lane[l];
        lanes[l] = (polytile_stream_lane){.name = lane->name,
                                          .is_unit = lane->is_unit,
                                          .n_bytes = lane->n_bytes,
                                          .busy_s = lane->busy_s,
                                          .occupancy = taken_s > 0 ? lane->busy_s / taken_s : 0};
    }
    pthread_mutex_unlock(&stream->mutex);
    return stream->n_lanes;
}

/** Return the number of an actor's first part that runs here. */
static int find_first_part(const polytile_stream *stream, const char *actor) {
    int first = INT_MAX;
    for (int a = 0; a < stream->n_actors; a++)
        if (strcmp(stream->actor[a].name, actor) == 0 && stream->actor[a].part < first)
            first = stream->actor[a].part;
    return first;
}

double polytile_stream_get_seconds(polytile_stream *stream, const char *actor) {
    double busy_s = 0;
    int64_t n_fired = 0;
    if (stream == NULL || actor == NULL)
        return 0;
    pthread_mutex_lock(&stream->mutex);
    const int first = find_first_part(stream, actor);
    for (int a = 0; a < stream->n_actors; a++) {
        const pti_stream_actor *of = &stream->actor[a];
        const bool is_it = strcmp(of->name, actor) == 0;
        busy_s += is_it ? of->busy_s : 0;
        n_fired += is_it && of->part == first ? of->n_fired : 0;
    }
    pthread_mutex_unlock(&stream->mutex);
    return n_fired > 0 ? busy_s / (double)n_fired : 0;
}
