#include "base/error.h"

#include "base/context_state.h"
#include <polytile/size.h>

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Where the calling thread's errors go instead of into their context; NULL: into the context. */
static _Thread_local pti_error *redirected;

/** The calling thread's last error that has no context. */
static _Thread_local pti_error without_context;

static pti_error *error_of(polytile_context *ctx) {
    if (redirected != NULL)
        return redirected;
    return ctx == NULL ? &without_context : &ctx->error;
}

/** Return the last error that the program gets. */
static const pti_error *last_of(const polytile_context *ctx) {
    return without_context.text[0] != '\0' ? &without_context : error_of((polytile_context *)ctx);
}

static void clear_error(pti_error *error) {
    error->status = POLYTILE_OK;
    error->text[0] = error->cause[0] = '\0';
    error->witness.kind = POLYTILE_WITNESS_NONE;
}

const char *polytile_last_error(const polytile_context *ctx) {
    bool has_text = ctx != NULL || without_context.text[0] != '\0';
    return has_text ? last_of(ctx)->text : "no context";
}

bool polytile_last_witness(const polytile_context *ctx, polytile_witness *witness) {
    bool has_witness =
        ctx != NULL && redirected == NULL && last_of(ctx)->witness.kind != POLYTILE_WITNESS_NONE;
    if (witness != NULL)
        *witness = has_witness ? last_of(ctx)->witness : (polytile_witness){0};
    return has_witness;
}

static void write_text(char text[PTI_ERROR_BYTES], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_text(char text[PTI_ERROR_BYTES], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pti_show_message(format, arguments, text);
    va_end(arguments);
}

pti_error pti_error_of(polytile_status status, const char *text) {
    pti_error error = {.status = status};
    write_text(error.text, "%s", text);
    memcpy(error.cause, error.text, sizeof error.cause);
    return error;
}

/* Recording. */

static void set_last(polytile_context *ctx, const pti_error *error) {
    clear_error(&without_context);
    *error_of(ctx) = *error;
}

static polytile_status record_error(polytile_context *ctx, const pti_error *error) {
    set_last(ctx, error);
    if (ctx != NULL)
        pti_log(ctx, PTI_LOG_INFO, "%s", error->text);
    return error->status;
}

polytile_status pti_fail(polytile_context *ctx, polytile_status status, const char *format, ...) {
    pti_error error = {.status = status};
    va_list arguments;
    va_start(arguments, format);
    pti_show_message(format, arguments, error.text);
    va_end(arguments);
    memcpy(error.cause, error.text, sizeof error.cause);
    return record_error(ctx, &error);
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

polytile_status pti_fail_errno(polytile_context *ctx, const char *path, const char *action) {
    return pti_fail(ctx, POLYTILE_IO, "%s: cannot %s: %s", path, action, strerror(errno));
}

/** volatile: else a compiler leaves both calls out, and the answer is always yes. */
bool pti_memory_is_there(void) {
    enum { MODERATE_BYTES = 64 * 1024 };
    void *volatile memory = malloc(MODERATE_BYTES);
    free(memory);
    return memory != NULL;
}

polytile_status pti_fail_with_witness(polytile_context *ctx, polytile_status status, pti_text *text,
                                      const polytile_witness *witness) {
    status = text->failed ? pti_fail_memory(ctx, "an error's text", PTI_ERROR_BYTES)
                          : pti_fail(ctx, status, "%s", text->data);
    if (redirected == NULL && !text->failed)
        error_of(ctx)->witness = *witness;
    pti_text_free(text);
    return status;
}

void pti_clear_error(polytile_context *ctx) {
    clear_error(&without_context);
    clear_error(error_of(ctx));
}

pti_error *pti_redirect_errors(pti_error *error) {
    pti_error *before = redirected;
    redirected = error;
    return before;
}

bool pti_errors_are_redirected(void) {
    return redirected != NULL;
}

/* Rewording. */

/** Put words in front of a text, and cut off what does not fit. */
static void put_in_front(const char *words, char text[PTI_ERROR_BYTES]) {
    size_t n_words = strlen(words), n_text = strnlen(text, PTI_ERROR_BYTES - n_words - 1);
    memmove(text + n_words, text, n_text);
    memcpy(text, words, n_words);
    text[n_words + n_text] = '\0';
}

void pti_place_error(polytile_context *ctx, int launch, int n_launches) {
    char place[64];
    if (n_launches == 1)
        return;
    pti_error *error = error_of(ctx);
    snprintf(place, sizeof place, "launch %d of %d: ", launch + 1, n_launches);
    put_in_front(place, error->text);
    put_in_front(place, error->cause);
    error->witness.launch = launch;
}

polytile_status pti_error_prefix(polytile_context *ctx, polytile_status status, const char *format,
                                 ...) {
    char words[PTI_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    pti_show_message(format, arguments, words);
    va_end(arguments);
    pti_error error = *last_of(ctx);
    error.status = status;
    write_text(error.text, "%s%s", words, error.text);
    write_text(error.cause, "%s%s", words, error.cause);
    return record_error(ctx, &error);
}

/** Name arrays after the beginning of an error's text, which holds its cause. */
static void name_incomplete(polytile_context *ctx, pti_error *error, const char *begin,
                            pti_text *names) {
    if (names->length > 0 && !names->failed) {
        write_text(error->text, "%s; left incomplete: %s", begin, names->data);
        record_error(ctx, error);
    }
    pti_text_free(names);
}

void pti_error_add_incomplete(polytile_context *ctx, polytile_status status, pti_text *names) {
    pti_error error = *last_of(ctx);
    error.status = status;
    name_incomplete(ctx, &error, error.text, names);
}

void pti_error_set_incomplete(polytile_context *ctx, polytile_status status, pti_text *names) {
    pti_error error = *last_of(ctx);
    error.status = status;
    name_incomplete(ctx, &error, error.cause, names);
}

/* Keeping. */

polytile_status pti_error_keep(pti_error *kept, const polytile_context *ctx,
                               polytile_status status) {
    if (status != POLYTILE_OK && kept->status == POLYTILE_OK) {
        *kept = *last_of(ctx);
        kept->status = status;
    }
    return kept->status;
}

polytile_status pti_error_restore(polytile_context *ctx, const pti_error *kept) {
    if (kept->status != POLYTILE_OK)
        set_last(ctx, kept);
    return kept->status;
}

/** Restore an error with a later one's text. The list of arrays begins where one of the two names
 * some. */
polytile_status pti_error_restore_both(polytile_context *ctx, const pti_error *kept) {
    const pti_error *since = last_of(ctx);
    pti_error both = *kept;
    write_text(both.text, "%s; and then %s", kept->text, since->text);
    if (strcmp(kept->cause, kept->text) == 0)
        write_text(both.cause, "%s; and then %s", kept->text, since->cause);
    return record_error(ctx, &both);
}

polytile_status pti_check_reserved(polytile_context *ctx, const char *where, const char *options,
                                   const int64_t *reserved) {
    for (int k = 0; k < PTI_N_RESERVED; k++) {
        if (reserved[k] != 0)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s: reserved[%d] of %s is %lld; set what is not used to zero", where,
                            k, options, (long long)reserved[k]);
    }
    return POLYTILE_OK;
}

/** Return whether a name has the form of those that programs register. */
static bool is_valid_name(const char *name) {
    if (!isalpha((unsigned char)*name))
        return false;
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && strchr("_-.", *name) == NULL)
            return false;
    return true;
}

polytile_status pti_check_new_name(polytile_context *ctx, const char *what, const char *name,
                                   bool is_taken) {
    if (!is_valid_name(name))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s \"%s\": a name has letters, digits, '_', '-' and '.', a letter first",
                        what, name);
    return is_taken
               ? pti_fail(ctx, POLYTILE_INVALID, "%s \"%s\": there is one of this name", what, name)
               : POLYTILE_OK;
}
