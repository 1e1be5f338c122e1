#include "queue/guard.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

pti_guard pti_guard_of(const char *name, void *data, size_t n_bytes, bool is_read_only) {
    pti_guard guard = {.name = name, .pages = data, .is_read_only = is_read_only};
    size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    size_t n_before_bytes = (page_bytes - (uintptr_t)data % page_bytes) % page_bytes;
    if (n_bytes >= n_before_bytes + page_bytes) {
        guard.pages = (char *)data + n_before_bytes;
        guard.n_bytes = (n_bytes - n_before_bytes) / page_bytes * page_bytes;
    }
    return guard;
}

static int open_protection(const pti_guard *guard) {
    return guard->is_read_only ? PROT_READ : PROT_READ | PROT_WRITE;
}

static polytile_status fail_mprotect(polytile_context *ctx, const pti_guard *guard,
                                     const char *action) {
    int error = errno;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "%s: cannot %s its memory, the %zu bytes from %p to %p: %s; use memory of "
                    "malloc() or mmap(), or take \"attach\" out of POLYTILE_CHECK",
                    guard->name, action, guard->n_bytes, guard->pages,
                    (void *)((char *)guard->pages + guard->n_bytes - 1), strerror(error));
}

/**
 * Ask first for the protection that opening will give back: memory for which the system refuses it
 * is never closed. What a failure has closed of the pages is opened again.
 */
polytile_status pti_guard_close(polytile_context *ctx, pti_guard *guard) {
    if (guard->is_closed || guard->n_bytes == 0)
        return POLYTILE_OK;
    if (mprotect(guard->pages, guard->n_bytes, open_protection(guard)) != 0)
        return fail_mprotect(ctx, guard, "protect");
    if (mprotect(guard->pages, guard->n_bytes, PROT_NONE) != 0) {
        polytile_status status = fail_mprotect(ctx, guard, "protect");
        mprotect(guard->pages, guard->n_bytes, open_protection(guard));
        return status;
    }
    guard->is_closed = true;
    return POLYTILE_OK;
}

polytile_status pti_guard_open(polytile_context *ctx, pti_guard *guard) {
    if (!guard->is_closed)
        return POLYTILE_OK;
    if (mprotect(guard->pages, guard->n_bytes, open_protection(guard)) != 0)
        return fail_mprotect(ctx, guard, "open");
    guard->is_closed = false;
    return POLYTILE_OK;
}
