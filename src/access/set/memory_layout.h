#ifndef POLYTILE_ACCESS_SET_MEMORY_LAYOUT_H
#define POLYTILE_ACCESS_SET_MEMORY_LAYOUT_H

#include "access/set/boxes.h"

/**
 * How a strided box of an array lies in linear memory, without its gaps where strides allow it.
 *
 * Element x is at sum over d of (x[d] - hull.range[d].lo) * stride_bytes[d], C order. hull may have
 * smaller steps than the box (never other ends) if a stride would be no whole number of bytes.
 */
typedef struct pti_memory_layout {
    polytile_domain hull;
    int64_t stride_bytes[POLYTILE_MAX_DIMS]; /* for an index one larger */
    int64_t size_bytes;
} pti_memory_layout;

/** Lay out a box, in no more memory than without its steps; size_bytes is INT64_MAX if it exceeds
 * 64 bits, 0 for an empty box. */
pti_memory_layout pti_memory_layout_of(const polytile_domain *hull, int64_t element_bytes);

/** The runs of a box: bytes side by side in an array in C order. */
typedef struct pti_runs {
    int64_t run_bytes;
    int64_t
        pitch_bytes; /* from the begin of one to that of the next; run_bytes if there is but one */
} pti_runs;

pti_runs pti_runs_of(const polytile_domain *array, const polytile_domain *box,
                     int64_t element_bytes);

/** Return where an element lies, in bytes from the layout's start. */
int64_t pti_memory_layout_offset(const pti_memory_layout *layout, const int64_t *element);
/** Return where a box's first element lies, in bytes from the layout's start. */
int64_t pti_memory_layout_offset_of(const pti_memory_layout *layout, const polytile_domain *box);

#endif
