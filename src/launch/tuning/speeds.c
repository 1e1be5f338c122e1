#include "launch/tuning/speeds.h"

#include <stdlib.h>

static void destroy_speeds(pti_object *object) {
    const pti_kept_speeds *speeds = (const pti_kept_speeds *)object;
    if (speeds->is_changed && pti_get_settings(object->context)->keeps_speeds)
        pti_speeds_write(object->context, speeds);
    free(object);
}

static pti_kept_speeds *find_speeds(const polytile_context *ctx) {
    for (pti_object *object = pti_get_newest(ctx); object != NULL; object = object->next) {
        if (object->destroy == destroy_speeds)
            return (pti_kept_speeds *)object;
    }
    return NULL;
}

/** Return the context's speeds; NULL: memory ran out. */
static pti_kept_speeds *open_speeds(polytile_context *ctx) {
    pti_kept_speeds *speeds = find_speeds(ctx);
    if (speeds != NULL)
        return speeds;
    speeds = calloc(1, sizeof *speeds);
    if (speeds == NULL)
        return NULL;
    pti_object_adopt(ctx, &speeds->object, destroy_speeds);
    if (pti_get_settings(ctx)->keeps_speeds)
        pti_speeds_read(ctx, speeds);
    return speeds;
}

double pti_speeds_find(polytile_context *ctx, uint64_t key) {
    pti_kept_speeds *speeds = open_speeds(ctx);
    const pti_kept_speed *kept = speeds == NULL ? NULL : pti_speeds_look_up(speeds, key);
    return kept == NULL ? 0 : kept->rows_per_s;
}

void pti_speeds_keep(polytile_context *ctx, uint64_t key, double rows_per_s) {
    pti_kept_speeds *speeds = open_speeds(ctx);
    if (speeds == NULL)
        return;
    pti_speeds_put(speeds, key, rows_per_s);
    speeds->is_changed = true;
}
