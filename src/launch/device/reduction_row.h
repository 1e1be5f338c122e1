#ifndef POLYTILE_LAUNCH_DEVICE_REDUCTION_ROW_H
#define POLYTILE_LAUNCH_DEVICE_REDUCTION_ROW_H

#include <polytile/declaration.h>

#include <stdint.h>

/* How rows of values with indices are combined. */

/** Elements along one dimension of a box, in both memories. */
typedef struct pti_element_row {
    char *to;
    const char *from;
    int64_t n;
    int64_t to_step_bytes;
    int64_t from_step_bytes;
} pti_element_row;

/* argmin and argmax, of a value of a scalar type and an index. */

void pti_indexed_identity(polytile_role role, int scalar, unsigned char *element);

/** Combine a row. The better value wins, of equal ones the lower index, and any number over NaN.
 * Bytes between value and index stay. */
void pti_indexed_combine(polytile_role role, int scalar, const pti_element_row *row);

#endif
