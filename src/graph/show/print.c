#include "graph/show/show.h"

#include "partition/show/json_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

polytile_status polytile_graph_plan_to_string(const polytile_graph_plan *plan,
                                              polytile_format format, char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {
        [POLYTILE_TEXT] = pti_graph_plan_write_text,
        [POLYTILE_JSON] = pti_graph_plan_write_json,
        [POLYTILE_SVG] = pti_graph_plan_draw,
    };
    return pti_print(__func__, "plan", plan == NULL ? NULL : &plan->object, printers, format, text);
}

/** Return whether an actor runs on a unit in a turn, and in none before. */
static bool is_first_on(const polytile_graph_plan *plan, int actor, int turn) {
    const pti_planned_turn *on = &plan->turn[actor * plan->n_turns];
    bool is = true;
    for (int t = 0; t < turn; t++)
        is = is && on[t].unit != on[turn].unit;
    return is;
}

/* Text. */

static void write_head(pti_text *text, const polytile_graph_plan *plan) {
    pti_text_add(text, "%s: %s, objective %s%s%s\n", plan->name,
                 pti_words_count(plan->n_actors, "actor").text, plan->objective,
                 plan->overlap ? "" : ", without overlap", plan->strategy->note);
    if (plan->n_turns > 1)
        pti_text_add(text, PTI_ROW "%d frames, which go in turn over units\n", "round",
                     plan->n_turns);
    pti_text_add(text, PTI_ROW "%s, %.4g frames a second\n", "period",
                 pti_words_seconds(plan->period_s).text,
                 plan->period_s > 0 ? 1 / plan->period_s : 0);
    pti_text_add(text, PTI_ROW "%s, %s\n", "bound", pti_words_seconds(plan->bound_s).text,
                 plan->bound);
    pti_text_add(text, PTI_ROW "%s, %s in flight\n", "latency",
                 pti_words_seconds(plan->latency_s).text,
                 pti_words_count(plan->frames_in_flight, "frame").text);
    pti_text_add(text, PTI_ROW "%s\n", "mapping",
                 plan->mapping_is_exact ? "the best there is" : "the best that was found");
    pti_text_add(text, PTI_ROW "%s\n", "channels",
                 plan->channels_are_least ? "the fewest bytes for this period"
                                          : "few bytes for this period, not proved the fewest");
}

/** A row for each unit that an actor runs on. */
static void write_actor(pti_text *text, const polytile_graph_plan *plan, int actor) {
    const bool takes_turns = pti_plan_count_turns(plan, actor) > 1;
    const pti_planned_actor *of = &plan->actor[actor];
    const pti_words part = of->n_parts > 0
                               ? pti_words_of(", part %d of %d", of->part + 1, of->n_parts)
                               : pti_words_of("%s", "");
    for (int t = 0; t < plan->n_turns; t++) {
        const pti_planned_turn *turn = &plan->turn[actor * plan->n_turns + t];
        if (is_first_on(plan, actor, t))
            pti_text_add(text, "  %-28s %12s on %s%s%s\n", plan->actor[actor].name,
                         pti_words_seconds(turn->seconds).text, plan->unit[turn->unit].name,
                         takes_turns ? ", in turn" : "", part.text);
    }
}

static void write_channel(pti_text *text, const polytile_graph_plan *plan,
                          const pti_channel *channel) {
    const pti_words name = plan->n_turns > 1
                               ? pti_words_of("%.200s, turn %d", channel->array, channel->turn)
                               : pti_words_of("%.200s", channel->array);
    pti_text_add(text, "  %-28s %12s, %s, colour %d at %" PRId64 "\n", name.text,
                 pti_words_size(channel->n_bytes).text,
                 pti_words_count(channel->capacity, "frame").text, channel->colour,
                 channel->offset_bytes);
}

static void write_lanes(pti_text *text, const polytile_graph_plan *plan) {
    pti_text_add(text, "busy in a period\n");
    for (int l = 0; l < plan->n_lanes; l++)
        pti_text_add(text, "  %-28s %12s %6.1f %%\n", plan->lane[l].name,
                     pti_words_seconds(plan->lane[l].busy_s).text,
                     plan->period_s > 0 ? 100 * plan->lane[l].busy_s / plan->period_s : 0);
}

static void write_memories(pti_text *text, const polytile_graph_plan *plan) {
    for (int m = 0; m < plan->n_memories; m++) {
        const pti_planned_memory *memory = &plan->memory[m];
        pti_text_add(text, "memory of %s: %s%s%s\n", memory->name,
                     pti_words_size(memory->n_bytes).text, memory->limit_bytes > 0 ? " of " : "",
                     memory->limit_bytes > 0 ? pti_words_size(memory->limit_bytes).text : "");
        for (int c = 0; c < plan->n_channels; c++)
            if (plan->channel[c].memory == m && !plan->channel[c].is_order)
                write_channel(text, plan, &plan->channel[c]);
    }
}

void pti_graph_plan_write_text(pti_text *text, const pti_object *object) {
    const polytile_graph_plan *plan = (const polytile_graph_plan *)object;
    write_head(text, plan);
    pti_text_add(text, "actors\n");
    for (int a = 0; a < plan->n_actors; a++)
        write_actor(text, plan, a);
    write_lanes(text, plan);
    write_memories(text, plan);
    if (plan->notes.data != NULL)
        pti_text_add(text, "notes\n%s", plan->notes.data);
}

/* JSON. */

/** The turns in which an actor runs on the unit of one of them. */
static json_t *json_turns(const polytile_graph_plan *plan, int actor, int unit) {
    json_t *list = json_array();
    for (int t = 0; t < plan->n_turns; t++)
        if (plan->turn[actor * plan->n_turns + t].unit == unit)
            list = pti_json_append(list, json_integer(t));
    return list;
}

static json_t *json_actor(const polytile_graph_plan *plan, int actor,
                          const pti_planned_turn *turn) {
    const bool takes_turns = pti_plan_count_turns(plan, actor) > 1;
    const pti_json_member members[] = {
        {"name", pti_json_name(plan->actor[actor].name)},
        {"on", pti_json_name(plan->unit[turn->unit].name)},
        {"seconds", pti_json_real(turn->seconds)},
        {takes_turns ? "turns" : NULL, takes_turns ? json_turns(plan, actor, turn->unit) : NULL},
        {NULL, NULL},
    };
    const bool is_part = plan->actor[actor].n_parts > 0;
    const pti_json_member part[] = {
        {is_part ? "part" : NULL, is_part ? json_integer(plan->actor[actor].part) : NULL},
        {NULL, NULL},
    };
    return pti_json_extend(pti_json_extend(json_object(), members), part);
}

/** Actors, once a unit. */
static json_t *json_actors(const polytile_graph_plan *plan) {
    json_t *list = json_array();
    for (int a = 0; a < plan->n_actors; a++)
        for (int t = 0; t < plan->n_turns; t++)
            if (is_first_on(plan, a, t))
                list =
                    pti_json_append(list, json_actor(plan, a, &plan->turn[a * plan->n_turns + t]));
    return list;
}

static json_t *json_channel(const polytile_graph_plan *plan, const pti_channel *channel) {
    const bool has_turns = plan->n_turns > 1;
    const pti_json_member members[] = {
        {"array", pti_json_name(channel->array)},
        {"on", pti_json_name(plan->memory[channel->memory].name)},
        {"bytes", json_integer(channel->n_bytes)},
        {"capacity", json_integer(channel->capacity)},
        {"colour", json_integer(channel->colour)},
        {"offset_bytes", json_integer(channel->offset_bytes)},
        {has_turns ? "turn" : NULL, has_turns ? json_integer(channel->turn) : NULL},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

static json_t *json_channels(const polytile_graph_plan *plan) {
    json_t *list = json_array();
    for (int c = 0; c < plan->n_channels; c++)
        if (!plan->channel[c].is_order)
            list = pti_json_append(list, json_channel(plan, &plan->channel[c]));
    return list;
}

static json_t *json_memories(const polytile_graph_plan *plan) {
    json_t *list = json_array();
    for (int m = 0; m < plan->n_memories; m++) {
        const pti_json_member members[] = {
            {"on", pti_json_name(plan->memory[m].name)},
            {"bytes", json_integer(plan->memory[m].n_bytes)},
            {"limit_bytes", json_integer(plan->memory[m].limit_bytes)},
            {NULL, NULL},
        };
        list = pti_json_append(list, pti_json_extend(json_object(), members));
    }
    return list;
}

static json_t *json_notes(const polytile_graph_plan *plan) {
    json_t *list = json_array();
    const char *note = plan->notes.data == NULL ? "" : plan->notes.data;
    while (*note != '\0') {
        const size_t length = strcspn(note, "\n");
        list = pti_json_append(list, json_stringn(note, length));
        note += length + (note[length] == '\n');
    }
    return list;
}

void pti_graph_write_last_list(pti_text *text, const char *key, json_t *list) {
    pti_json_write_list(text, key, list);
    pti_text_add(text, "\n");
}

void pti_graph_write_list(pti_text *text, const char *key, json_t *list) {
    pti_json_write_list(text, key, list);
    pti_text_add(text, ",\n");
}

void pti_graph_plan_write_json(pti_text *text, const pti_object *object) {
    const polytile_graph_plan *plan = (const polytile_graph_plan *)object;
    const pti_json_member members[] = {
        {"period_s", pti_json_real(plan->period_s)},
        {"bound_s", pti_json_real(plan->bound_s)},
        {"bound", pti_json_name(plan->bound)},
        {"latency_s", pti_json_real(plan->latency_s)},
        {"frames_in_flight", json_integer(plan->frames_in_flight)},
        {"turns", json_integer(plan->n_turns)},
        {"objective", pti_json_name(plan->objective)},
        {"strategy", pti_json_name(plan->strategy->name)},
        {"overlap", json_boolean(plan->overlap)},
        {"mapping_is_exact", json_boolean(plan->mapping_is_exact)},
        {"channels_are_least", json_boolean(plan->channels_are_least)},
        {"plan_seconds", pti_json_real(plan->plan_s)},
        {NULL, NULL},
    };
    json_t *notes = json_notes(plan);
    pti_text_add(text, "{\n");
    pti_graph_write_list(text, "actors", json_actors(plan));
    pti_graph_write_list(text, "channels", json_channels(plan));
    pti_graph_write_list(text, "memory", json_memories(plan));
    pti_json_write_members(text, pti_json_extend(json_object(), members));
    pti_text_add(text, "  \"notes\": ");
    pti_text_add_json(text, notes, JSON_ENCODE_ANY);
    pti_text_add(text, "\n}\n");
    json_decref(notes);
}
