#include "base/context_state.h"

#include <stdlib.h>

polytile_status polytile_context_create(polytile_context **ctx) {
    if (ctx == NULL)
        return POLYTILE_INVALID;
    *ctx = NULL;
    polytile_context *made = calloc(1, sizeof *made);
    if (made == NULL)
        return POLYTILE_NO_MEMORY;
    if (!pti_environment_read(&made->settings)) {
        free(made);
        return POLYTILE_INVALID;
    }
    pti_clear_error(NULL);
    *ctx = made;
    return POLYTILE_OK;
}

static bool all_may_end(const polytile_context *ctx) {
    const pti_object *object = ctx->newest;
    while (object != NULL && (object->may_end == NULL || object->may_end(object)))
        object = object->next;
    return object == NULL;
}

/** Wait for what runs, since it may use objects that would be destroyed before it ends. */
static void drain_objects(polytile_context *ctx) {
    for (pti_object *object = ctx->newest; object != NULL; object = object->next) {
        if (object->drain != NULL)
            object->drain(object);
    }
}

void polytile_context_destroy(polytile_context *ctx) {
    if (ctx == NULL || !all_may_end(ctx))
        return;
    drain_objects(ctx);
    while (ctx->newest != NULL)
        pti_object_release(ctx->newest);
    if (ctx->tuning != NULL)
        ctx->tuning->destroy(ctx->tuning);
    free(ctx);
}

const char *polytile_version(void) {
    return POLYTILE_VERSION;
}

const char *polytile_status_text(polytile_status status) {
    static const char *const texts[] = {
#define STATUS_TEXT(name, text) text,
        POLYTILE_STATUSES(STATUS_TEXT)
#undef STATUS_TEXT
    };
    size_t n_texts = sizeof texts / sizeof *texts;
    return (size_t)status < n_texts ? texts[(size_t)status] : "unknown status";
}

void pti_object_adopt(polytile_context *ctx, pti_object *object, void (*destroy)(pti_object *)) {
    object->context = ctx;
    object->serial = ++ctx->n_adopted;
    object->destroy = destroy;
    object->may_end = NULL;
    object->drain = NULL;
    object->previous = NULL;
    object->next = ctx->newest;
    if (ctx->newest != NULL)
        ctx->newest->previous = object;
    ctx->newest = object;
}

pti_object *pti_get_newest(const polytile_context *ctx) {
    return ctx->newest;
}

void pti_object_release(pti_object *object) {
    if (object == NULL)
        return;
    if (object->previous != NULL)
        object->previous->next = object->next;
    else
        object->context->newest = object->next;
    if (object->next != NULL)
        object->next->previous = object->previous;
    object->destroy(object);
}

const pti_settings *pti_get_settings(const polytile_context *ctx) {
    return &ctx->settings;
}

pti_object *pti_get_tuning(const polytile_context *ctx) {
    return ctx->tuning;
}

void pti_set_tuning(polytile_context *ctx, pti_object *tuning) {
    ctx->tuning = tuning;
}
