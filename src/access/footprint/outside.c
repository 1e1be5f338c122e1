#include "access/footprint/section.h"

#include "access/declare/access_text.h"
#include "access/footprint/affine.h"
#include "access/set/range.h"
#include "base/checked.h"
#include "base/text.h"

#include <string.h>

/* Searches a thread whose section misses its array: a system of affine inequalities over the box of
 * threads, solved by tightening bounds and halving boxes. */

enum { MAX_INEQUALITIES = POLYTILE_MAX_DIMS + 1, MAX_BOXES_SEARCHED = 20000 };

/** A system: all of inequality[.] >= 0. */
typedef struct inequalities {
    int n_inequalities;
    pti_affine inequality[MAX_INEQUALITIES];
    int n_boxes_left;
} inequalities;

/* Narrow the ranges to where each inequality can hold at the others' extremes; false if nowhere. */
static bool tighten_ranges(const inequalities *system, polytile_domain *threads) {
    for (int m = 0; m < system->n_inequalities; m++)
        if (!pti_affine_narrow(&system->inequality[m], threads))
            return false;
    return true;
}

static bool holds_everywhere(const inequalities *system, const polytile_domain *threads) {
    for (int m = 0; m < system->n_inequalities; m++)
        if (pti_affine_min(&system->inequality[m], threads) < 0)
            return false;
    return true;
}

static int widest_dimension(const polytile_domain *threads) {
    int index = 0;
    for (int k = 1; k < threads->n_dims; k++)
        if (threads->range[k].hi - threads->range[k].lo >
            threads->range[index].hi - threads->range[index].lo)
            index = k;
    return index;
}

/* Find a thread of the box for which all inequalities hold; gives up after a fixed number of
 * boxes. */
static bool solve_inequalities(inequalities *system, polytile_domain threads, int64_t *thread) {
    if (system->n_boxes_left-- <= 0 || !tighten_ranges(system, &threads))
        return false;
    if (holds_everywhere(system, &threads)) {
        for (int k = 0; k < threads.n_dims; k++)
            thread[k] = threads.range[k].lo;
        return true;
    }
    int k = widest_dimension(&threads);
    polytile_domain lower = threads, upper = threads;
    lower.range[k].hi = pti_floor_div(threads.range[k].lo + threads.range[k].hi, 2);
    upper.range[k].lo = lower.range[k].hi + 1;
    if (upper.range[k].hi < upper.range[k].lo)
        return false;
    return solve_inequalities(system, lower, thread) || solve_inequalities(system, upper, thread);
}

/* Find a thread whose section is not empty and ends before (or starts after) the array in dimension
 * d. */
static bool find_outside(const pti_instance *instance, const pti_section *section, int d,
                         bool before, int64_t *thread) {
    const polytile_range *whole = &instance->operand[section->operand].domain.range[d];
    pti_affine ends[2] = {{.constant = before ? whole->lo - 1 : whole->hi + 1}};
    ends[1] = before ? section->subscript[d].hi : section->subscript[d].lo;
    inequalities system = {.n_inequalities = 1, .n_boxes_left = MAX_BOXES_SEARCHED};
    system.inequality[0] = pti_affine_difference(&ends[before ? 0 : 1], &ends[before ? 1 : 0]);
    for (int e = 0; e < section->n_dims; e++)
        system.inequality[system.n_inequalities++] = pti_subscript_width(&section->subscript[e]);
    return solve_inequalities(&system, instance->threads, thread);
}

/* Find the thread's element that is nearest to the array in each dimension. */
static void find_element(const pti_instance *instance, const pti_section *section,
                         const int64_t *thread, int64_t *element) {
    polytile_domain alone = polytile_domain_from_bounds(instance->n_indices, thread, thread);
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        int64_t lo = pti_affine_min(&subscript->lo, &alone);
        polytile_range touched =
            pti_range(lo, pti_affine_min(&subscript->hi, &alone), subscript->step);
        int64_t first = instance->operand[section->operand].domain.range[d].lo;
        element[d] = touched.hi < first ? touched.hi : lo;
    }
}

polytile_status pti_outside_accuse(polytile_context *ctx, const pti_instance *instance, int at,
                                   const int64_t *thread, const int64_t *element) {
    const pti_operand *operand = &instance->operand[at];
    polytile_witness found = {.kind = POLYTILE_WITNESS_OUTSIDE,
                              .operand = at,
                              .n_indices = instance->n_indices,
                              .n_dims = operand->domain.n_dims};
    memcpy(found.thread, thread, (size_t)found.n_indices * sizeof *thread);
    pti_instance_ask_thread(instance, found.thread);
    memcpy(found.element, element, (size_t)found.n_dims * sizeof *element);
    pti_text text = {0};
    pti_text_add(&text, "%s: thread ", instance->kernel_name);
    pti_point_write(&text, found.thread, found.n_indices);
    pti_text_add(&text, " touches %s", operand->name);
    pti_point_write(&text, element, found.n_dims);
    pti_text_add(&text, ", and its section has no element in %s", operand->name);
    pti_domain_write(&text, &operand->domain);
    pti_text_add(&text, "; make the launch domain smaller or %s larger", operand->name);
    return pti_fail_with_witness(ctx, POLYTILE_DECLARATION, &text, &found);
}

/** Report a thread, with its element that is nearest to the array. */
static polytile_status accuse_thread(polytile_context *ctx, const pti_instance *instance,
                                     const pti_section *section, const int64_t *thread) {
    int64_t element[POLYTILE_MAX_DIMS];
    find_element(instance, section, thread, element);
    return pti_outside_accuse(ctx, instance, section->operand, thread, element);
}

polytile_status pti_outside_check(polytile_context *ctx, const pti_instance *instance,
                                  const pti_section *declared) {
    int64_t thread[POLYTILE_MAX_DIMS];
    for (int d = 0; declared->exact && d < declared->n_dims; d++)
        if ((declared->edges >> d & 1) == 0 && (find_outside(instance, declared, d, true, thread) ||
                                                find_outside(instance, declared, d, false, thread)))
            return accuse_thread(ctx, instance, declared, thread);
    return POLYTILE_OK;
}
