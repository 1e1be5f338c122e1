#include "distribute/show/ranks_plan.h"

#include "base/json_name.h"
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

/* The JSON of a plan of ranks: that of the busiest rank's plan, with further keys before. jansson's
 * setters fail on a NULL value, so that a failed allocation is found at the end. */

static int64_t get_lo(const polytile_range *range) {
    return range->lo;
}

static int64_t get_hi(const polytile_range *range) {
    return range->hi;
}

static json_t *json_bounds(const polytile_domain *box, int64_t (*bound)(const polytile_range *)) {
    json_t *list = json_array();
    for (int d = 0; d < box->n_dims; d++)
        if (json_array_append_new(list, json_integer(bound(&box->range[d]))) != 0)
            return json_decref(list), NULL;
    return list;
}

static json_t *json_boxes(const pti_boxes *boxes) {
    json_t *list = json_array();
    for (int b = 0; b < boxes->n_boxes; b++) {
        const polytile_domain *box = &boxes->box[b];
        if (!pti_box_is_empty(box) &&
            json_array_append_new(list, json_pack("{s:o, s:o}", "lo", json_bounds(box, get_lo),
                                                  "hi", json_bounds(box, get_hi))) != 0)
            return json_decref(list), NULL;
    }
    return list;
}

/* What goes the same way as a flow, the first of its sort. n_flows: how many those are. */
static json_t *json_way(const polytile_ranks_plan *plan, const pti_outer_flow *flow, int n_flows,
                        const char *key, int other) {
    json_t *arrays = json_array();
    int64_t n_bytes = 0;
    int n_messages = 0;
    for (int f = 0; f < n_flows; f++) {
        const char *name = plan->launches.arrays->operand[flow[f].array].name;
        n_bytes += flow[f].n_bytes;
        n_messages += flow[f].n_messages;
        if (json_array_append_new(arrays, json_pack("{s:o, s:I}", "array", pti_json_name(name),
                                                    "bytes", (json_int_t)flow[f].n_bytes)) != 0)
            return json_decref(arrays), NULL;
    }
    return json_pack("{s:i, s:I, s:i, s:o}", key, other, "bytes", (json_int_t)n_bytes, "messages",
                     n_messages, "arrays", arrays);
}

static int count_same_way(const pti_outer_plan *outer, int f) {
    int n = 1;
    while (f + n < outer->n_flows && outer->flow[f + n].to == outer->flow[f].to &&
           outer->flow[f + n].from == outer->flow[f].from)
        n++;
    return n;
}

/* Every rank's lists "sends" and "receives", in one walk over all flows. */
static bool fill_ways(const polytile_ranks_plan *plan, json_t *members) {
    const pti_outer_plan *outer = &plan->outer;
    for (int f = 0, n = 0; f < outer->n_flows; f += n) {
        const pti_outer_flow *flow = &outer->flow[f];
        n = count_same_way(outer, f);
        json_t *sends = json_object_get(json_array_get(members, (size_t)flow->from), "sends");
        json_t *receives = json_object_get(json_array_get(members, (size_t)flow->to), "receives");
        if (json_array_append_new(sends, json_way(plan, flow, n, "to", flow->to)) != 0 ||
            json_array_append_new(receives, json_way(plan, flow, n, "from", flow->from)) != 0)
            return false;
    }
    return true;
}

static json_t *json_count(const pti_rank_figures *figures, int64_t count) {
    return figures->is_known ? json_integer(count) : json_null();
}

static json_t *json_member(const polytile_ranks_plan *plan, int rank) {
    const pti_outer_member *member = &plan->outer.member[rank];
    const pti_rank_figures *figures = &plan->figures[rank];
    return json_pack("{s:i, s:o, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
                     "rank", rank, "threads", json_boxes(&member->threads), "n_threads",
                     (json_int_t)member->n_threads, "repeated_threads",
                     (json_int_t)member->n_extra_threads, "owned_bytes",
                     (json_int_t)member->owned_bytes, "sent_bytes", (json_int_t)member->sent_bytes,
                     "received_bytes", (json_int_t)member->received_bytes, "sends", json_array(),
                     "receives", json_array(), "kernels", json_count(figures, figures->n_kernels),
                     "h2d_bytes", json_count(figures, figures->h2d_bytes), "d2h_bytes",
                     json_count(figures, figures->d2h_bytes), "peak_device_bytes",
                     json_count(figures, figures->peak_device_bytes), "predicted_seconds",
                     figures->is_known ? json_real(figures->predicted_s) : json_null());
}

static json_t *json_members(const polytile_ranks_plan *plan) {
    json_t *members = json_array();
    for (int q = 0; q < plan->outer.n_members; q++)
        if (json_array_append_new(members, json_member(plan, q)) != 0)
            return json_decref(members), NULL;
    return fill_ways(plan, members) ? members : (json_decref(members), NULL);
}

static json_t *json_grid(const pti_member_grid *grid) {
    json_t *list = json_array();
    for (int d = 0; d < grid->n_dims; d++)
        if (json_array_append_new(list, json_integer(grid->extent[d])) != 0)
            return json_decref(list), NULL;
    return list;
}

static json_t *json_outer(const polytile_ranks_plan *plan) {
    const pti_outer_plan *outer = &plan->outer;
    int largest = pti_ranks_with_largest_peak(plan);
    return json_pack(
        "{s:i, s:o, s:s, s:i, s:i, s:i, s:I, s:I, s:I, s:o}", "ranks", outer->n_members, "grid",
        json_grid(&outer->grid), "layout", plan->layout, "planned_rank", outer->busiest,
        "exchanges", outer->n_groups, "launches_per_exchange", outer->n_longest, "exchange_bytes",
        (json_int_t)outer->exchanged_bytes, "combined_bytes", (json_int_t)outer->combined_bytes,
        "largest_peak_device_bytes", (json_int_t)plan->figures[largest].peak_device_bytes,
        "members", json_members(plan));
}

/* A list has an entry a line, since there can be many. */
static void add_value(pti_text *text, const json_t *value) {
    size_t flags = JSON_ENCODE_ANY | JSON_REAL_PRECISION(15);
    bool is_list = json_array_size(value) > 0 && json_is_object(json_array_get(value, 0));
    size_t n = is_list ? json_array_size(value) : 1;
    for (size_t k = 0; k < n; k++) {
        if (is_list)
            pti_text_add(text, k == 0 ? "[\n    " : ",\n    ");
        pti_text_add_json(text, is_list ? json_array_get(value, k) : value, flags);
    }
    pti_text_add(text, is_list ? "],\n" : ",\n");
}

/* Further keys in front of an object's. */
static void add_before(pti_text *text, json_t *further, const char *object) {
    const char *key;
    json_t *value;
    pti_text_add(text, "{\n");
    json_object_foreach(further, key, value) {
        pti_text_add(text, "  \"%s\": ", key);
        add_value(text, value);
    }
    pti_text_add(text, "%s", object + strcspn(object, "\n") + 1);
}

polytile_status pti_ranks_to_json(const polytile_ranks_plan *plan, char **text) {
    pti_text out = {0};
    char *inner = NULL;
    json_t *outer = json_outer(plan);
    polytile_status status = pti_plan_to_json(plan->inner, &inner);
    if (status == POLYTILE_OK && outer != NULL)
        add_before(&out, outer, inner);
    if (status == POLYTILE_OK && (outer == NULL || out.failed))
        status = pti_fail_memory(plan->object.context, "the JSON of a plan", PTI_UNKNOWN_BYTES);
    json_decref(outer);
    free(inner);
    if (status != POLYTILE_OK)
        pti_text_free(&out);
    *text = out.data;
    return status;
}
