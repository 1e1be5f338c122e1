#ifndef POLYTILE_ACCESS_SET_MEMORY_LAYOUT_H
#define POLYTILE_ACCESS_SET_MEMORY_LAYOUT_H

#include "access/set/boxes.h"

/**
 * How a strided box of an array lies in linear memory, without its gaps.
 *
 * Element x is at the sum over d of (x[d] - hull.range[d].lo) * stride_bytes[d], in C order and
 * modulo 2^64. Where the pitch of neighbours is no multiple of their step, the stride is the number
 * that the step takes to the pitch modulo 2^64: elements of 4 bytes with step 3 have the stride
 * 4 / 3 = 4 * 0xaaaaaaaaaaaaaaab, so that views of any step take global indices as all views do.
 * Only a power of two has no inverse: a pitch is a multiple of that in the step.
 *
 * Source  Granlund and Montgomery 1994, section 9: exact division by the inverse.
 */
typedef struct pti_memory_layout {
    polytile_domain hull;
    int64_t stride_bytes[POLYTILE_MAX_DIMS]; /* for an index one larger, modulo 2^64 */
    int64_t size_bytes;
} pti_memory_layout;

/** Lay out a box; size_bytes is INT64_MAX if it exceeds 64 bits, 0 for an empty box. */
pti_memory_layout pti_memory_layout_of(const polytile_domain *hull, int64_t element_bytes);

/** Lay out a box with the strides of a layout that contains it. */
pti_memory_layout pti_memory_layout_of_part(const pti_memory_layout *whole,
                                            const polytile_domain *part, int64_t element_bytes);

/** The runs of a box: bytes side by side in an array in C order. */
typedef struct pti_runs {
    int64_t run_bytes;
    int64_t
        pitch_bytes; /* from the begin of one to that of the next; run_bytes if there is but one */
} pti_runs;

pti_runs pti_runs_of(const polytile_domain *array, const polytile_domain *box,
                     int64_t element_bytes);

/** Return how many bytes of a box lie side by side in a layout's memory. */
int64_t pti_memory_layout_run_bytes(const pti_memory_layout *layout, const polytile_domain *box,
                                    int64_t element_bytes);

/** Return where an element lies, in bytes from the layout's start. */
int64_t pti_memory_layout_offset(const pti_memory_layout *layout, const int64_t *element);
/** Return where a box's first element lies, in bytes from the layout's start. */
int64_t pti_memory_layout_offset_of(const pti_memory_layout *layout, const polytile_domain *box);

#endif
