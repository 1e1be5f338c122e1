#include "distribute/file/rounds.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

bool pti_rounds_begin(const pti_store *store, int64_t capacity_bytes, int capacity_stretches,
                      pti_rounds *rounds) {
    *rounds = (pti_rounds){.capacity_bytes = pti_min(capacity_bytes, pti_store_bytes(store)),
                           .capacity_stretches = capacity_stretches};
    rounds->buffer = malloc((size_t)pti_max(1, rounds->capacity_bytes));
    rounds->stretch = malloc((size_t)capacity_stretches * sizeof *rounds->stretch);
    return pti_walk_begin(store, &rounds->walk) && rounds->buffer != NULL &&
           rounds->stretch != NULL;
}

/** Append to the last stretch what follows it both in the array and in memory. */
static bool joins(pti_rounds *rounds, const pti_stretch *next) {
    if (rounds->n_stretches == 0)
        return false;
    pti_stretch *last = &rounds->stretch[rounds->n_stretches - 1];
    if (last->at_bytes + last->n_bytes != next->at_bytes ||
        last->memory + last->n_bytes != next->memory)
        return false;
    last->n_bytes += next->n_bytes;
    return true;
}

bool pti_rounds_next(pti_rounds *rounds) {
    pti_stretch next;
    rounds->n_stretches = 0;
    rounds->n_bytes = 0;
    while (rounds->n_bytes < rounds->capacity_bytes &&
           rounds->n_stretches < rounds->capacity_stretches &&
           pti_walk_next(&rounds->walk, rounds->capacity_bytes - rounds->n_bytes, &next)) {
        if (!joins(rounds, &next))
            rounds->stretch[rounds->n_stretches++] = next;
        rounds->n_bytes += next.n_bytes;
    }
    return rounds->n_bytes > 0;
}

void pti_rounds_end(pti_rounds *rounds) {
    pti_walk_end(&rounds->walk);
    free(rounds->buffer);
    free(rounds->stretch);
    *rounds = (pti_rounds){0};
}

void *pti_round_collect(pti_rounds *rounds) {
    char *to = rounds->buffer;
    for (int k = 0; rounds->n_stretches > 1 && k < rounds->n_stretches; k++) {
        memcpy(to, rounds->stretch[k].memory, (size_t)rounds->stretch[k].n_bytes);
        to += rounds->stretch[k].n_bytes;
    }
    return pti_round_place(rounds);
}

void *pti_round_place(pti_rounds *rounds) {
    return rounds->n_stretches == 1 ? rounds->stretch[0].memory : rounds->buffer;
}

void pti_round_spread(pti_rounds *rounds) {
    const char *from = rounds->buffer;
    for (int k = 0; rounds->n_stretches > 1 && k < rounds->n_stretches; k++) {
        memcpy(rounds->stretch[k].memory, from, (size_t)rounds->stretch[k].n_bytes);
        from += rounds->stretch[k].n_bytes;
    }
}
