#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SCRATCH_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SCRATCH_H

#include "access/declare/array.h"
#include "access/footprint/instance.h"
#include "access/set/layout.h"
#include "launch/access_check/guarded.h"
#include "launch/access_check/poison.h"
#include "launch/access_check/values.h"

/** What a box of threads may do with an element. */
enum { PTI_MARK_READ = 1, PTI_MARK_WRITTEN = 2 };

/** An element that is declared to be touched. */
typedef struct pti_marked {
    int64_t place;        /* among the scratch's elements */
    int64_t source_bytes; /* of its value in the array's memory */
} pti_marked;

/**
 * A copy of a part of an array, larger than what a box of threads is declared to touch, in which
 * only what is declared to be read has its value.
 *
 * Places count the elements of the box, which may reach beyond the array, in C order. The poison of
 * an element of the array is the same in each box.
 */
typedef struct pti_scratch {
    const polytile_array *array; /* borrowed */
    const pti_operand *operand;  /* borrowed */
    int number;                  /* of the operand: each has poison of its own */
    pti_layout layout;           /* of the box, whose steps are 1 */
    int64_t n_elements;
    pti_guarded memory;                    /* what the kernel gets; owned, as all below */
    pti_values values;                     /* that the array holds */
    unsigned char *poison[PTI_N_PATTERNS]; /* of all elements */
    int n_patterns;
    int64_t poison_elements; /* there is memory for so many in each, and as many marks */
    unsigned char *mark;     /* of each element; 0: it is not declared */
    pti_marked *marked;      /* those with a mark, in the order in which they were marked */
    int64_t n_marked, n_marks_had;
    unsigned char *result; /* what written elements held after the first run, in the same order */
    int64_t n_results_had;
    bool has_failed; /* for lack of memory */
} pti_scratch;

/** The scratch of an array, the number-th of a kernel, without memory. Errors: NO_MEMORY; to be
 * freed in any case. */
polytile_status pti_scratch_make(const polytile_array *array, const pti_operand *operand,
                                 int number, pti_scratch *scratch);

/** Let the copy be of a box, with poison everywhere and no marks. Errors: NO_MEMORY. */
polytile_status pti_scratch_place(polytile_context *ctx, pti_scratch *scratch,
                                  const polytile_domain *box, int n_patterns);
void pti_scratch_free(pti_scratch *scratch);

/** Mark the elements of a box, which is inside both array and copy. */
void pti_scratch_mark(pti_scratch *scratch, const polytile_domain *box, int marks);
/** Memory for results of all marked elements. Errors: NO_MEMORY. */
polytile_status pti_scratch_keep_results(polytile_context *ctx, pti_scratch *scratch);
void pti_scratch_forget_marks(pti_scratch *scratch);

/** What an element holds before the kernel runs, if it is no poison: its value in the array, or
 * what a reduction starts from, of which nothing is lost in a combination. False: it is poison. */
bool pti_scratch_begin_of(const pti_scratch *scratch, const pti_marked *element,
                          unsigned char *value);

/** Poison of a pattern up to a place and of another one from there, and values where they are
 * declared to be read. */
void pti_scratch_begin(pti_scratch *scratch, int first_pattern, int64_t n_first, int then_pattern);

/** Poison of a pattern where something is declared, too. */
void pti_scratch_poison_marked(pti_scratch *scratch, int pattern);

/** Where the first result of the k-th marked element is kept. */
static inline unsigned char *pti_scratch_result(const pti_scratch *scratch, int64_t k) {
    return scratch->result + k * scratch->operand->element_bytes;
}

static inline unsigned char *pti_scratch_at(const pti_scratch *scratch, int64_t place) {
    return scratch->memory.bytes + place * scratch->operand->element_bytes;
}

static inline const unsigned char *pti_scratch_poison(const pti_scratch *scratch, int pattern,
                                                      int64_t place) {
    return scratch->poison[pattern] + place * scratch->operand->element_bytes;
}

/** The indices of the element at a place. */
void pti_scratch_find(const pti_scratch *scratch, int64_t place, int64_t *element);

#endif
