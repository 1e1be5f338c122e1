#include "launch/host/copy/stream_store.h"

#include "base/checked.h"

#include <emmintrin.h>
#include <string.h>

enum { STORE_BYTES = sizeof(__m128i), LINE_BYTES = 64 };

/** Return the bytes before the next multiple of a store's size. */
static int64_t misaligned_bytes(const void *memory) {
    return (int64_t)(-(uintptr_t)memory % STORE_BYTES);
}

/** Copy a line; `to` is aligned to the size of a store. */
static void copy_line(char *to, const char *from) {
    __m128i part[LINE_BYTES / STORE_BYTES];
    memcpy(part, from, LINE_BYTES);
    for (int k = 0; k < LINE_BYTES / STORE_BYTES; k++)
        _mm_stream_si128((__m128i *)(void *)(to + k * STORE_BYTES), part[k]);
}

void pti_stream_copy(void *to, const void *from, int64_t n_bytes) {
    char *next = to;
    const char *source = from;
    int64_t before_bytes = pti_min(misaligned_bytes(to), n_bytes);
    memcpy(next, source, (size_t)before_bytes);
    int64_t done_bytes = before_bytes;
    for (; done_bytes + LINE_BYTES <= n_bytes; done_bytes += LINE_BYTES)
        copy_line(next + done_bytes, source + done_bytes);
    memcpy(next + done_bytes, source + done_bytes, (size_t)(n_bytes - done_bytes));
}

void pti_stream_fence(void) {
    _mm_sfence();
}
