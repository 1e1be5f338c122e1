#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_VALUES_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_VALUES_H

#include "access/array/array.h"

/* Values of an array, from which the check draws. */

/** Values of an array, each once if they are few, and bytes of zero. */
typedef struct pti_values {
    unsigned char *bytes; /* of one value after the other; owned */
    int64_t element_bytes;
    int64_t n; /* at least one */
} pti_values;

/**
 * Collect values: all if they are some dozens, else some of them; of arrays with many millions of
 * elements those of a part.
 *
 * is_set: all elements have values; else some are taken unread.
 * Errors  NO_MEMORY. To be freed in any case.
 */
polytile_status pti_values_collect(const polytile_array *array, bool is_set, pti_values *values);
void pti_values_free(pti_values *values);

/** Return one of the values, chosen by random bits. */
const unsigned char *pti_values_get(const pti_values *values, uint64_t bits);

#endif
