#include "launch/access_check/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

/** The most guarded address space, which costs nothing, on either side. */
static const size_t most_guard_bytes = (size_t)1 << 36;

static size_t round_up(size_t n_bytes, size_t page_bytes) {
    return (n_bytes + page_bytes - 1) / page_bytes * page_bytes;
}

/** Reserve pages, with less guarded space if there is no more. */
static void *reserve_pages(size_t n_bytes, size_t page_bytes, size_t *guard_bytes) {
    void *map = MAP_FAILED;
    size_t next_bytes = *guard_bytes;
    while (map == MAP_FAILED && next_bytes >= page_bytes) {
        *guard_bytes = round_up(next_bytes, page_bytes);
        map = mmap(NULL, n_bytes + 2 * *guard_bytes, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        next_bytes = *guard_bytes / 2;
    }
    return map;
}

polytile_status pti_guarded_make(polytile_context *ctx, pti_guarded *memory, size_t n_bytes,
                                 size_t guard_bytes) {
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    if (memory->n_bytes >= n_bytes)
        return POLYTILE_OK;
    pti_guarded_free(memory);
    size_t inside_bytes = round_up(n_bytes, page_bytes);
    size_t beside_bytes = guard_bytes < most_guard_bytes ? guard_bytes : most_guard_bytes;
    beside_bytes = round_up(beside_bytes + 1, page_bytes);
    void *map = reserve_pages(inside_bytes, page_bytes, &beside_bytes);
    if (map == MAP_FAILED)
        return pti_fail_memory(ctx, "an array's copy to be checked", (double)inside_bytes);
    *memory = (pti_guarded){.bytes = (unsigned char *)map + beside_bytes,
                            .n_bytes = inside_bytes,
                            .map = map,
                            .map_bytes = inside_bytes + 2 * beside_bytes};
    if (mprotect(memory->bytes, inside_bytes, PROT_READ | PROT_WRITE) == 0)
        return POLYTILE_OK;
    pti_guarded_free(memory);
    return pti_fail_memory(ctx, "an array's copy to be checked", (double)inside_bytes);
}

void pti_guarded_free(pti_guarded *memory) {
    if (memory->map != NULL)
        munmap(memory->map, memory->map_bytes);
    *memory = (pti_guarded){0};
}
