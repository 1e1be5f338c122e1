#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "base/checked.h"
#include "partition/show/json_write.h"
#include "partition/show/print.h"

#include <math.h>
#include <stdlib.h>

/* The JSON of a plan of one device. */

static json_t *json_arrays(const polytile_plan *plan) {
    json_t *arrays = json_array();
    for (int k = 0; k < pti_instance_n_arrays(plan->instance); k++) {
        const pti_operand *operand = &plan->instance->operand[k];
        const polytile_domain *domain = pti_operand_array_domain(operand);
        const pti_pieces_held held = pti_pieces_held_of(plan, k);
        const pti_json_member members[] = {
            {"name", pti_json_name(operand->name)},
            {"type", json_string(pti_words_type(operand->type).text)},
            {"roles", json_string(pti_words_array_roles(plan, k).text)},
            {"lo", pti_json_bounds(domain, PTI_JSON_LO)},
            {"hi", pti_json_bounds(domain, PTI_JSON_HI)},
            {"pieces", json_integer(held.n_pieces)},
            {"held_bytes", json_integer(held.held_bytes)},
            {"hull_bytes", json_integer(held.hull_bytes)},
            {NULL, NULL},
        };
        arrays = pti_json_append(arrays, pti_json_extend(json_object(), members));
    }
    return arrays;
}

/** Return the names of a chain's kernels. */
static json_t *json_kernels(const pti_launches *launches) {
    pti_text names = {0};
    pti_write_kernels(&names, launches);
    json_t *value = names.failed || names.data == NULL ? NULL : pti_json_name(names.data);
    pti_text_free(&names);
    return value;
}

static json_t *json_words(const pti_text *words) {
    return words->length > 0 ? pti_json_name(words->data) : json_null();
}

/** Return the fusion groups of the launches; `first` counts from 0, texts count from 1. */
static json_t *json_fusion_groups(const pti_plan_chain *chain) {
    json_t *groups = json_array();
    for (int p = 0; p < chain->n_groups; p++) {
        const pti_plan_fusion_group *group = &chain->group[p];
        bool is_fused = group->group.n_launches > 0;
        const pti_json_member members[] = {
            {"first", json_integer(group->first)},
            {"launches", json_integer(is_fused ? group->group.n_launches : group->group.n_single)},
            {"fused", json_boolean(is_fused)},
            {"times", json_integer(group->n_times)},
            {"told", json_words(&group->reason)},
            {NULL, NULL},
        };
        groups = pti_json_append(groups, pti_json_extend(json_object(), members));
    }
    return groups;
}

/** What is said of tiles; `first` counts from 0. */
static json_t *json_tiles(const pti_plan_chain *chain) {
    json_t *tiles = json_array();
    for (int k = 0; k < chain->n_subplans; k++) {
        const pti_subplan *subplan = &chain->subplan[k];
        if (subplan->tiles.length == 0)
            continue;
        const pti_json_member members[] = {
            {"first", json_integer(subplan->first)},
            {"launches", json_integer(subplan->n_launches)},
            {"times", json_integer(subplan->n_times)},
            {"told", json_words(&subplan->tiles)},
            {NULL, NULL},
        };
        tiles = pti_json_append(tiles, pti_json_extend(json_object(), members));
    }
    return tiles;
}

/** Why launches are not fused: the first such reason. */
static json_t *json_not_fused(const pti_plan_chain *chain) {
    for (int p = 0; p < chain->n_groups; p++)
        if (chain->group[p].group.n_launches == 0 && chain->group[p].reason.length > 0)
            return json_words(&chain->group[p].reason);
    return json_words(&chain->apart);
}

/** Return a head with what only chains have. */
static json_t *json_chain(json_t *head, const pti_plan_chain *chain) {
    const pti_fusion_group *group = pti_plan_interleaved(chain, pti_plan_shown(chain));
    const pti_json_member members[] = {
        {"launched", json_kernels(&chain->launches)},
        {"slab_index", group != NULL ? pti_json_name(pti_slab_index(group)) : json_null()},
        {"slabs_per_lap", json_integer(group != NULL ? group->shape.n_per_lap : 0)},
        {"not_fused", json_not_fused(chain)},
        {"portions", json_fusion_groups(chain)},
        {"tiles", json_tiles(chain)},
        {"one_by_one_bytes", json_integer(chain->alone_bytes)},
        {NULL, NULL},
    };
    return pti_json_extend(head, members);
}

/** Return the coarse unions of the block from which the paper's equations are found. */
static json_t *json_unions(const polytile_plan *plan) {
    json_t *unions = json_array();
    for (int a = 0; a < plan->instance->n_operands; a++) {
        const polytile_domain hull =
            pti_footprint_hull(plan->instance, a, PTI_TOUCHES, &plan->solution.sample);
        const pti_json_member members[] = {
            {"array", pti_json_name(plan->instance->operand[a].name)},
            {"lo", pti_json_bounds(&hull, PTI_JSON_LO)},
            {"hi", pti_json_bounds(&hull, PTI_JSON_HI)},
            {"step", pti_json_bounds(&hull, PTI_JSON_STEP)},
            {NULL, NULL},
        };
        unions = pti_json_append(unions, pti_json_extend(json_object(), members));
    }
    return unions;
}

/** Return what the paper's equations say; null: the strategy solves none. */
static json_t *json_equations(const polytile_plan *plan) {
    const pti_solution *solution = &plan->solution;
    json_t *slopes = json_array();
    for (int d = 0; d < solution->sample.n_dims; d++)
        slopes = pti_json_append(slopes, pti_json_real(solution->slope_bytes[d]));
    const pti_json_member members[] = {
        {"block", pti_json_box(&solution->sample)},
        {"unions", json_unions(plan)},
        {"constant_bytes", pti_json_real(solution->constant_bytes)},
        {"slope_bytes", slopes},
        {"solved_blocks", pti_json_numbers(solution->sample.n_dims, solution->shape)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Return the program's threads: ends, and steps where there are any. */
static json_t *json_threads(const polytile_domain *threads) {
    json_t *object = pti_json_box(threads);
    bool has_failed =
        pti_box_has_gaps(threads) &&
        json_object_set_new(object, "step", pti_json_bounds(threads, PTI_JSON_STEP)) != 0;
    if (!has_failed)
        return object;
    json_decref(object);
    return NULL;
}

/** Return how many superblocks are listed before those of the plan's schedule. */
static int64_t count_listed_before(const pti_plan_chain *chain) {
    int64_t n_listed = 0;
    for (int k = 0; chain != NULL && k < chain->shown; k++)
        if (chain->subplan[k].n_launches > 0)
            n_listed += chain->subplan[k].schedule->n_superblocks;
    return n_listed;
}

/** Return the superblocks of the list that come several times, of a chain those of the subplan that
 * is shown; null: each of these is listed. */
static json_t *json_period(const polytile_plan *plan) {
    const pti_period *period = &plan->schedule->period;
    if (period->times == 0)
        return json_null();
    const pti_json_member members[] = {
        {"first", json_integer(count_listed_before(plan->chain) + period->first_kernel)},
        {"length", json_integer(period->n_kernels)},
        {"times", json_integer(period->times)},
        {NULL, NULL},
    };
    return pti_json_extend(json_object(), members);
}

/** Return the figures of a plan, and all else that is said once. */
static json_t *json_head(const polytile_plan *plan) {
    const polytile_plan_summary *s = &plan->summary;
    const polytile_chain_summary *chain = &plan->chain_summary;
    const double bound = s->bound_bytes > 0 ? (double)s->bound_bytes : NAN;
    const polytile_domain domain = pti_instance_asked_box(plan->instance, &plan->instance->threads);
    const pti_json_member members[] = {
        {"kernel", pti_json_name(s->kernel)},
        {"strategy", pti_json_name(s->strategy)},
        {"buffers", json_integer(s->n_buffers)},
        {"limit_bytes", json_integer(s->limit_bytes)},
        {"peak_device_bytes", json_integer(s->peak_device_bytes)},
        {"block", pti_json_numbers(s->n_dims, s->block)},
        {"grid_blocks", pti_json_numbers(s->n_dims, s->grid_blocks)},
        {"superblock_blocks", pti_json_numbers(s->n_dims, s->superblock_blocks)},
        {"kernels", json_integer(s->n_kernels)},
        {"period", json_period(plan)},
        {"lanes", json_integer(pti_max(plan->schedule->n_lanes, 1))},
        {"h2d_bytes", json_integer(s->h2d_bytes)},
        {"d2h_bytes", json_integer(s->d2h_bytes)},
        {"lower_bound_bytes", json_integer(s->lower_bound_bytes)},
        {"lower_bound_h2d_bytes", json_integer(s->lower_bound_h2d_bytes)},
        {"bound_bytes", json_integer(s->bound_bytes)},
        {"bound", pti_json_name(s->bound == NULL ? "" : s->bound)},
        {"h2d_over_bound", pti_json_real((double)s->h2d_bytes / bound)},
        {"predicted_seconds", pti_json_real(s->predicted_seconds)},
        {"plan_seconds", pti_json_real(s->plan_seconds)},
        {"launches", json_integer(chain->n_launches)},
        {"launches_per_pass", json_integer(chain->launches_per_pass)},
        {"passes", json_integer(chain->n_passes)},
        {"slab", json_integer(chain->slab_threads)},
        {"in_place", json_boolean(plan->schedule->in_place)},
        {"paper_overshoot_bytes", json_integer(plan->paper_overshoot_bytes)},
        {"paper_equations", plan->solution.sample.n_dims > 0 ? json_equations(plan) : json_null()},
        {"domain", json_threads(&domain)},
        {"arrays", json_arrays(plan)},
        {NULL, NULL},
    };
    json_t *head = pti_json_extend(json_object(), members);
    return plan->chain == NULL ? head : json_chain(head, plan->chain);
}

/** Return the list of a superblock that an operation is written to; NULL for launches. */
static const char *list_of(pti_op_kind kind) {
    static const char *const lists[] = {
        [PTI_UPLOAD] = "uploads", [PTI_COPY] = "copies",        [PTI_FILL] = "fills",
        [PTI_LAUNCH] = NULL,      [PTI_DOWNLOAD] = "downloads",
    };
    return lists[kind];
}

static json_t *json_transfer(const pti_schedule *schedule, const pti_op *op) {
    const pti_operand *operand =
        &schedule->instance->operand[schedule->placement[op->placement].operand];
    const polytile_domain box = pti_operand_unsheared(operand, &op->box);
    const pti_json_member members[] = {
        {"array", pti_json_name(operand->name)},    {"lo", pti_json_bounds(&box, PTI_JSON_LO)},
        {"hi", pti_json_bounds(&box, PTI_JSON_HI)}, {"step", pti_json_bounds(&box, PTI_JSON_STEP)},
        {"bytes", json_integer(op->bytes)},         {NULL, NULL},
    };
    const pti_json_member diagonal[] = {{"diagonal", json_true()}, {NULL, NULL}};
    json_t *transfer = pti_json_extend(json_object(), members);
    return pti_operand_is_sheared(operand) ? pti_json_extend(transfer, diagonal) : transfer;
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

/** Add an operation to its superblock: to one of its lists, or for which launch that is, in which
 * lane. */
static int set_op(json_t *object, const pti_schedule *schedule, int first_launch,
                  const pti_op *op) {
    if (list_of(op->kind) != NULL)
        return json_array_append_new(json_object_get(object, list_of(op->kind)),
                                     json_transfer(schedule, op));
    int failed = 0;
    if (schedule->n_lanes > 1)
        failed |= json_object_set_new(object, "lane", json_integer(op->lane));
    if (!pti_schedule_is_of_one_launch(schedule))
        failed |= json_object_set_new(object, "launch", json_integer(first_launch + op->launch));
    return failed;
}

/** n_turns: how often it comes in its schedule. */
static json_t *json_superblock(const pti_schedule *schedule, const pti_subplan *subplan,
                               const op_index *index, int64_t superblock, int64_t n_turns) {
    int64_t n_bytes = pti_superblock_device_bytes(schedule, superblock);
    const polytile_domain threads = pti_schedule_asked_superblock(schedule, superblock);
    json_t *object = json_threads(&threads);
    int failed = json_object_set_new(object, "device_bytes", json_integer(n_bytes));
    if (subplan->n_times * n_turns > 1)
        failed |= json_object_set_new(object, "times", json_integer(subplan->n_times * n_turns));
    for (int kind = PTI_UPLOAD; kind <= PTI_DOWNLOAD; kind++)
        if (list_of((pti_op_kind)kind) != NULL)
            failed |= json_object_set_new(object, list_of((pti_op_kind)kind), json_array());
    for (int64_t k = index->first[superblock]; k < index->first[superblock + 1]; k++)
        failed |= set_op(object, schedule, subplan->first, &schedule->op[index->position[k]]);
    return failed ? json_decref(object), NULL : object;
}

/** Write superblocks, each made, written and freed before the next, since there can be very
 * many. */
static void write_superblocks(pti_text *text, const pti_schedule *schedule,
                              const pti_subplan *subplan, bool *is_first) {
    const pti_period *period = &schedule->period;
    op_index index = {0};
    text->failed |= !op_index_make(schedule, &index);
    for (int64_t k = 0; k < schedule->n_superblocks && !text->failed; k++) {
        int64_t superblock = subplan->run_order == NULL ? k : subplan->run_order[k];
        const int64_t n_turns =
            pti_period_times(period, period->first_kernel, period->n_kernels, k);
        pti_json_write_entry(text, json_superblock(schedule, subplan, &index, superblock, n_turns),
                             *is_first);
        *is_first = false;
    }
    op_index_free(&index);
}

/** Write all superblocks; those of a chain's subplans once each. */
static void write_all_superblocks(pti_text *text, const polytile_plan *plan) {
    static const pti_subplan whole;
    const pti_plan_chain *chain = plan->chain;
    bool is_first = true;
    if (chain == NULL)
        write_superblocks(text, plan->schedule, &whole, &is_first);
    for (int k = 0; chain != NULL && k < chain->n_subplans; k++)
        if (chain->subplan[k].n_launches > 0)
            write_superblocks(text, chain->subplan[k].schedule, &chain->subplan[k], &is_first);
}

void pti_plan_write_json_members(pti_text *text, const polytile_plan *plan) {
    pti_json_write_members(text, json_head(plan));
    pti_text_add(text, "  \"superblocks\": [");
    write_all_superblocks(text, plan);
    pti_text_add(text, "\n  ]\n");
}

void pti_plan_write_json(pti_text *text, const pti_object *plan) {
    pti_text_add(text, "{\n");
    pti_plan_write_json_members(text, (const polytile_plan *)plan);
    pti_text_add(text, "}\n");
}
