#include "distribute/show/ranks_plan.h"

#include "access/set/boxes.h"
#include "partition/show/json_write.h"

/* The JSON of a plan of ranks: that of the busiest rank's plan, with further members before. */

static json_t *json_boxes(const pti_boxes *boxes) {
    json_t *list = json_array();
    for (int b = 0; b < boxes->n_boxes; b++)
        if (!pti_box_is_empty(&boxes->box[b]))
            list = pti_json_append(list, pti_json_box(&boxes->box[b]));
    return list;
}

/** Return what goes a way, as one end lists it; the key names the other end. */
static json_t *json_way(const polytile_ranks_plan *plan, const pti_ranks_way *way, const char *key,
                        int other) {
    json_t *arrays = json_array();
    for (int f = 0; f < way->n_flows; f++) {
        const char *name = plan->launches.arrays->operand[way->flow[f].array].name;
        const pti_json_member members[] = {
            {"array", pti_json_name(name)},
            {"bytes", json_integer(way->flow[f].n_bytes)},
            {NULL, NULL},
        };
        arrays = pti_json_append(arrays, pti_json_extend(json_object(), members));
    }
    const pti_json_member members[] = {
        {key, json_integer(other)},
        {"bytes", json_integer(way->n_bytes)},
        {"messages", json_integer(way->n_messages)},
        {"arrays", arrays},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Return a figure of a rank's device. */
static json_t *json_count(const pti_rank_figures *figures, int64_t count) {
    return figures->is_known ? json_integer(count) : json_null();
}

static json_t *json_member(const polytile_ranks_plan *plan, int rank) {
    const pti_members_plan_member *member = &plan->members.member[rank];
    const pti_rank_figures *figures = &plan->figures[rank];
    const pti_json_member members[] = {
        {"rank", plan->of.n_ranks > 0 ? json_integer(rank / plan->of.n_local) : json_null()},
        {"device", json_integer(rank % plan->of.n_local)},
        {"threads", json_boxes(&member->threads)},
        {"n_threads", json_integer(member->n_threads)},
        {"repeated_threads", json_integer(member->n_extra_threads)},
        {"owned_bytes", json_integer(member->owned_bytes)},
        {"sent_bytes", json_integer(member->sent_bytes)},
        {"received_bytes", json_integer(member->received_bytes)},
        {"sends", json_array()},
        {"receives", json_array()},
        {"kernels", json_count(figures, figures->n_kernels)},
        {"h2d_bytes", json_count(figures, figures->h2d_bytes)},
        {"d2h_bytes", json_count(figures, figures->d2h_bytes)},
        {"peak_device_bytes", json_count(figures, figures->peak_device_bytes)},
        {"predicted_seconds",
         figures->is_known ? pti_json_real(figures->predicted_s) : json_null()},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Every rank's lists "sends" and "receives", in one walk over all flows. */
static bool fill_ways(const polytile_ranks_plan *plan, json_t *ranks) {
    bool failed = false;
    pti_ranks_way way;
    for (int f = 0; f < plan->members.n_flows; f += way.n_flows) {
        way = pti_ranks_way_at(&plan->members, f);
        int from = way.flow->from, to = way.flow->to;
        json_t *sends = json_object_get(json_array_get(ranks, (size_t)from), "sends");
        json_t *receives = json_object_get(json_array_get(ranks, (size_t)to), "receives");
        failed |= json_array_append_new(sends, json_way(plan, &way, "to", to)) != 0;
        failed |= json_array_append_new(receives, json_way(plan, &way, "from", from)) != 0;
    }
    return !failed;
}

static json_t *json_grid(const pti_member_grid *grid) {
    json_t *list = json_array();
    for (int d = 0; d < grid->n_dims; d++)
        list = pti_json_append(list, json_integer(grid->extent[d]));
    return list;
}

/** Return the texts of the devices of each rank, or of the process; null where none are given. */
static json_t *json_devices(const polytile_ranks_plan *plan) {
    if (plan->of.device == NULL)
        return json_null();
    json_t *list = json_array();
    for (int m = 0; m < plan->of.n_local; m++)
        list = pti_json_append(list, pti_json_name(plan->of.device[m]));
    return list;
}

static json_t *json_head(const polytile_ranks_plan *plan) {
    const pti_members_plan *members_plan = &plan->members;
    int largest = pti_ranks_with_largest_peak(plan);
    const pti_json_member members[] = {
        {"ranks", json_integer(plan->of.n_ranks)},
        {"devices", json_devices(plan)},
        {"grid", json_grid(&members_plan->grid)},
        {"layout", pti_json_name(plan->layout)},
        {"planned_rank", json_integer(members_plan->busiest)},
        {"exchanges", json_integer(members_plan->n_supersteps)},
        {"launches_per_exchange", json_integer(members_plan->n_longest)},
        {"exchange_bytes", json_integer(members_plan->exchanged_bytes)},
        {"message_bytes", json_integer(members_plan->message_bytes)},
        {"pulled_bytes", json_integer(members_plan->pulled_bytes)},
        {"combined_bytes", json_integer(members_plan->combined_bytes)},
        {"largest_peak_device_bytes", json_integer(plan->figures[largest].peak_device_bytes)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Write a rank a line, since there can be many. */
static void write_ranks(pti_text *text, const polytile_ranks_plan *plan) {
    json_t *ranks = json_array();
    for (int q = 0; q < plan->members.n_members; q++)
        ranks = pti_json_append(ranks, json_member(plan, q));
    text->failed |= !fill_ways(plan, ranks);
    pti_text_add(text, "  \"members\": [");
    for (size_t q = 0; q < json_array_size(ranks); q++)
        pti_json_write_entry(text, json_incref(json_array_get(ranks, q)), q == 0);
    pti_text_add(text, "],\n");
    text->failed |= ranks == NULL;
    json_decref(ranks);
}

/** How elements travel: as a message, from device to device, as a copy of host memory, or in one
 * that both have: down from one device and up to the other. */
static const char *find_way(const polytile_ranks_plan *plan, const pti_members_plan_flow *flow) {
    if (pti_members_plan_is_message(flow))
        return "message";
    if (flow->pulled_bytes > 0)
        return "pull";
    return plan->is_attached[flow->array] ? "host memory" : "copy";
}

/** Return what one exchange moves. */
static json_t *json_flows(const polytile_ranks_plan *plan, const pti_members_plan_flow *flow,
                          int n_flows) {
    json_t *list = json_array();
    for (int f = 0; f < n_flows; f++) {
        const char *name = plan->launches.arrays->operand[flow[f].array].name;
        const pti_json_member members[] = {
            {"from", json_integer(flow[f].from)},
            {"to", json_integer(flow[f].to)},
            {"array", pti_json_name(name)},
            {"bytes", json_integer(flow[f].n_bytes)},
            {"by", pti_json_name(find_way(plan, &flow[f]))},
            {NULL, NULL},
        };
        list = pti_json_append(list, pti_json_extend(json_object(), members));
    }
    return list;
}

static json_t *json_step(const polytile_ranks_plan *plan, int number) {
    const pti_members_plan_step *step = &plan->members.step[number];
    const pti_members_plan_step *as = &plan->members.step[step->same_as];
    const pti_members_plan_flow *flow = &plan->members.step_flow[as->first_flow];
    const bool is_new = step->same_as == number;
    const pti_json_member members[] = {
        {"first_launch", json_integer(step->first_launch)},
        {"launches", json_integer(step->n_launches)},
        {"same_as", is_new ? json_null() : json_integer(step->same_as)},
        {"combined_bytes", json_integer(step->combined_bytes)},
        {"before", json_flows(plan, flow, is_new ? step->n_before : 0)},
        {"behind", json_flows(plan, flow + step->n_before, is_new ? step->n_after : 0)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Write a superstep a line; one like an earlier one has its number in place of what it moves. */
static void write_steps(pti_text *text, const polytile_ranks_plan *plan) {
    pti_text_add(text, "  \"supersteps\": [");
    for (int s = 0; s < plan->members.n_supersteps; s++)
        pti_json_write_entry(text, json_step(plan, s), s == 0);
    pti_text_add(text, "],\n");
}

void pti_ranks_write_json(pti_text *text, const pti_object *object) {
    const polytile_ranks_plan *plan = (const polytile_ranks_plan *)object;
    pti_text_add(text, "{\n");
    pti_json_write_members(text, json_head(plan));
    write_ranks(text, plan);
    write_steps(text, plan);
    pti_plan_write_json_members(text, plan->inner);
    pti_text_add(text, "}\n");
}
