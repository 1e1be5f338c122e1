#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_PACK_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_PACK_H

#include "access/array/array.h"
#include "access/set/boxes.h"

/* Boxes of an array in contiguous memory: box after box, each in C order without its gaps. */

/** What the elements of boxes take; INT64_MAX if that exceeds 64 bits. */
int64_t pti_packed_bytes(const pti_boxes *boxes, int64_t element_bytes);

/** Copy boxes, which lie in the array's domain, from its host memory. Returns the place after what
 * was written. */
char *pti_pack(const polytile_array *array, const pti_boxes *boxes, char *packed);

/** Copy them into it. Returns the place after what was read. */
const char *pti_unpack(const polytile_array *array, const pti_boxes *boxes, const char *packed);

#endif
