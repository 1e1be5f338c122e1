/* Host memory for arrays, mapped. */
#include "count.h"
#include "session.h"

#include <sys/mman.h>
#include <unistd.h>

static int64_t machine_memory(void) {
    return (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
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
                        "machine has %s; choose a smaller size, keep the arrays in files "
                        "(--input, --output) or only plan (--plan)",
                        name, polytile_size_format(n_bytes, size),
                        polytile_size_format(allocated(s), before),
                        polytile_size_format(machine_memory(), machine));
}

/** Write to every page with all threads, so that the first run is not charged for it. */
static void touch(char *memory, int64_t n_bytes) {
    int64_t page_bytes = sysconf(_SC_PAGESIZE);
#pragma omp parallel for
    for (int64_t byte = 0; byte < n_bytes; byte += page_bytes)
        memory[byte] = 0;
}

polytile_status session_allocate(session *s, const char *name, int64_t n_bytes, void **data) {
    if (s->n_memories == SESSION_MAX_MEMORIES || n_bytes > machine_memory() - allocated(s))
        return fail_allocation(s, name, n_bytes);
    void *memory =
        mmap(NULL, (size_t)n_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return fail_allocation(s, name, n_bytes);
    madvise(memory, (size_t)n_bytes, MADV_HUGEPAGE);
    s->memory[s->n_memories++] = (session_memory){memory, n_bytes};
    touch(memory, n_bytes);
    *data = memory;
    return POLYTILE_OK;
}
