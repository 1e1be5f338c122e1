#include "access/footprint/section.h"

#include "access/footprint/affine.h"
#include "base/checked.h"

/** Add a multiple of an index: of the program's, which is asked.lo + asked.step * thread where it
 * has a step. */
static bool add_index(int64_t coefficient, const polytile_range *asked, int index,
                      pti_affine *affine) {
    int64_t first;
    affine->index[index] = coefficient;
    if (asked->step == 1)
        return true;
    return !pti_mul_overflows(coefficient, asked->step, &affine->index[index]) &&
           !pti_mul_overflows(coefficient, asked->lo, &first) &&
           !pti_add_overflows(affine->constant, first, &affine->constant);
}

static bool fill_affine(const polytile_affine *declared, const pti_instance *instance,
                        pti_affine *affine) {
    *affine = (pti_affine){.constant = declared->constant};
    for (int k = 0; k < instance->n_indices; k++)
        if (!add_index(declared->index[k], &instance->asked.range[k], k, affine))
            return false;
    for (int p = 0; p < POLYTILE_MAX_PARAMETERS; p++) {
        int64_t term;
        if (pti_mul_overflows(declared->parameter[p], instance->parameter[p], &term) ||
            pti_add_overflows(affine->constant, term, &affine->constant))
            return false;
    }
    return true;
}

static __int128 magnitude_of(int64_t a) {
    return a < 0 ? -(__int128)a : a;
}

/* Return whether every partial sum over the threads, and every coefficient, stays within the
 * limit. */
static bool is_affine_bounded(const pti_affine *affine, const polytile_domain *threads) {
    __int128 sum = magnitude_of(affine->constant);
    for (int k = 0; k < threads->n_dims && sum <= PTI_INDEX_LIMIT; k++) {
        int64_t farthest =
            pti_max(1, pti_max(pti_abs(threads->range[k].lo), pti_abs(threads->range[k].hi)));
        sum += magnitude_of(affine->index[k]) * farthest;
    }
    return sum <= PTI_INDEX_LIMIT;
}

static bool divides_all(int64_t step, const pti_affine *affine) {
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++)
        if (affine->index[k] % step != 0)
            return false;
    return true;
}

/* Move hi down onto the lattice if hi - lo modulo the step is the same for all threads. */
static void normalise_subscript(pti_subscript *subscript) {
    pti_affine width = pti_subscript_width(subscript);
    if (divides_all(subscript->step, &width))
        subscript->hi.constant -= pti_floor_mod(width.constant, subscript->step);
    if (!pti_affine_is_parallel(&subscript->hi, &subscript->lo))
        return;
    if (subscript->hi.constant <= subscript->lo.constant) {
        bool is_empty = subscript->hi.constant < subscript->lo.constant;
        subscript->hi.constant = subscript->lo.constant - is_empty;
        subscript->step = 1;
    }
}

/* Return the index that a subscript names, POLYTILE_MAX_DIMS if it names none; -1: several. */
static int only_index(const pti_subscript *subscript) {
    int only = POLYTILE_MAX_DIMS;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        if (subscript->lo.index[k] == 0)
            continue;
        if (only != POLYTILE_MAX_DIMS)
            return -1;
        only = k;
    }
    return only;
}

/* Return whether a sliding interval of fixed length makes one range of its own step along an index;
 * a single element always makes one of the coefficient. */
static bool slides_without_gaps(const pti_subscript *subscript, int index) {
    int64_t extent = subscript->hi.constant - subscript->lo.constant;
    int64_t shift = index == POLYTILE_MAX_DIMS ? 0 : pti_abs(subscript->lo.index[index]);
    return extent == 0 || shift == 0 ||
           (shift % subscript->step == 0 && shift <= extent + subscript->step);
}

/* Return whether each dimension is an interval of fixed length that follows at most one index, all
 * different ones; record which. */
static bool is_box(pti_section *section) {
    bool named[POLYTILE_MAX_DIMS + 1] = {false};
    if (section->indirection != NULL)
        return false;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        int index = only_index(subscript);
        section->followed[d] = index;
        if (index < 0 || !pti_affine_is_parallel(&subscript->lo, &subscript->hi) ||
            !slides_without_gaps(subscript, index))
            return false;
        if (index != POLYTILE_MAX_DIMS && named[index])
            return false;
        named[index] = true;
    }
    return true;
}

bool pti_section_may_be_empty(const pti_section *section, const polytile_domain *threads) {
    for (int d = 0; d < section->n_dims; d++) {
        pti_affine width = pti_subscript_width(&section->subscript[d]);
        if (pti_affine_min(&width, threads) < 0)
            return true;
    }
    return false;
}

static polytile_status refuse_subscript(polytile_context *ctx, const pti_instance *instance,
                                        const pti_section *section, int d) {
    return pti_fail(ctx, POLYTILE_OVERFLOW,
                    "%s: subscript %d of %s leaves -2^61:2^61 for some thread; use a "
                    "smaller launch domain, coefficient, step or parameter",
                    instance->kernel_name, d, instance->operand[section->operand].name);
}

polytile_status pti_section_fill_affine(polytile_context *ctx, const pti_instance *instance,
                                        const pti_section *section, int d,
                                        const polytile_affine *declared, pti_affine *affine) {
    return fill_affine(declared, instance, affine) && is_affine_bounded(affine, &instance->threads)
               ? POLYTILE_OK
               : refuse_subscript(ctx, instance, section, d);
}

polytile_status pti_section_settle(polytile_context *ctx, const pti_instance *instance,
                                   pti_section *section) {
    for (int d = 0; d < section->n_dims; d++) {
        pti_subscript *subscript = &section->subscript[d];
        if (subscript->step > PTI_INDEX_LIMIT ||
            !is_affine_bounded(&subscript->lo, &instance->threads) ||
            !is_affine_bounded(&subscript->hi, &instance->threads))
            return refuse_subscript(ctx, instance, section, d);
        normalise_subscript(subscript);
    }
    section->is_box = is_box(section);
    section->may_be_empty = pti_section_may_be_empty(section, &instance->threads);
    return POLYTILE_OK;
}

/** Fill in one dimension. A whole one has the steps of its array. */
static bool fill_subscript(const polytile_subscript *declared, const pti_instance *instance,
                           polytile_range whole, pti_subscript *subscript) {
    bool filled = fill_affine(&declared->lo, instance, &subscript->lo) &&
                  fill_affine(&declared->hi, instance, &subscript->hi);
    if (declared->from_first)
        subscript->lo = (pti_affine){.constant = whole.lo};
    if (declared->to_last)
        subscript->hi = (pti_affine){.constant = whole.hi};
    subscript->step = declared->step;
    if (declared->from_first && declared->to_last && declared->step == 1)
        subscript->step = whole.step;
    return filled;
}

polytile_status pti_section_fill(polytile_context *ctx, const pti_instance *instance,
                                 const pti_access *access, pti_section *section) {
    const pti_operand *operand = &instance->operand[access->array];
    *section = (pti_section){.operand = access->array,
                             .role = access->role,
                             .fresh = access->fresh,
                             .exact = access->exact,
                             .n_dims = access->n_dims};
    for (int d = 0; d < access->n_dims; d++)
        if (!fill_subscript(&access->subscript[d], instance, operand->domain.range[d],
                            &section->subscript[d]))
            return refuse_subscript(ctx, instance, section, d);
    return pti_section_settle(ctx, instance, section);
}
