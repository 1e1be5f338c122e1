#include "distribute/outer_plan.h"

#include "base/text.h"
#include <polytile/size.h>

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

static void add_size(pti_text *text, int width, int64_t n_bytes) {
    char buffer[32];
    pti_text_add(text, "%*s", width, polytile_size_format(n_bytes, buffer));
}

static void add_grid(pti_text *text, const pti_member_grid *grid) {
    for (int d = 0; d < grid->n_dims; d++)
        pti_text_add(text, "%s%d", d == 0 ? "" : "x", grid->extent[d]);
}

static void add_member(pti_text *text, const pti_outer_plan *plan, int q) {
    const pti_outer_member *member = &plan->member[q];
    pti_text_add(text, "%6d %20" PRId64 " ", q, member->n_threads);
    add_size(text, 12, member->owned_bytes);
    add_size(text, 13, member->received_bytes);
    pti_text_add(text, " %8d  ", member->n_messages);
    for (int k = 0; k < member->n_neighbours; k++) {
        pti_text_add(text, "%s%d: ", k == 0 ? "" : ", ", member->neighbour[k].member);
        add_size(text, 0, member->neighbour[k].n_bytes);
    }
    pti_text_add(text, "\n");
}

static char *print_text(const pti_outer_plan *plan) {
    pti_text text = {0};
    pti_text_add(&text, "%s over %d ranks, ", plan->kernel, plan->n_members);
    add_grid(&text, &plan->grid);
    pti_text_add(&text, ", %s\n", plan->layout);
    if (plan->combined_bytes > 0) {
        add_size(&text, 0, plan->combined_bytes);
        pti_text_add(&text, " combined across all ranks\n");
    }
    pti_text_add(&text, "%6s %20s %12s %12s %8s  %s\n", "rank", "threads", "owned", "received",
                 "messages", "from");
    for (int q = 0; q < plan->n_members; q++)
        add_member(&text, plan, q);
    if (text.failed)
        pti_text_free(&text);
    return text.data;
}

/* The setters of jansson fail on a NULL value, so that a failed allocation is found at the end. */

static int64_t get_lo(const polytile_range *range) {
    return range->lo;
}

static int64_t get_hi(const polytile_range *range) {
    return range->hi;
}

static json_t *json_bounds(const polytile_domain *box, int64_t (*bound)(const polytile_range *)) {
    json_t *list = json_array();
    for (int d = 0; d < box->n_dims && list != NULL; d++)
        if (json_array_append_new(list, json_integer(bound(&box->range[d]))) != 0)
            return json_decref(list), NULL;
    return list;
}

static json_t *json_neighbours(const pti_outer_member *member) {
    json_t *list = json_array();
    for (int k = 0; k < member->n_neighbours && list != NULL; k++) {
        const pti_outer_neighbour *neighbour = &member->neighbour[k];
        json_t *entry =
            json_pack("{s:i, s:I, s:i}", "rank", neighbour->member, "bytes",
                      (json_int_t)neighbour->n_bytes, "messages", neighbour->n_messages);
        if (json_array_append_new(list, entry) != 0)
            return json_decref(list), NULL;
    }
    return list;
}

static json_t *json_member(const pti_outer_member *member, int rank) {
    return json_pack("{s:i, s:I, s:o, s:o, s:I, s:I, s:i, s:o}", "rank", rank, "threads",
                     (json_int_t)member->n_threads, "lo", json_bounds(&member->threads, get_lo),
                     "hi", json_bounds(&member->threads, get_hi), "owned_bytes",
                     (json_int_t)member->owned_bytes, "received_bytes",
                     (json_int_t)member->received_bytes, "messages", member->n_messages, "from",
                     json_neighbours(member));
}

static json_t *json_members(const pti_outer_plan *plan) {
    json_t *list = json_array();
    for (int q = 0; q < plan->n_members && list != NULL; q++)
        if (json_array_append_new(list, json_member(&plan->member[q], q)) != 0)
            return json_decref(list), NULL;
    return list;
}

static json_t *json_grid(const pti_member_grid *grid) {
    json_t *list = json_array();
    for (int d = 0; d < grid->n_dims && list != NULL; d++)
        if (json_array_append_new(list, json_integer(grid->extent[d])) != 0)
            return json_decref(list), NULL;
    return list;
}

static char *print_json(const pti_outer_plan *plan) {
    json_t *root = json_pack("{s:s, s:i, s:o, s:s, s:I, s:o}", "kernel", plan->kernel, "ranks",
                             plan->n_members, "grid", json_grid(&plan->grid), "layout",
                             plan->layout, "combined_bytes", (json_int_t)plan->combined_bytes,
                             "members", json_members(plan));
    char *text = root == NULL ? NULL : json_dumps(root, JSON_INDENT(2));
    json_decref(root);
    return text;
}

char *pti_outer_plan_to_string(const pti_outer_plan *plan, polytile_format format) {
    static char *(*const printers[])(const pti_outer_plan *) = {
        [POLYTILE_TEXT] = print_text,
        [POLYTILE_JSON] = print_json,
    };
    bool is_known = (unsigned)format < sizeof printers / sizeof *printers;
    return is_known ? printers[format](plan) : NULL;
}
