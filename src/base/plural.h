#ifndef POLYTILE_BASE_PLURAL_H
#define POLYTILE_BASE_PLURAL_H

#include <stdint.h>

/** Return the word for n things. */
static inline const char *pti_plural(int64_t n, const char *one, const char *several) {
    return n == 1 ? one : several;
}

#endif
