#include "distribute/file/rounds.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

bool pti_rounds_begin(const pti_store *store, int64_t capacity_bytes, int capacity_runs,
                      pti_rounds *rounds) {
    *rounds = (pti_rounds){.capacity_bytes = pti_min(capacity_bytes, pti_store_bytes(store)),
                           .capacity_runs = capacity_runs};
    rounds->buffer = malloc((size_t)pti_max(1, rounds->capacity_bytes));
    rounds->run = malloc((size_t)capacity_runs * sizeof *rounds->run);
    return pti_walk_begin(store, &rounds->walk) && rounds->buffer != NULL && rounds->run != NULL;
}

/** Append a run to the last one if it follows it both in the array and in memory. */
static bool append_to_last_run(pti_rounds *rounds, const pti_file_run *next) {
    if (rounds->n_runs == 0)
        return false;
    pti_file_run *last = &rounds->run[rounds->n_runs - 1];
    if (last->at_bytes + last->n_bytes != next->at_bytes ||
        last->memory + last->n_bytes != next->memory)
        return false;
    last->n_bytes += next->n_bytes;
    return true;
}

bool pti_rounds_next(pti_rounds *rounds) {
    pti_file_run next;
    rounds->n_runs = 0;
    rounds->n_bytes = 0;
    while (rounds->n_bytes < rounds->capacity_bytes && rounds->n_runs < rounds->capacity_runs &&
           pti_walk_next(&rounds->walk, rounds->capacity_bytes - rounds->n_bytes, &next)) {
        if (!append_to_last_run(rounds, &next))
            rounds->run[rounds->n_runs++] = next;
        rounds->n_bytes += next.n_bytes;
    }
    return rounds->n_bytes > 0;
}

void pti_rounds_end(pti_rounds *rounds) {
    pti_walk_end(&rounds->walk);
    free(rounds->buffer);
    free(rounds->run);
    *rounds = (pti_rounds){0};
}

void *pti_round_collect(pti_rounds *rounds) {
    char *to = rounds->buffer;
    for (int k = 0; rounds->n_runs > 1 && k < rounds->n_runs; k++) {
        memcpy(to, rounds->run[k].memory, (size_t)rounds->run[k].n_bytes);
        to += rounds->run[k].n_bytes;
    }
    return pti_round_place(rounds);
}

void *pti_round_place(pti_rounds *rounds) {
    return rounds->n_runs == 1 ? rounds->run[0].memory : rounds->buffer;
}

void pti_round_spread(pti_rounds *rounds) {
    const char *from = rounds->buffer;
    for (int k = 0; rounds->n_runs > 1 && k < rounds->n_runs; k++) {
        memcpy(rounds->run[k].memory, from, (size_t)rounds->run[k].n_bytes);
        from += rounds->run[k].n_bytes;
    }
}
