#include "gpu/holder.h"

#include "gpu/gpu.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/** What it has after an order that it could not follow. */
enum { HOLDS_NOTHING = -1 };

static int64_t hold(int64_t n_bytes, void **memory) {
    GPU_CALL(cudaFree(*memory));
    *memory = NULL;
    if (n_bytes == 0)
        return 0;
    return cudaMalloc(memory, (size_t)n_bytes) == cudaSuccess ? n_bytes : HOLDS_NOTHING;
}

/** Follow orders until the pipe is closed. */
static void serve(int orders, int answers) {
    int64_t n_bytes;
    void *memory = NULL;
    while (read(orders, &n_bytes, sizeof n_bytes) == (ssize_t)sizeof n_bytes) {
        int64_t held_bytes = hold(n_bytes, &memory);
        if (write(answers, &held_bytes, sizeof held_bytes) != (ssize_t)sizeof held_bytes)
            break;
    }
    _exit(0);
}

void holder_start(holder *h) {
    int orders[2], answers[2];
    if (pipe(orders) != 0 || pipe(answers) != 0)
        gpu_fail("pipe: %s", strerror(errno));
    h->pid = fork();
    if (h->pid < 0)
        gpu_fail("fork: %s", strerror(errno));
    if (h->pid == 0) {
        close(orders[1]);
        close(answers[0]);
        serve(orders[0], answers[1]);
    }
    close(orders[0]);
    close(answers[1]);
    h->orders = orders[1];
    h->answers = answers[0];
}

void holder_hold(const holder *h, int64_t n_bytes) {
    int64_t held_bytes = HOLDS_NOTHING;
    if (write(h->orders, &n_bytes, sizeof n_bytes) != (ssize_t)sizeof n_bytes ||
        read(h->answers, &held_bytes, sizeof held_bytes) != (ssize_t)sizeof held_bytes ||
        held_bytes != n_bytes)
        gpu_fail("another process cannot hold %lld bytes of the GPU", (long long)n_bytes);
}

void holder_end(holder *h) {
    close(h->orders);
    close(h->answers);
    waitpid(h->pid, NULL, 0);
}
