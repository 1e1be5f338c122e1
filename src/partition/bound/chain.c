#include "partition/bound/bound.h"

#include "access/footprint/footprint.h"
#include "access/set/boxes.h"
#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>

/* The first of several launches to touch an element decides whether it comes in. The needed set and
 * that of results may lose elements, and the overwritten set may gain some: the bound is then
 * lower, never wrong. */

enum { MAX_BOXES = 256, BOXES_OF_A_SECTION = 64 };

/** What launches so far did to one array. */
typedef struct history {
    pti_boxes needed;  /* no launch wrote it before one read it */
    pti_boxes written; /* perhaps a little more */
    pti_boxes results; /* surely written */
    bool has_written;
    bool has_lost_sight;  /* written is not known any more: it may be all of the array */
    int64_t least_needed; /* elements, where the sets are not known exactly */
    int64_t least_results;
    bool failed; /* memory ran out */
} history;

static void free_history(history *of) {
    pti_boxes_free(&of->needed);
    pti_boxes_free(&of->written);
    pti_boxes_free(&of->results);
}

/** Add boxes to a set; false if it has become too long for more. */
static bool add_all(pti_boxes *set, const pti_boxes *added) {
    for (int b = 0; b < added->n_boxes && set->n_boxes <= MAX_BOXES; b++)
        pti_boxes_add(set, &added->box[b]);
    if (set->n_boxes > MAX_BOXES)
        pti_boxes_merge(set);
    return set->n_boxes <= MAX_BOXES && !set->failed && !added->failed;
}

/** Add what a launch reads of an array before any launch has written it. */
static void add_reads(const pti_instance *instance, int operand, history *of) {
    pti_boxes reads = {0};
    if (!instance->operand[operand].reads || of->has_lost_sight)
        return;
    if (!of->has_written)
        of->least_needed = pti_max(
            of->least_needed, pti_operand_least_count(instance, operand, PTI_READS, &of->failed));
    bool is_exact = pti_footprint_boxes(instance, operand, PTI_READS, &instance->threads,
                                        BOXES_OF_A_SECTION, &reads);
    if (is_exact && of->needed.n_boxes <= MAX_BOXES) {
        pti_boxes_subtract_all(&reads, &of->written);
        if (!reads.failed)
            add_all(&of->needed, &reads);
    }
    of->failed = of->failed || reads.failed;
    pti_boxes_free(&reads);
}

static void add_writes(const pti_instance *instance, int operand, history *of) {
    pti_boxes writes = {0};
    if (!instance->operand[operand].writes)
        return;
    of->has_written = true;
    of->least_results = pti_max(
        of->least_results, pti_operand_least_count(instance, operand, PTI_WRITES, &of->failed));
    bool is_exact = pti_footprint_boxes(instance, operand, PTI_WRITES, &instance->threads,
                                        BOXES_OF_A_SECTION, &writes);
    of->has_lost_sight |= !add_all(&of->written, &writes);
    if (is_exact && of->results.n_boxes <= MAX_BOXES)
        add_all(&of->results, &writes);
    of->failed = of->failed || writes.failed;
    pti_boxes_free(&writes);
}

static int64_t count_elements(const pti_boxes *set, int64_t least) {
    return set->failed ? least : pti_max(least, pti_boxes_count(set));
}

/** Return the bytes of one array's elements; 0 if no launch has it. */
static int64_t find_element_bytes(int n_launches, const pti_call *launches, int array) {
    for (int l = 0; l < n_launches; l++)
        for (int a = 0; a < launches[l].instance->n_operands; a++)
            if (launches[l].array[a] == array)
                return launches[l].instance->operand[a].element_bytes;
    return 0;
}

/** Add what a launch does to one array: first its reads, then its writes. */
static void add_accesses(const pti_call *launch, int array, history *of) {
    for (int a = 0; a < launch->instance->n_operands; a++)
        if (launch->array[a] == array)
            add_reads(launch->instance, a, of);
    for (int a = 0; a < launch->instance->n_operands; a++)
        if (launch->array[a] == array)
            add_writes(launch->instance, a, of);
}

static void bound_array(int n_launches, const pti_call *launches, int array, pti_bound *bound) {
    history of = {0};
    int64_t element_bytes = find_element_bytes(n_launches, launches, array);
    for (int l = 0; l < n_launches; l++)
        add_accesses(&launches[l], array, &of);
    int64_t in = pti_mul_saturated(count_elements(&of.needed, of.least_needed), element_bytes);
    int64_t out = pti_mul_saturated(count_elements(&of.results, of.least_results), element_bytes);
    bound->h2d_bytes = pti_add_saturated(bound->h2d_bytes, in);
    bound->d2h_bytes = pti_add_saturated(bound->d2h_bytes, out);
    bound->failed =
        bound->failed || of.failed || of.needed.failed || of.written.failed || of.results.failed;
    free_history(&of);
}

/** Return whether one of the last launches is the same: then this one adds nothing. */
static bool is_repeated(const pti_call *launches, int l) {
    enum { N_LOOKED_AT = 64 };
    int k = l - 1;
    while (k >= 0 && l - k <= N_LOOKED_AT &&
           (launches[k].instance != launches[l].instance || launches[k].array != launches[l].array))
        k--;
    return k >= 0 && l - k <= N_LOOKED_AT;
}

/** Return the launches without repeated ones, in order; NULL when memory runs out. The caller frees
 * them. */
static pti_call *find_different(int n_launches, const pti_call *launches, int *n_different) {
    pti_call *different = malloc((size_t)n_launches * sizeof *different + 1);
    *n_different = 0;
    for (int l = 0; l < n_launches && different != NULL; l++)
        if (!is_repeated(launches, l))
            different[(*n_different)++] = launches[l];
    return different;
}

pti_bound pti_bound_find_chain(int n_launches, const pti_call *launches, int n_arrays,
                               const bool *is_scratch) {
    pti_bound bound = {.kind = PTI_BOUND_COMPULSORY};
    int n_different;
    pti_call *different = find_different(n_launches, launches, &n_different);
    bound.failed = different == NULL;
    for (int array = 0; array < n_arrays && different != NULL; array++)
        if (!is_scratch[array])
            bound_array(n_different, different, array, &bound);
    free(different);
    bound.goal_bytes = bound.h2d_bytes;
    snprintf(bound.reason, sizeof bound.reason,
             n_launches == 1
                 ? "compulsory: what %d launch reads comes in once"
                 : "compulsory: what %d launches read before one of them writes it comes in once",
             n_launches);
    return bound;
}
