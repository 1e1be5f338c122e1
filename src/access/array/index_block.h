#ifndef POLYTILE_ACCESS_ARRAY_INDEX_BLOCK_H
#define POLYTILE_ACCESS_ARRAY_INDEX_BLOCK_H

#include "access/array/index_array.h"

/* Blocks of elements of an index array that lie one after the other: what one pass finds of
 * them. */

/** The most elements of a block. */
enum { PTI_INDEX_BLOCK = 64 };

typedef struct pti_index_block {
    pti_value_range values;
    uint64_t sum; /* of the elements with weights, the same on every machine */
    bool ascends; /* may be anything where nobody asks */
} pti_index_block;

/** Summarise n elements, 1 to PTI_INDEX_BLOCK: by the widest instructions that the processor has.
 */
pti_index_block pti_index_block_narrow(const int32_t *element, int n, bool asks_order);
pti_index_block pti_index_block_wide(const int64_t *element, int n, bool asks_order);

#endif
