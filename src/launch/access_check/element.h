#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_ELEMENT_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_ELEMENT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Copy one element. Known sizes take no calls; this runs millions of times. */

static inline void pti_element_copy(void *to, const void *from, int64_t element_bytes) {
    switch (element_bytes) {
    case 4:
        memcpy(to, from, 4);
        break;
    case 8:
        memcpy(to, from, 8);
        break;
    default:
        memcpy(to, from, (size_t)element_bytes);
    }
}

static inline bool pti_element_equals(const void *one, const void *other, int64_t element_bytes) {
    switch (element_bytes) {
    case 4:
        return memcmp(one, other, 4) == 0;
    case 8:
        return memcmp(one, other, 8) == 0;
    default:
        return memcmp(one, other, (size_t)element_bytes) == 0;
    }
}

#endif
