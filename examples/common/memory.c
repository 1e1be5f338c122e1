/* Host memory for arrays, mapped. */
#include "pinned.h"
#include "session.h"

#include <polytile/size.h>

#include <sys/mman.h>
#include <unistd.h>

/** Return the machine's memory for this rank: each rank on it has all arrays. */
static int64_t machine_memory(const session *s) {
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE) / s->ranks.n_here;
}

static int64_t allocated(const session *s) {
    int64_t total = 0;
    for (int m = 0; m < s->n_memories; ++m)
        total += s->memory[m].n_bytes;
    return total;
}

static polytile_status fail_allocation(session *s, const char *name, int64_t n_bytes) {
    char size[32], before[32], machine[32];
    return session_fail(s, POLYTILE_NO_MEMORY,
                        "array %s needs %s of host memory beside %s of other arrays, and this "
                        "machine has %s%s; choose a smaller size, keep the arrays in files "
                        "(--input, --output) or only plan (--plan)",
                        name, polytile_size_format(n_bytes, size),
                        polytile_size_format(allocated(s), before),
                        polytile_size_format(machine_memory(s), machine),
                        s->ranks.n_here > 1 ? " for each rank" : "");
}

/** Write to every page with all threads, so that the first run is not charged for it. */
static void touch(char *memory, int64_t n_bytes) {
    int64_t page_bytes = sysconf(_SC_PAGESIZE);
#pragma omp parallel for
    for (int64_t byte = 0; byte < n_bytes; byte += page_bytes)
        memory[byte] = 0;
}

static polytile_status pin(session *s, const char *name, session_memory *memory) {
    char size[32];
    const char *why_not = memory_pin(memory->data, memory->n_bytes);
    memory->is_pinned = why_not == NULL;
    if (memory->is_pinned)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_NO_MEMORY,
                        "array %s: %s of host memory cannot be pinned: %s; use --memory pageable",
                        name, polytile_size_format(memory->n_bytes, size), why_not);
}

polytile_status session_allocate(session *s, const char *name, int64_t n_bytes, bool pinned,
                                 void **data) {
    if (s->n_memories == SESSION_MAX_MEMORIES || n_bytes > machine_memory(s) - allocated(s))
        return fail_allocation(s, name, n_bytes);
    void *memory =
        mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail_allocation(s, name, n_bytes);
    madvise(memory, (size_t)n_bytes, pinned ? MADV_NOHUGEPAGE : MADV_HUGEPAGE);
    s->memory[s->n_memories++] = (session_memory){memory, n_bytes, false};
    touch(memory, n_bytes);
    *data = memory;
    return pinned ? pin(s, name, &s->memory[s->n_memories - 1]) : POLYTILE_OK;
}

void session_free_memory(session *s) {
    for (int m = 0; m < s->n_memories; ++m) {
        if (s->memory[m].is_pinned)
            memory_unpin(s->memory[m].data);
        munmap(s->memory[m].data, (size_t)s->memory[m].n_bytes);
    }
}
