#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SHADOW_COPY_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SHADOW_COPY_H

#include "access/array/array.h"
#include "access/footprint/instance.h"
#include "access/set/memory_layout.h"
#include "launch/access_check/guarded.h"
#include "launch/access_check/poison.h"
#include "launch/access_check/values.h"

/* The copies on which a checked kernel runs. */

/** What a box of threads may do with an element; of scratch that it has, anything, but what it
 * holds at first must not matter. */
enum { PTI_MARK_READ = 1, PTI_MARK_WRITTEN = 2, PTI_MARK_SCRATCH = 4 };

/** A declared element. */
typedef struct pti_marked {
    int64_t place;        /* among the copy's elements */
    int64_t source_bytes; /* of its value in the array's memory */
} pti_marked;

/**
 * A copy of a part of an array, larger than what a box of threads declares, in which only elements
 * that are declared to be read have their values.
 *
 * Places count the elements of the box in C order; the box may reach beyond the array. An element
 * of the array has the same poison in each box.
 */
typedef struct pti_shadow_copy {
    const polytile_array *array; /* borrowed */
    const pti_operand *operand;  /* borrowed */
    int number;                  /* of the operand: each has poison of its own */
    bool holds_indices; /* subscripts look it up, so that poison is what elements nearby hold */
    pti_memory_layout layout; /* of the box, whose steps are 1 */
    int64_t n_elements;
    pti_guarded memory;                    /* what the kernel gets; owned, as all below */
    pti_values values;                     /* that the array holds */
    unsigned char *poison[PTI_N_PATTERNS]; /* of all elements */
    int n_patterns;
    int64_t poison_elements; /* for which each has memory, and a mark */
    unsigned char *mark;     /* of each element; 0: it is not declared */
    pti_marked *marked;      /* those with a mark, in the order in which they were marked */
    int64_t n_marked, n_marks_had;
    unsigned char *result; /* what written elements held after the first run, in the same order */
    int64_t n_results_had;
    bool has_failed; /* for lack of memory */
} pti_shadow_copy;

/** Make a shadow copy of a kernel's number-th array, without memory. Errors: NO_MEMORY; free it in
 * any case. */
polytile_status pti_shadow_copy_make(const polytile_array *array, const pti_operand *operand,
                                     int number, pti_shadow_copy *shadow);

/** Place the copy over a box, with poison everywhere and no marks. Errors: NO_MEMORY. */
polytile_status pti_shadow_copy_place(polytile_context *ctx, pti_shadow_copy *shadow,
                                      const polytile_domain *box, int n_patterns);
void pti_shadow_copy_free(pti_shadow_copy *shadow);

/** Mark the elements of a box inside both array and copy. */
void pti_shadow_copy_mark(pti_shadow_copy *shadow, const polytile_domain *box, int marks);
/** Allocate memory for results of all marked elements. Errors: NO_MEMORY. */
polytile_status pti_shadow_copy_keep_results(polytile_context *ctx, pti_shadow_copy *shadow);

/** Fill the copy with one pattern up to a place and another one from there, and with values where
 * they are declared to be read. */
void pti_shadow_copy_begin(pti_shadow_copy *shadow, int first_pattern, int64_t n_first,
                           int then_pattern);

/** Keep what the copy holds in place of its first pattern, without the array; and fill it with that
 * again. */
void pti_shadow_copy_keep_begin(pti_shadow_copy *shadow);
void pti_shadow_copy_begin_again(pti_shadow_copy *shadow);

/** Poison the marked elements, too. */
void pti_shadow_copy_poison_marked(pti_shadow_copy *shadow, int pattern);

/** Return where the first result of the k-th marked element is kept. */
static inline unsigned char *pti_shadow_copy_result(const pti_shadow_copy *shadow, int64_t k) {
    return shadow->result + k * shadow->operand->element_bytes;
}

static inline unsigned char *pti_shadow_copy_at(const pti_shadow_copy *shadow, int64_t place) {
    return shadow->memory.bytes + place * shadow->operand->element_bytes;
}

static inline const unsigned char *pti_shadow_copy_poison(const pti_shadow_copy *shadow,
                                                          int pattern, int64_t place) {
    return shadow->poison[pattern] + place * shadow->operand->element_bytes;
}

/** Find the indices of the element at a place. */
void pti_shadow_copy_find(const pti_shadow_copy *shadow, int64_t place, int64_t *element);

#endif
