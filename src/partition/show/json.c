#include "base/json_name.h"
#include "base/json_text.h"
#include "partition/show/words.h"
#include "partition/window/plan.h"

#include <math.h>
#include <stdlib.h>

/* The JSON of a plan. jansson's setters fail on a NULL value, so building a value in one expression
 * is safe: a failed allocation anywhere ends in NULL or -1, and is found by the one who adds it. */

static json_t *json_numbers(int n, const int64_t *numbers) {
    json_t *list = json_array();
    for (int k = 0; k < n; k++)
        if (json_array_append_new(list, json_integer(numbers[k])) != 0)
            return json_decref(list), NULL;
    return list;
}

/** A figure; one that is not finite has no JSON number and becomes null. */
static json_t *json_figure(double figure) {
    return isfinite(figure) ? json_real(figure) : json_null();
}

/** How many times its bound a plan uploads; null where there is no bound. */
static json_t *json_distance(const polytile_plan_summary *summary) {
    return json_figure((double)summary->h2d_bytes /
                       (summary->bound_bytes > 0 ? (double)summary->bound_bytes : NAN));
}

/** Add one number of each of a box's ranges as a list: all lo, all hi or all steps. */
static int set_bounds(json_t *object, const char *key, const polytile_domain *box,
                      int64_t (*bound)(const polytile_range *)) {
    int64_t numbers[POLYTILE_MAX_DIMS];
    for (int d = 0; d < box->n_dims; d++)
        numbers[d] = bound(&box->range[d]);
    return json_object_set_new(object, key, json_numbers(box->n_dims, numbers));
}

static int64_t get_lo(const polytile_range *range) {
    return range->lo;
}

static int64_t get_hi(const polytile_range *range) {
    return range->hi;
}

static int64_t get_step(const polytile_range *range) {
    return range->step;
}

static int set_box(json_t *object, const polytile_domain *box) {
    return set_bounds(object, "lo", box, get_lo) | set_bounds(object, "hi", box, get_hi);
}

static json_t *json_array_of(const polytile_plan *plan, int operand) {
    const pti_operand *of = &plan->instance->operand[operand];
    pti_text type = {0}, roles = {0};
    pti_words_type(&type, of->type);
    pti_words_array_roles(&roles, plan, operand);
    json_t *array = json_object();
    int failed = type.failed || roles.failed || type.data == NULL || roles.data == NULL ||
                 json_object_set_new(array, "name", pti_json_name(of->name)) |
                     json_object_set_new(array, "type", json_string(type.data)) |
                     json_object_set_new(array, "roles", json_string(roles.data)) |
                     set_box(array, &of->domain);
    pti_text_free(&type);
    pti_text_free(&roles);
    return failed ? json_decref(array), NULL : array;
}

static json_t *json_arrays(const polytile_plan *plan) {
    json_t *arrays = json_array();
    for (int k = 0; k < plan->instance->n_operands; k++)
        if (json_array_append_new(arrays, json_array_of(plan, k)) != 0)
            return json_decref(arrays), NULL;
    return arrays;
}

static json_t *json_domain(const polytile_domain *domain) {
    json_t *object = json_object();
    if (set_box(object, domain) == 0)
        return object;
    json_decref(object);
    return NULL;
}

/** The names of a chain's kernels. */
static json_t *json_kernels(const pti_launches *launches) {
    pti_text names = {0};
    pti_words_kernels(&names, launches);
    json_t *value = names.failed || names.data == NULL ? NULL : pti_json_name(names.data);
    pti_text_free(&names);
    return value;
}

/** A portion of the launches; `first` counts from 0, what is told from 1. */
static json_t *json_portion(const pti_plan_portion *of) {
    bool is_fused = of->portion.n_launches > 0;
    json_t *object = json_object();
    int failed =
        json_object_set_new(object, "first", json_integer(of->first)) |
        json_object_set_new(
            object, "launches",
            json_integer(is_fused ? of->portion.n_launches : of->portion.n_single)) |
        json_object_set_new(object, "fused", json_boolean(is_fused)) |
        json_object_set_new(object, "times", json_integer(of->n_times)) |
        json_object_set_new(object, "told",
                            of->told.length > 0 ? pti_json_name(of->told.data) : json_null());
    return failed ? json_decref(object), NULL : object;
}

static json_t *json_portions(const pti_plan_chain *chain) {
    json_t *list = json_array();
    for (int p = 0; p < chain->n_portions; p++)
        if (json_array_append_new(list, json_portion(&chain->portion[p])) != 0)
            return json_decref(list), NULL;
    return list;
}

/** Why launches are not fused: the first such reason. */
static json_t *json_not_fused(const pti_plan_chain *chain) {
    for (int p = 0; p < chain->n_portions; p++)
        if (chain->portion[p].portion.n_launches == 0 && chain->portion[p].told.length > 0)
            return pti_json_name(chain->portion[p].told.data);
    return chain->apart.length > 0 ? pti_json_name(chain->apart.data) : json_null();
}

/** Add what only chains have; not 0 where that fails. */
static int set_chain(json_t *head, const pti_plan_chain *chain) {
    const pti_portion *turns = pti_plan_turns(chain, pti_plan_shown(chain));
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"launched", json_kernels(&chain->launches)},
        {"slab_index", turns != NULL ? pti_json_name(pti_words_slab_index(turns)) : json_null()},
        {"slabs_per_lap", json_integer(turns != NULL ? turns->shape.n_per_lap : 0)},
        {"not_fused", json_not_fused(chain)},
        {"portions", json_portions(chain)},
        {"one_by_one_bytes", json_integer(chain->alone_bytes)},
    };
    int failed = 0;
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        failed |= json_object_set_new(head, members[k].key, members[k].value);
    return failed;
}

/** The figures of a plan, and all else that is said once. */
static json_t *json_head(const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"kernel", pti_json_name(s->kernel)},
        {"strategy", pti_json_name(s->strategy)},
        {"buffers", json_integer(s->n_buffers)},
        {"limit_bytes", json_integer(s->limit_bytes)},
        {"peak_device_bytes", json_integer(s->peak_device_bytes)},
        {"block", json_numbers(s->n_dims, s->block)},
        {"grid_blocks", json_numbers(s->n_dims, s->grid_blocks)},
        {"superblock_blocks", json_numbers(s->n_dims, s->superblock_blocks)},
        {"kernels", json_integer(s->n_kernels)},
        {"h2d_bytes", json_integer(s->h2d_bytes)},
        {"d2h_bytes", json_integer(s->d2h_bytes)},
        {"lower_bound_bytes", json_integer(s->lower_bound_bytes)},
        {"lower_bound_h2d_bytes", json_integer(s->lower_bound_h2d_bytes)},
        {"bound_bytes", json_integer(s->bound_bytes)},
        {"bound", pti_json_name(s->bound == NULL ? "" : s->bound)},
        {"h2d_over_bound", json_distance(s)},
        {"predicted_seconds", json_figure(s->predicted_seconds)},
        {"plan_seconds", json_figure(s->plan_seconds)},
        {"launches", json_integer(s->n_launches)},
        {"launches_per_pass", json_integer(s->launches_per_pass)},
        {"passes", json_integer(s->n_passes)},
        {"slab", json_integer(s->slab_threads)},
        {"in_place", json_boolean(plan->schedule->in_place)},
        {"paper_overshoot_bytes", json_integer(plan->paper_overshoot_bytes)},
        {"domain", json_domain(&plan->instance->threads)},
        {"arrays", json_arrays(plan)},
    };
    json_t *head = json_object();
    int failed = 0;
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        failed |= json_object_set_new(head, members[k].key, members[k].value);
    if (plan->chain != NULL)
        failed |= set_chain(head, plan->chain);
    return failed ? json_decref(head), NULL : head;
}

/** The list of a superblock that an operation is written to; NULL for launches. */
static const char *list_of(pti_op_kind kind) {
    static const char *const lists[] = {
        [PTI_UPLOAD] = "uploads", [PTI_COPY] = "copies",        [PTI_FILL] = "fills",
        [PTI_LAUNCH] = NULL,      [PTI_DOWNLOAD] = "downloads",
    };
    return lists[kind];
}

static const pti_op_kind listed_kinds[] = {PTI_UPLOAD, PTI_COPY, PTI_FILL, PTI_DOWNLOAD};
enum { N_LISTED_KINDS = sizeof listed_kinds / sizeof *listed_kinds };

static json_t *json_transfer(const pti_schedule *schedule, const pti_op *op) {
    int operand = schedule->placement[op->placement].operand;
    json_t *object = json_object();
    int failed = json_object_set_new(object, "array",
                                     pti_json_name(schedule->instance->operand[operand].name)) |
                 set_box(object, &op->box) | set_bounds(object, "step", &op->box, get_step) |
                 json_object_set_new(object, "bytes", json_integer(op->bytes));
    return failed ? json_decref(object), NULL : object;
}

/** The operations of each superblock, in the schedule's order: those of superblock k are at
 * position[first[k]] .. position[first[k + 1] - 1]. */
typedef struct op_index {
    int64_t *first;    /* owned */
    int64_t *position; /* owned */
} op_index;

static void op_index_free(op_index *index) {
    free(index->first);
    free(index->position);
}

/** False when memory runs out; the caller frees the index in any case. */
static bool op_index_make(const pti_schedule *schedule, op_index *index) {
    size_t n = (size_t)schedule->n_superblocks;
    index->first = calloc(n + 2, sizeof *index->first);
    index->position = calloc((size_t)schedule->n_ops + 1, sizeof *index->position);
    if (index->first == NULL || index->position == NULL)
        return false;
    for (int64_t k = 0; k < schedule->n_ops; k++)
        index->first[schedule->op[k].superblock + 2]++;
    for (size_t k = 2; k < n + 2; k++)
        index->first[k] += index->first[k - 1];
    for (int64_t k = 0; k < schedule->n_ops; k++)
        index->position[index->first[schedule->op[k].superblock + 1]++] = k;
    return true;
}

/** A schedule whose superblocks are listed, and of a chain how they are counted. */
typedef struct listed {
    const pti_schedule *schedule;
    const int64_t *run_order; /* NULL: as they are numbered */
    int first_launch;
    int64_t n_times;
} listed;

/** Add an operation to its superblock: to one of its lists, or for which launch that is. */
static int set_op(json_t *object, const listed *of, const pti_op *op) {
    if (list_of(op->kind) != NULL)
        return json_array_append_new(json_object_get(object, list_of(op->kind)),
                                     json_transfer(of->schedule, op));
    return of->schedule->n_launches == 0
               ? 0
               : json_object_set_new(object, "launch", json_integer(of->first_launch + op->launch));
}

static json_t *json_superblock(const listed *of, const op_index *index, int64_t superblock) {
    json_t *object = json_object();
    int failed =
        set_box(object, &of->schedule->superblock[superblock]) |
        json_object_set_new(object, "device_bytes",
                            json_integer(pti_superblock_device_bytes(of->schedule, superblock)));
    if (of->n_times > 1)
        failed |= json_object_set_new(object, "times", json_integer(of->n_times));
    for (int k = 0; k < N_LISTED_KINDS; k++)
        failed |= json_object_set_new(object, list_of(listed_kinds[k]), json_array());
    for (int64_t k = index->first[superblock]; k < index->first[superblock + 1]; k++)
        failed |= set_op(object, of, &of->schedule->op[index->position[k]]);
    return failed ? json_decref(object), NULL : object;
}

/** One value on one line; 15 digits give back any decimal figure as it was. */
static void add_value(pti_text *text, const json_t *value) {
    pti_text_add_json(text, value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
}

static void add_head(pti_text *text, const polytile_plan *plan) {
    const char *key;
    json_t *value, *head = json_head(plan);
    text->failed |= head == NULL;
    json_object_foreach(head, key, value) {
        pti_text_add(text, "  \"%s\": ", key);
        add_value(text, value);
        pti_text_add(text, ",\n");
    }
    json_decref(head);
}

/** A superblock is made, written and freed before the next, since there can be very many. */
static void add_superblocks(pti_text *text, const listed *of, bool *is_first) {
    const pti_schedule *schedule = of->schedule;
    op_index index = {0};
    text->failed |= !op_index_make(schedule, &index);
    for (int64_t k = 0; k < schedule->n_superblocks && !text->failed; k++) {
        json_t *superblock =
            json_superblock(of, &index, of->run_order == NULL ? k : of->run_order[k]);
        pti_text_add(text, *is_first ? "\n    " : ",\n    ");
        *is_first = false;
        add_value(text, superblock);
        json_decref(superblock);
    }
    op_index_free(&index);
}

/** Of a chain those of each part, once. */
static void add_all_superblocks(pti_text *text, const polytile_plan *plan) {
    bool is_first = true;
    const pti_plan_chain *chain = plan->chain;
    const listed one = {.schedule = plan->schedule};
    if (chain == NULL)
        add_superblocks(text, &one, &is_first);
    for (int k = 0; chain != NULL && k < chain->n_parts; k++) {
        const pti_plan_part *part = &chain->part[k];
        const listed of = {part->schedule, part->run_order, part->first, part->n_times};
        if (part->n_launches > 0)
            add_superblocks(text, &of, &is_first);
    }
}

/** A key a line and a superblock a line, so that people and line tools can read it too. */
polytile_status pti_plan_to_json(const polytile_plan *plan, char **text) {
    pti_text out = {0};
    pti_text_add(&out, "{\n");
    add_head(&out, plan);
    pti_text_add(&out, "  \"superblocks\": [");
    add_all_superblocks(&out, plan);
    pti_text_add(&out, "\n  ]\n}\n");
    if (!out.failed) {
        *text = out.data;
        return POLYTILE_OK;
    }
    pti_text_free(&out);
    return pti_fail_memory(plan->object.context, "the JSON of a plan",
                           (double)plan->schedule->n_ops * 256);
}
