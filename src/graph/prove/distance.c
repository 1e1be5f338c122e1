#include "graph/prove/prove.h"

#include <stdlib.h>

/* Shortest ways over waits: the length of a wait is its tokens. */

/** Tasks whose distance was lowered, each once. */
typedef struct lowered {
    int *ring;   /* owned */
    bool *is_in; /* owned */
    int n, first, n_tasks;
} lowered;

static void put_task(lowered *of, int task) {
    if (of->is_in[task])
        return;
    of->is_in[task] = true;
    of->ring[(of->first + of->n++) % of->n_tasks] = task;
}

static int take_task(lowered *of) {
    const int task = of->ring[of->first];
    of->first = (of->first + 1) % of->n_tasks;
    of->n--;
    of->is_in[task] = false;
    return task;
}

/** A distance that does not fit is none: that is never wrong. */
static int32_t add_tokens(int32_t distance, int64_t tokens) {
    return tokens < PTI_NEVER_AFTER - distance ? (int32_t)(distance + tokens) : PTI_NEVER_AFTER;
}

/** Find the distances from a task: 0 to itself. */
static void find_row(const pti_firing_order *order, int task, lowered *left, int32_t *row) {
    for (int t = 0; t < order->n_tasks; t++)
        row[t] = PTI_NEVER_AFTER;
    row[task] = 0;
    put_task(left, task);
    while (left->n > 0) {
        const int at = take_task(left);
        for (int w = order->first[at]; w < order->first[at + 1]; w++) {
            const pti_firing_wait *wait = &order->wait[w];
            const int32_t distance = add_tokens(row[at], wait->tokens);
            if (distance >= row[wait->on])
                continue;
            row[wait->on] = distance;
            put_task(left, wait->on);
        }
    }
}

bool pti_distances_find(const pti_firing_order *order, pti_distances *distances) {
    const size_t n = (size_t)order->n_tasks + 1;
    lowered left = {.ring = calloc(n, sizeof *left.ring),
                    .is_in = calloc(n, sizeof *left.is_in),
                    .n_tasks = order->n_tasks};
    *distances = (pti_distances){.n_tasks = order->n_tasks,
                                 .least = calloc(n * n, sizeof *distances->least)};
    const bool has_memory = left.ring != NULL && left.is_in != NULL && distances->least != NULL;
    for (int t = 0; has_memory && t < order->n_tasks; t++)
        find_row(order, t, &left, distances->least + (size_t)t * (size_t)order->n_tasks);
    free(left.ring);
    free(left.is_in);
    if (!has_memory)
        pti_distances_free(distances);
    return has_memory;
}

void pti_distances_free(pti_distances *distances) {
    free(distances->least);
    *distances = (pti_distances){0};
}

int64_t pti_distance(const pti_distances *distances, int task, int on) {
    return task == on ? 1
                      : distances->least[(size_t)task * (size_t)distances->n_tasks + (size_t)on];
}
