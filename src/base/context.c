#include "base/context.h"

#include "base/environment.h"
#include "base/text.h"
#include <polytile/size.h>
#include <polytile/text.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct polytile_context {
    pti_object *newest;
    int64_t n_adopted;  /* so far */
    pti_object *tuning; /* NULL: none yet; owned */
    pti_settings settings;
    char error[PTI_ERROR_BYTES];
    polytile_witness witness; /* of the error */
};

/** Where the calling thread's errors go instead of into their context; NULL: nowhere else. */
static _Thread_local char *redirected;

void pti_redirect_errors(char *text) {
    redirected = text;
}

bool pti_errors_are_redirected(void) {
    return redirected != NULL;
}

/** The calling thread's last error if NULL left it without a context; else empty. */
static _Thread_local char without_context[PTI_ERROR_BYTES];

static char *error_of(polytile_context *ctx) {
    if (redirected != NULL)
        return redirected;
    return ctx == NULL ? without_context : ctx->error;
}

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
    without_context[0] = '\0';
    *ctx = made;
    return POLYTILE_OK;
}

static bool may_end(const polytile_context *ctx) {
    const pti_object *object = ctx->newest;
    while (object != NULL && (object->may_end == NULL || object->may_end(object)))
        object = object->next;
    return object == NULL;
}

/** What is under way may use objects that would be destroyed before it ends. */
static void drain(polytile_context *ctx) {
    for (pti_object *object = ctx->newest; object != NULL; object = object->next) {
        if (object->drain != NULL)
            object->drain(object);
    }
}

void polytile_context_destroy(polytile_context *ctx) {
    if (ctx == NULL || !may_end(ctx))
        return;
    drain(ctx);
    while (ctx->newest != NULL)
        pti_object_release(ctx->newest);
    if (ctx->tuning != NULL)
        ctx->tuning->destroy(ctx->tuning);
    free(ctx);
}

const char *polytile_last_error(const polytile_context *ctx) {
    if (without_context[0] != '\0')
        return without_context;
    return ctx == NULL ? "no context" : error_of((polytile_context *)ctx);
}

bool polytile_last_witness(const polytile_context *ctx, polytile_witness *witness) {
    bool has_witness = ctx != NULL && redirected == NULL && without_context[0] == '\0' &&
                       ctx->witness.kind != POLYTILE_WITNESS_NONE;
    if (witness != NULL)
        *witness = has_witness ? ctx->witness : (polytile_witness){0};
    return has_witness;
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

/** A message as it may be printed, in PTI_ERROR_BYTES; where there is no memory for a long one,
 * without its end. */
static void show_message(const char *format, va_list arguments, char *text) {
    char begin[PTI_ERROR_BYTES];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(begin, sizeof begin, format, arguments);
    char *whole = length < PTI_ERROR_BYTES ? NULL : malloc((size_t)length + 1);
    if (whole != NULL)
        vsnprintf(whole, (size_t)length + 1, format, again);
    va_end(again);
    polytile_text_show(whole == NULL ? begin : whole, text, PTI_ERROR_BYTES);
    free(whole);
}

polytile_status pti_fail(polytile_context *ctx, polytile_status status, const char *format, ...) {
    char text[PTI_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    show_message(format, arguments, text);
    va_end(arguments);
    pti_clear_error(ctx);
    memcpy(error_of(ctx), text, sizeof text);
    if (ctx != NULL)
        pti_log(ctx, PTI_LOG_INFO, "%s", text);
    return status;
}

polytile_status pti_fail_with_witness(polytile_context *ctx, polytile_status status, pti_text *text,
                                      const polytile_witness *witness) {
    status = text->failed ? pti_fail_memory(ctx, "an error's text", sizeof ctx->error)
                          : pti_fail(ctx, status, "%s", text->data);
    if (redirected == NULL && !text->failed)
        ctx->witness = *witness;
    pti_text_free(text);
    return status;
}

void pti_place_error(polytile_context *ctx, int launch, int n_launches) {
    char text[PTI_ERROR_BYTES], place[64];
    if (n_launches == 1)
        return;
    int n_place = snprintf(place, sizeof place, "launch %d of %d: ", launch + 1, n_launches);
    snprintf(text, sizeof text, "%s%.*s", place, (int)sizeof text - n_place - 1, error_of(ctx));
    memcpy(error_of(ctx), text, sizeof text);
    if (redirected == NULL)
        ctx->witness.launch = launch;
}

polytile_status pti_fail_memory(polytile_context *ctx, const char *what, double n_bytes) {
    char size[32];
    if (n_bytes == PTI_UNKNOWN_BYTES)
        return pti_fail(ctx, POLYTILE_NO_MEMORY, "%s: host memory ran out; free some", what);
    if (n_bytes >= (double)INT64_MAX)
        return pti_fail(ctx, POLYTILE_NO_MEMORY,
                        "%s: cannot allocate %.0f bytes of host memory; free some", what, n_bytes);
    return pti_fail(ctx, POLYTILE_NO_MEMORY, "%s: cannot allocate %s of host memory; free some",
                    what, polytile_size_format((int64_t)n_bytes, size));
}

/** volatile: else a compiler leaves both calls out, and says that there is memory. */
bool pti_memory_is_there(void) {
    enum { MODERATE_BYTES = 64 * 1024 };
    void *volatile memory = malloc(MODERATE_BYTES);
    free(memory);
    return memory != NULL;
}

void pti_clear_error(polytile_context *ctx) {
    without_context[0] = '\0';
    error_of(ctx)[0] = '\0';
    if (redirected == NULL && ctx != NULL)
        ctx->witness.kind = POLYTILE_WITNESS_NONE;
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

void pti_log(const polytile_context *ctx, pti_log_level level, const char *format, ...) {
    if (level > ctx->settings.log_level)
        return;
    char text[PTI_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    show_message(format, arguments, text);
    va_end(arguments);
    fprintf(stderr, "polytile: %s\n", text);
}
