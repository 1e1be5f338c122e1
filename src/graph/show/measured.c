#include "graph/show/show.h"

#include "graph/stream/stream.h"
#include "partition/show/json_write.h"

#include <stdlib.h>
#include <string.h>

/* What a stream measured, for people and for the next plan. */

static json_t *json_measured_actor(const char *name, double seconds) {
    const pti_json_member members[] = {
        {"name", pti_json_name(name)},
        {"seconds", pti_json_real(seconds)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Return whether an actor is listed already, for another turn. */
static bool is_listed(const polytile_stream *stream, int actor) {
    bool is = false;
    for (int a = 0; a < actor; a++)
        is = is || strcmp(stream->actor[a].name, stream->actor[actor].name) == 0;
    return is;
}

/** Actors that have fired. */
static json_t *json_measured_actors(polytile_stream *stream) {
    json_t *list = json_array();
    for (int a = 0; a < stream->n_actors; a++) {
        const double seconds = polytile_stream_get_seconds(stream, stream->actor[a].name);
        if (seconds > 0 && !is_listed(stream, a))
            list = pti_json_append(list, json_measured_actor(stream->actor[a].name, seconds));
    }
    return list;
}

static json_t *json_link(const pti_stream_lane *lane, double bytes_per_s) {
    const pti_json_member members[] = {
        {"from", pti_json_name(lane->from)},
        {"to", pti_json_name(lane->to)},
        {"bytes_per_s", pti_json_real(bytes_per_s)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Links that moved something. NULL: no memory. */
static json_t *json_links(polytile_stream *stream) {
    json_t *list = json_array();
    polytile_stream_lane *lanes = calloc((size_t)stream->n_lanes + 1, sizeof *lanes);
    polytile_stream_get_lanes(stream, stream->n_lanes, lanes);
    for (int l = 0; lanes != NULL && l < stream->n_lanes; l++)
        if (lanes[l].n_bytes > 0 && lanes[l].busy_s > 0)
            list = pti_json_append(
                list, json_link(&stream->lane[l], (double)lanes[l].n_bytes / lanes[l].busy_s));
    if (lanes == NULL)
        json_decref(list);
    free(lanes);
    return lanes == NULL ? NULL : list;
}

static void write_measured(pti_text *text, const pti_object *object) {
    polytile_stream *stream = (polytile_stream *)object;
    polytile_stream_report report;
    polytile_stream_get_report(stream, &report);
    const pti_json_member members[] = {
        {"period_s", pti_json_real(report.period_s)},
        {"latency_median_s", pti_json_real(report.latency_median_s)},
        {"latency_99_s", pti_json_real(report.latency_99_s)},
        {"latency_most_s", pti_json_real(report.latency_most_s)},
        {"pushed", json_integer(report.n_pushed)},
        {"pulled", json_integer(report.n_pulled)},
        {"failed", json_integer(report.n_failed)},
        {"dropped", json_integer(report.n_dropped)},
        {"bytes", json_integer(report.n_bytes)},
        {NULL, NULL},
    };
    pti_text_add(text, "{\n");
    pti_graph_write_list(text, "actors", json_measured_actors(stream));
    pti_json_write_members(text, pti_json_extend(json_object(), members));
    pti_graph_write_last_list(text, "links", json_links(stream));
    pti_text_add(text, "}\n");
}

polytile_status polytile_stream_to_json(polytile_stream *stream, char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {[POLYTILE_JSON] = write_measured};
    return pti_print(__func__, "stream", stream == NULL ? NULL : &stream->object, printers,
                     POLYTILE_JSON, text);
}
