#include "base/text.h"
#include "partition/plan.h"
#include "partition/plan_words.h"

#include <jansson.h>
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

/** A name that may hold bytes that are no UTF-8, which JSON must not have; they become '?'. */
static json_t *json_name(const char *name) {
    json_t *value = json_string(name);
    if (value != NULL)
        return value;
    pti_text plain = {0};
    for (const char *c = name; *c != '\0'; c++)
        pti_text_add(&plain, "%c", (*c & 0x80) != 0 ? '?' : *c);
    value = plain.failed || plain.data == NULL ? NULL : json_string(plain.data);
    pti_text_free(&plain);
    return value;
}

/** A figure; one that is not finite has no JSON number and becomes null. */
static json_t *json_figure(double figure) {
    return isfinite(figure) ? json_real(figure) : json_null();
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

static json_t *json_array_of(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    pti_text type = {0}, roles = {0};
    pti_words_type(&type, of->type);
    pti_words_roles(&roles, instance, operand);
    json_t *array = json_object();
    int failed = type.failed || roles.failed || type.data == NULL || roles.data == NULL ||
                 json_object_set_new(array, "name", json_name(of->name)) |
                     json_object_set_new(array, "type", json_string(type.data)) |
                     json_object_set_new(array, "roles", json_string(roles.data)) |
                     set_box(array, &of->domain);
    pti_text_free(&type);
    pti_text_free(&roles);
    return failed ? json_decref(array), NULL : array;
}

static json_t *json_arrays(const pti_instance *instance) {
    json_t *arrays = json_array();
    for (int k = 0; k < instance->n_operands; k++)
        if (json_array_append_new(arrays, json_array_of(instance, k)) != 0)
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

/** The figures of a plan, and all else that is said once. */
static json_t *json_head(const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    const struct {
        const char *key;
        json_t *value;
    } members[] = {
        {"kernel", json_name(s->kernel)},
        {"strategy", json_name(s->strategy)},
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
        {"predicted_seconds", json_figure(s->predicted_seconds)},
        {"plan_seconds", json_figure(s->plan_seconds)},
        {"in_place", json_boolean(plan->schedule->in_place)},
        {"paper_overshoot_bytes", json_integer(plan->paper_overshoot_bytes)},
        {"domain", json_domain(&plan->instance->threads)},
        {"arrays", json_arrays(plan->instance)},
    };
    json_t *head = json_object();
    int failed = 0;
    for (size_t k = 0; k < sizeof members / sizeof *members; k++)
        failed |= json_object_set_new(head, members[k].key, members[k].value);
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

static json_t *json_superblock(const pti_schedule *schedule, int64_t superblock) {
    json_t *object = json_object();
    int failed =
        set_box(object, &schedule->superblock[superblock]) |
        json_object_set_new(object, "device_bytes",
                            json_integer(pti_superblock_device_bytes(schedule, superblock)));
    for (int k = 0; k < N_LISTED_KINDS; k++)
        failed |= json_object_set_new(object, list_of(listed_kinds[k]), json_array());
    return failed ? json_decref(object), NULL : object;
}

static json_t *json_transfer(const pti_schedule *schedule, const pti_op *op) {
    int operand = schedule->placement[op->placement].operand;
    json_t *object = json_object();
    int failed =
        json_object_set_new(object, "array", json_name(schedule->instance->operand[operand].name)) |
        set_box(object, &op->box) | set_bounds(object, "step", &op->box, get_step) |
        json_object_set_new(object, "bytes", json_integer(op->bytes));
    return failed ? json_decref(object), NULL : object;
}

static json_t *json_superblocks(const pti_schedule *schedule) {
    json_t *list = json_array();
    int failed = list == NULL;
    for (int64_t k = 0; k < schedule->n_superblocks && !failed; k++)
        failed = json_array_append_new(list, json_superblock(schedule, k));
    for (const pti_op *op = schedule->op; op < schedule->op + schedule->n_ops && !failed; op++) {
        if (list_of(op->kind) == NULL)
            continue;
        json_t *superblock = json_array_get(list, (size_t)op->superblock);
        failed = json_array_append_new(json_object_get(superblock, list_of(op->kind)),
                                       json_transfer(schedule, op));
    }
    return failed ? json_decref(list), NULL : list;
}

/** One value on one line; 15 digits give back any decimal figure as it was. */
static void add_value(pti_text *text, const json_t *value) {
    char *line = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    if (line == NULL)
        text->failed = true;
    else
        pti_text_add(text, "%s", line);
    free(line);
}

/** A key a line and a superblock a line, so that people and line tools can read it too. */
static void add_plan(pti_text *text, json_t *head, const json_t *superblocks) {
    const char *key;
    json_t *value;
    pti_text_add(text, "{\n");
    json_object_foreach(head, key, value) {
        pti_text_add(text, "  \"%s\": ", key);
        add_value(text, value);
        pti_text_add(text, ",\n");
    }
    pti_text_add(text, "  \"superblocks\": [");
    for (size_t k = 0; k < json_array_size(superblocks); k++) {
        pti_text_add(text, k == 0 ? "\n    " : ",\n    ");
        add_value(text, json_array_get(superblocks, k));
    }
    pti_text_add(text, "\n  ]\n}\n");
}

polytile_status pti_plan_to_json(const polytile_plan *plan, char **text) {
    pti_text out = {0};
    json_t *head = json_head(plan);
    json_t *superblocks = json_superblocks(plan->schedule);
    if (head == NULL || superblocks == NULL)
        out.failed = true;
    else
        add_plan(&out, head, superblocks);
    json_decref(head);
    json_decref(superblocks);
    if (!out.failed) {
        *text = out.data;
        return POLYTILE_OK;
    }
    pti_text_free(&out);
    return pti_fail_memory(plan->object.context, "the JSON of a plan",
                           (double)plan->schedule->n_ops * 256);
}
