#include "base/list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/** Ask for large pages: small ones take a third of the time of planning 250,000 superblocks. */
static void advise_large_pages(char *memory, size_t n_bytes) {
    enum { LONG_BYTES = 16 << 20, PAGE_BYTES = 4096 };
    char *begin =
        memory - (uintptr_t)memory % PAGE_BYTES; /* all of a mapping, so that it stays one */
    if (n_bytes >= LONG_BYTES)
        madvise(begin, n_bytes + (size_t)(memory - begin), MADV_HUGEPAGE);
}

bool pti_list_resize(void *list, int64_t n, size_t element_bytes) {
    const size_t n_bytes = (size_t)n * element_bytes;
    void *former, *resized;
    memcpy(&former, list, sizeof former);
    resized = realloc(former, n_bytes);
    if (resized == NULL)
        return false;
    advise_large_pages(resized, n_bytes);
    memcpy(list, &resized, sizeof resized);
    return true;
}

bool pti_list_begin(void *list, int64_t n, size_t element_bytes) {
    void *zeroed = calloc((size_t)n, element_bytes);
    if (zeroed != NULL)
        advise_large_pages(zeroed, (size_t)n * element_bytes);
    memcpy(list, &zeroed, sizeof zeroed);
    return zeroed != NULL;
}
