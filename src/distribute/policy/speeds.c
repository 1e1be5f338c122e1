#include "distribute/policy/speeds.h"

#include <stdlib.h>

enum { MOST_SPEEDS = 1024 };

typedef struct kept_speed {
    uint64_t key;
    double rows_per_s;
} kept_speed;

/** An object of the context. */
typedef struct kept_speeds {
    pti_object object;
    int n_kept; /* so far; the k-th is at k modulo MOST_SPEEDS */
    kept_speed at[MOST_SPEEDS];
} kept_speeds;

static void destroy_speeds(pti_object *object) {
    free(object);
}

static kept_speeds *find_speeds(const polytile_context *ctx) {
    for (pti_object *object = pti_get_newest(ctx); object != NULL; object = object->next) {
        if (object->destroy == destroy_speeds)
            return (kept_speeds *)object;
    }
    return NULL;
}

static kept_speed *find_key(kept_speeds *speeds, uint64_t key) {
    for (int k = 0; speeds != NULL && k < speeds->n_kept && k < MOST_SPEEDS; k++) {
        if (speeds->at[k].key == key)
            return &speeds->at[k];
    }
    return NULL;
}

double pti_speeds_find(const polytile_context *ctx, uint64_t key) {
    const kept_speed *kept = find_key(find_speeds(ctx), key);
    return kept == NULL ? 0 : kept->rows_per_s;
}

void pti_speeds_keep(polytile_context *ctx, uint64_t key, double rows_per_s) {
    kept_speeds *speeds = find_speeds(ctx);
    if (speeds == NULL) {
        speeds = calloc(1, sizeof *speeds);
        if (speeds == NULL)
            return;
        pti_object_adopt(ctx, &speeds->object, destroy_speeds);
    }
    kept_speed *kept = find_key(speeds, key);
    if (kept == NULL)
        kept = &speeds->at[speeds->n_kept++ % MOST_SPEEDS];
    *kept = (kept_speed){key, rows_per_s};
}
