#ifndef BENCH_GPU_HOLDER_H
#define BENCH_GPU_HOLDER_H

#include <stdint.h>
#include <sys/types.h>

/** Another process that holds memory of the first GPU. */
typedef struct holder {
    pid_t pid;
    int orders;  /* a pipe to it: how many bytes to hold */
    int answers; /* a pipe from it: how many it holds */
} holder;

/** Begin it; the calling process has not touched the GPU yet. The case fails if there is none. */
void holder_start(holder *h);

/** Have it hold so many bytes instead of what it held; the case fails if it cannot. */
void holder_hold(const holder *h, int64_t n_bytes);

void holder_end(holder *h);

#endif
