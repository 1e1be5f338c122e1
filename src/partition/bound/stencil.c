#include "partition/bound/stencil.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "base/list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How launches depend on each other. */

/** Return the index of a subscript of the form index + constant; -1: one element of no index; -2:
 * neither. */
static int index_of(const pti_subscript *subscript, int n_indices) {
    int found = -1;
    for (int k = 0; k < n_indices; k++) {
        if (subscript->lo.index[k] != subscript->hi.index[k])
            return -2;
        if (subscript->lo.index[k] != 0)
            found = found == -1 && subscript->lo.index[k] == 1 ? k : -2;
    }
    bool is_one = subscript->lo.constant == subscript->hi.constant;
    return (found == -1 && !is_one) || (!is_one && subscript->step != 1) ? -2 : found;
}

/** Return whether a section is one element that moves with each of the threads' indices. */
static bool is_point(const pti_instance *instance, const pti_section *section) {
    unsigned followed = 0;
    for (int d = 0; d < section->n_dims; d++) {
        int k = index_of(&section->subscript[d], instance->n_indices);
        if (k == -2 || section->subscript[d].lo.constant != section->subscript[d].hi.constant ||
            (k >= 0 && (followed >> k & 1) != 0))
            return false;
        followed |= k >= 0 ? 1u << k : 0;
    }
    for (int k = 0; k < instance->n_indices; k++)
        if ((followed >> k & 1) == 0 && pti_range_count(instance->threads.range[k]) > 1)
            return false;
    return section->exact;
}

/** Return the only section that a launch writes if it is such a point, else NULL. */
static const pti_section *find_result(const pti_instance *instance) {
    const pti_section *result = NULL;
    for (int s = 0; s < instance->n_sections; s++) {
        const pti_section *section = &instance->section[s];
        if (!pti_section_counts(section, PTI_WRITES))
            continue;
        bool is_plain = section->role == POLYTILE_OUT || section->role == POLYTILE_INOUT;
        if (result != NULL || !is_plain || instance->operand[section->operand].partial)
            return NULL;
        result = section;
    }
    return result != NULL && is_point(instance, result) ? result : NULL;
}

/** Find where a section lies relative to its thread's result in one dimension; false if it does not
 * move with it. */
static bool find_neighbours(const pti_instance *instance, const pti_section *section,
                            const pti_section *result, int d, int64_t *lo, int64_t *hi) {
    const pti_subscript *at = &section->subscript[d];
    int k = index_of(at, instance->n_indices);
    if (k == -2 || k != index_of(&result->subscript[d], instance->n_indices))
        return false;
    return !pti_sub_overflows(at->lo.constant, result->subscript[d].lo.constant, lo) &&
           !pti_sub_overflows(at->hi.constant, result->subscript[d].lo.constant, hi);
}

/** Return which neighbours of its thread's result a section has: bit 0 the result's own element,
 * bits 1 + 2 d and 2 + 2 d those before and after it in dimension d. */
static unsigned neighbours_of(const pti_instance *instance, const pti_section *section,
                              const pti_section *result) {
    int64_t lo[POLYTILE_MAX_DIMS], hi[POLYTILE_MAX_DIMS];
    unsigned n_off = 0, neighbours = 0;
    for (int d = 0; d < section->n_dims; d++) {
        if (!find_neighbours(instance, section, result, d, &lo[d], &hi[d]))
            return 0;
        n_off += lo[d] > 0 || hi[d] < 0;
    }
    for (int d = 0; d < section->n_dims; d++) {
        bool others_meet = n_off == (unsigned)(lo[d] > 0 || hi[d] < 0);
        neighbours |= others_meet && lo[d] <= -1 && hi[d] >= -1 ? 2u << 2 * d : 0;
        neighbours |= others_meet && lo[d] <= 1 && hi[d] >= 1 ? 4u << 2 * d : 0;
    }
    return neighbours | (n_off == 0 ? 1u : 0);
}

/** Return which neighbours a launch reads of an array, as neighbours_of(). */
static unsigned neighbours_in(const pti_call *launch, int array, const pti_section *result) {
    unsigned neighbours = 0;
    for (int s = 0; s < launch->instance->n_sections; s++) {
        const pti_section *section = &launch->instance->section[s];
        if (launch->array[section->operand] == array && section->exact &&
            section->n_dims == result->n_dims && pti_section_counts(section, PTI_READS))
            neighbours |= neighbours_of(launch->instance, section, result);
    }
    return neighbours;
}

/** Return both neighbours in each of some dimensions, as neighbours_of(). */
static unsigned both_sides(unsigned dims) {
    unsigned neighbours = 0;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        neighbours |= (dims >> d & 1) * (6u << 2 * d);
    return neighbours;
}

static bool reads_both_sides(unsigned neighbours, unsigned sides) {
    return (neighbours & sides) == sides;
}

/* Launches that depend on others in the same way. */

/** What is found of a launch, for it and for those with the same instance and arrays. */
typedef struct known_launch {
    pti_call call;
    const pti_section *result;             /* NULL: it has no such one, and the rest is not known */
    polytile_domain written;               /* the hull of its result */
    unsigned neighbours[PTI_MAX_OPERANDS]; /* of each operand: that it reads of its array */
} known_launch;

/** Several launches. */
typedef struct stencil_launches {
    int n_launches;
    int *known; /* of each: what is found of it; owned, as the next */
    int64_t n_known;
    known_launch *of;
} stencil_launches;

static void know_launch(pti_call call, known_launch *known) {
    *known = (known_launch){.call = call, .result = find_result(call.instance)};
    if (known->result == NULL)
        return;
    known->written = pti_section_hull(call.instance, known->result, &call.instance->threads);
    for (int o = 0; o < call.instance->n_operands; o++)
        known->neighbours[o] = neighbours_in(&call, call.array[o], known->result);
}

/** Return which of the last launches before one is the same; -1: none. */
static int find_same_before(const pti_call *launches, int l) {
    enum { N_LOOKED_AT = 64 };
    for (int k = l - 1; k >= 0 && l - k <= N_LOOKED_AT; k--)
        if (launches[k].instance == launches[l].instance && launches[k].array == launches[l].array)
            return k;
    return -1;
}

/** Look at each launch that no other one before it was the same as; false when memory runs out. */
static bool list_launches(int n_launches, const pti_call *launches, stencil_launches *list) {
    int64_t capacity = 0;
    *list = (stencil_launches){.n_launches = n_launches};
    list->known = malloc(((size_t)n_launches + 1) * sizeof *list->known);
    bool has_memory = list->known != NULL;
    for (int l = 0; l < n_launches && has_memory; l++) {
        const int same = find_same_before(launches, l);
        list->known[l] = same >= 0 ? list->known[same] : (int)list->n_known;
        if (same >= 0)
            continue;
        has_memory = PTI_GROW(list->of, list->n_known, &capacity);
        if (has_memory)
            know_launch(launches[l], &list->of[list->n_known++]);
    }
    return has_memory;
}

static void free_launches(stencil_launches *list) {
    free(list->known);
    free(list->of);
}

/* Rows of launches, in run order. */

/** The row that ends with what an array holds now. */
typedef struct end {
    bool is_known; /* its elements were uploaded, or are results of a row */
    pti_stencil row;
    bool *is_in_row; /* of each array; owned */
} end;

/** The search for rows of launches that read neighbourhoods. */
typedef struct stencil_finder {
    int n_arrays;
    unsigned sides; /* of the dimensions in which launches are to read both */
    end *of_array;  /* owned */
    end *made;      /* the current launch's; owned */
    pti_stencil *best;
    bool *best_in_row;
    double best_volume;
} stencil_finder;

static double volume_of(const pti_stencil *row) {
    double volume = (double)row->n_steps;
    for (int d = 0; d < row->box.n_dims; d++)
        volume *= (double)pti_range_count(row->box.range[d]);
    return volume;
}

static void copy_end(int n_arrays, const end *from, end *to) {
    bool *list = to->is_in_row;
    *to = *from;
    to->is_in_row = list;
    memcpy(list, from->is_in_row, (size_t)n_arrays * sizeof *list);
}

/** Extend a row by a launch. */
static void extend_row(const known_launch *launch, bool counts, end *of) {
    const int result = launch->result->operand;
    const pti_operand *operand = &launch->call.instance->operand[result];
    const polytile_domain *written = &launch->written;
    of->row.n_steps += counts;
    of->row.smallest_bytes = pti_min(of->row.smallest_bytes, operand->element_bytes);
    of->row.largest_bytes = pti_max(of->row.largest_bytes, operand->element_bytes);
    for (int d = 0; d < written->n_dims; d++) {
        of->row.box.range[d].lo = pti_max(of->row.box.range[d].lo, written->range[d].lo);
        of->row.box.range[d].hi = pti_min(of->row.box.range[d].hi, written->range[d].hi);
    }
    of->is_in_row[launch->call.array[result]] = true;
}

/** Extend the longest row that a launch can extend, of those that its operands end. */
static void extend_longest_row(stencil_finder *of, const known_launch *launch) {
    of->made->is_known = false;
    int64_t most = -1;
    for (int o = 0; o < launch->call.instance->n_operands; o++) {
        const end *from = &of->of_array[launch->call.array[o]];
        unsigned neighbours = from->is_known ? launch->neighbours[o] : 0;
        bool counts = reads_both_sides(neighbours, of->sides);
        if ((neighbours & 1) == 0 || from->row.n_steps + counts <= most)
            continue;
        most = from->row.n_steps + counts;
        copy_end(of->n_arrays, from, of->made);
        extend_row(launch, counts, of->made);
    }
}

static void take_best(stencil_finder *of) {
    const double volume = of->made->is_known ? volume_of(&of->made->row) : 0;
    if (volume <= of->best_volume)
        return;
    *of->best = of->made->row;
    of->best_volume = volume;
    memcpy(of->best_in_row, of->made->is_in_row, (size_t)of->n_arrays * sizeof *of->best_in_row);
}

/** Let what a launch writes end the row that it extends, or no row. */
static void extend_row_by_launch(stencil_finder *of, const known_launch *launch) {
    const pti_call *call = &launch->call;
    of->made->is_known = false;
    if (launch->result != NULL)
        extend_longest_row(of, launch);
    for (int o = 0; o < call->instance->n_operands; o++)
        if (call->instance->operand[o].writes)
            of->of_array[call->array[o]].is_known = false;
    if (!of->made->is_known)
        return;
    copy_end(of->n_arrays, of->made, &of->of_array[call->array[launch->result->operand]]);
    take_best(of);
}

/** Begin a row without launches: what the host holds of an array. */
static void begin_row(const pti_call *launch, int operand, end *of) {
    const pti_operand *is = &launch->instance->operand[operand];
    of->row = (pti_stencil){
        .box = is->domain, .smallest_bytes = is->element_bytes, .largest_bytes = is->element_bytes};
}

static bool create_ends(stencil_finder *of, int n_arrays) {
    bool is_created = true;
    of->n_arrays = n_arrays;
    of->of_array = calloc((size_t)n_arrays + 2, sizeof *of->of_array);
    for (int a = 0; of->of_array != NULL && a <= n_arrays; a++) {
        of->of_array[a].is_in_row = calloc((size_t)n_arrays + 1, sizeof(bool));
        is_created &= of->of_array[a].is_in_row != NULL;
    }
    of->made = of->of_array == NULL ? NULL : &of->of_array[n_arrays];
    return of->of_array != NULL && is_created;
}

static void free_ends(stencil_finder *of) {
    for (int a = 0; of->of_array != NULL && a <= of->n_arrays; a++)
        free(of->of_array[a].is_in_row);
    free(of->of_array);
}

static void begin_rows(stencil_finder *of, const stencil_launches *launches,
                       const bool *is_scratch) {
    for (int64_t k = launches->n_known - 1; k >= 0; k--) {
        const pti_call *call = &launches->of[k].call;
        for (int o = 0; o < call->instance->n_operands; o++)
            begin_row(call, o, &of->of_array[call->array[o]]);
    }
    for (int a = 0; a < of->n_arrays; a++) {
        of->of_array[a].is_known = !is_scratch[a];
        of->of_array[a].is_in_row[a] = true;
    }
}

/**
 * Find the row with the highest bound of launches that read both neighbours in some dimensions.
 *
 * is_in_row: of each array, whether the row reads or writes it; only the last call's row counts.
 *
 * Returns false when memory runs out; then *row has no steps.
 */
static bool find_stencil(const stencil_launches *launches, int n_arrays, const bool *is_scratch,
                         unsigned dims, pti_stencil *row, bool *is_in_row) {
    stencil_finder of = {.sides = both_sides(dims), .best = row, .best_in_row = is_in_row};
    bool is_created = create_ends(&of, n_arrays);
    *row = (pti_stencil){0};
    if (is_created) {
        begin_rows(&of, launches, is_scratch);
        for (int l = 0; l < launches->n_launches; l++)
            extend_row_by_launch(&of, &launches->of[launches->known[l]]);
        row->dims = dims;
    }
    free_ends(&of);
    return is_created;
}

/* Implements the formula of docs/bounds.md. */

double pti_stencil_most_elements(const pti_stencil *row, double n_words) {
    int n_dims = 0;
    double shortest = INFINITY;
    for (int d = 0; d < row->box.n_dims; d++) {
        if ((row->dims >> d & 1) == 0)
            continue;
        n_dims++;
        shortest = fmin(shortest, (double)pti_range_count(row->box.range[d]));
    }
    double root = pow(n_words, 1.0 / n_dims);
    double share = n_words < shortest ? 1 : 1 - root / shortest;
    return share <= 0 ? INFINITY : n_words * root / share;
}

/** Return the least uploads if the run is cut whenever phase_bytes have come in. */
static double bytes_of_phases(const pti_stencil *row, double limit_bytes, double phase_bytes) {
    double n_words =
        (limit_bytes + phase_bytes + (double)row->largest_bytes) / (double)row->smallest_bytes;
    double n_phases = ceil(volume_of(row) / pti_stencil_most_elements(row, n_words) * (1 - 1e-12));
    return n_phases < 2 ? 0 : limit_bytes + (n_phases - 1) * phase_bytes;
}

/** Return the least uploads of the row's arrays with a memory of limit_bytes, empty before. */
static int64_t stencil_bytes(const pti_stencil *row, int64_t limit_bytes) {
    double most = 0;
    if (row->n_steps == 0 || limit_bytes <= 0 || pti_box_is_empty(&row->box))
        return 0;
    for (double share = 0.0625; share <= 16; share *= 1.25)
        most = fmax(most, bytes_of_phases(row, (double)limit_bytes, share * (double)limit_bytes));
    return most >= 9.2e18 ? INT64_MAX : (int64_t)(most * (1 - 1e-12));
}

/* The bound. */

/** Return the dimensions in which some launch reads both neighbours of what it writes. */
static unsigned find_dims(const stencil_launches *launches) {
    unsigned dims = 0;
    for (int64_t k = 0; k < launches->n_known; k++) {
        const known_launch *launch = &launches->of[k];
        for (int o = 0; launch->result != NULL && o < launch->call.instance->n_operands; o++)
            for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
                dims |= reads_both_sides(launch->neighbours[o], both_sides(1u << d)) ? 1u << d : 0;
    }
    return dims;
}

static void write_stencil_reason(const pti_stencil *row, int64_t limit_bytes, pti_bound *bound) {
    int n_dims = 0;
    for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
        n_dims += (row->dims & 1u << d) != 0;
    snprintf(bound->reason, sizeof bound->reason,
             "stencil: %lld steps over %.0f elements that read both neighbours in %d dimension%s, "
             "S = %lld words of the limit",
             (long long)row->n_steps, volume_of(row) / (double)row->n_steps, n_dims,
             n_dims == 1 ? "" : "s", (long long)(limit_bytes / row->smallest_bytes));
}

/** Raise the bound by a row's uploads and the compulsory ones of all other arrays. skipped: room
 * for a list of arrays. */
static void raise_by(int n_launches, const pti_call *launches, int n_arrays, const pti_stencil *row,
                     bool *skipped, int64_t limit_bytes, const bool *is_scratch, pti_bound *bound) {
    int64_t bytes = stencil_bytes(row, limit_bytes);
    if (bytes == 0)
        return;
    for (int a = 0; a < n_arrays; a++)
        skipped[a] |= is_scratch[a];
    pti_bound others = pti_bound_find_chain(n_launches, launches, n_arrays, skipped);
    bound->failed = bound->failed || others.failed;
    bytes = pti_add_saturated(bytes, others.h2d_bytes);
    if (bytes <= bound->h2d_bytes)
        return;
    bound->kind = PTI_BOUND_STENCIL;
    bound->h2d_bytes = bound->goal_bytes = bytes;
    write_stencil_reason(row, limit_bytes, bound);
}

bool pti_bound_raise_stencil(int n_launches, const pti_call *launches, int n_arrays,
                             const bool *is_scratch, int64_t limit_bytes, pti_bound *bound) {
    stencil_launches list;
    bool *skipped = calloc((size_t)n_arrays + 1, sizeof *skipped);
    bool is_done = list_launches(n_launches, launches, &list) && skipped != NULL;
    unsigned all = find_dims(&list);
    for (unsigned dims = all; dims != 0 && is_done; dims = (dims - 1) & all) {
        pti_stencil row;
        is_done = find_stencil(&list, n_arrays, is_scratch, dims, &row, skipped);
        if (is_done)
            raise_by(n_launches, launches, n_arrays, &row, skipped, limit_bytes, is_scratch, bound);
    }
    free(skipped);
    free_launches(&list);
    return is_done;
}
