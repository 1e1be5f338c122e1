/* Stands in for MPI in programs that were built without it. */
#include "ranks.h"

#include <stddef.h>

void ranks_join(ranks *r) {
    *r = (ranks){.n = 1, .n_here = 1};
}

void ranks_leave(const ranks *r) {
    (void)r;
}

const char *ranks_restart(int64_t n, char **argv) {
    (void)n, (void)argv;
    return "this program was built without MPI";
}

int ranks_agree(const ranks *r, int *status, char *text, int text_bytes) {
    (void)r, (void)text, (void)text_bytes;
    return *status == 0 ? -1 : 0;
}

int ranks_find_stranger(const ranks *r, uint64_t number) {
    (void)r, (void)number;
    return -1;
}

void ranks_tell(const ranks *r, int from, char *bytes, int n_bytes) {
    (void)r, (void)from, (void)bytes, (void)n_bytes;
}

double ranks_largest(const ranks *r, double number) {
    (void)r;
    return number;
}

void ranks_add(const ranks *r, int n, double *numbers) {
    (void)r, (void)n, (void)numbers;
}

polytile_status ranks_create_queue(polytile_context *ctx, const char *device_text,
                                   const char *policy, polytile_queue **queue) {
    (void)ctx, (void)device_text, (void)policy;
    *queue = NULL;
    return POLYTILE_UNSUPPORTED;
}
