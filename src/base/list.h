#ifndef POLYTILE_BASE_LIST_H
#define POLYTILE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Reallocate a list, a pointer variable whose address is given, for n elements. Long ones lie in
 * large pages, where the system has some. False when memory runs out: then the list is as
 * before. */
bool pti_list_resize(void *list, int64_t n, size_t element_bytes);

/** Allocate a list of n elements whose bytes are all zero, in large pages as pti_list_resize().
 * It replaces what the variable held. */
bool pti_list_begin(void *list, int64_t n, size_t element_bytes);

/** Have room for one element more than n; false when memory runs out: then nothing has changed. */
static inline bool pti_list_grow(void *list, int64_t n, int64_t *capacity, size_t element_bytes) {
    const int64_t larger = 2 * n + 16;
    if (n < *capacity)
        return true;
    if (!pti_list_resize(list, larger, element_bytes))
        return false;
    *capacity = larger;
    return true;
}

#define PTI_RESIZE(list, n)         pti_list_resize(&(list), n, sizeof *(list))
#define PTI_BEGIN(list, n)          pti_list_begin(&(list), n, sizeof *(list))
#define PTI_GROW(list, n, capacity) pti_list_grow(&(list), n, capacity, sizeof *(list))

#endif
