#include "compile/body.h"

#include "base/plural.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A body being checked. */
typedef struct checked_body {
    polytile_context *ctx;
    const polytile_declaration *declaration;
    pti_c_tokens tokens;
    size_t *partner; /* of each bracket the other one's place; owned */
} checked_body;

polytile_status pti_body_fail(polytile_context *ctx, const polytile_declaration *declaration,
                              const char *text, size_t offset, const char *format, ...) {
    char message[512];
    pti_text place = {0};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    pti_text_add_place(&place, text, offset);
    pti_fail(ctx, POLYTILE_DECLARATION, "%s: in the body, %s%s", declaration->name, message,
             place.data == NULL ? "" : place.data);
    pti_text_free(&place);
    return POLYTILE_DECLARATION;
}

#define FAIL_AT(of, at, ...)                                                                       \
    pti_body_fail((of)->ctx, (of)->declaration, (of)->tokens.text, (of)->tokens.token[at].begin,   \
                  __VA_ARGS__)

static const char *const opening[] = {"(", "[", "{", "<%", "<:", NULL};
static const char *const closing[] = {")", "]", "}", "%>", ":>", NULL};
static const char *const closes[] = {")", "]", "}", "}", "]"};

/** Return the number of a bracket in a list, or -1. */
static int find_bracket(const pti_c_tokens *tokens, size_t at, const char *const *brackets) {
    for (int k = 0; brackets[k] != NULL; k++)
        if (tokens->token[at].kind == PTI_C_TOKEN_SYMBOL && pti_c_token_is(tokens, at, brackets[k]))
            return k;
    return -1;
}

/** Find the partner of each bracket. open: as many places as there are tokens. */
static polytile_status match_brackets(checked_body *of, size_t *open) {
    static const char *const plain[] = {")", "]", "}", "}", "]"};
    const pti_c_tokens *tokens = &of->tokens;
    size_t n_open = 0;
    for (size_t at = 0; at < tokens->n; at++) {
        const int closer = find_bracket(tokens, at, closing);
        if (find_bracket(tokens, at, opening) >= 0)
            open[n_open++] = at;
        if (closer < 0)
            continue;
        const int opener = n_open == 0 ? -1 : find_bracket(tokens, open[n_open - 1], opening);
        if (opener < 0 || strcmp(closes[opener], plain[closer]) != 0)
            return FAIL_AT(of, at, "a bracket that closes none");
        of->partner[at] = open[--n_open];
        of->partner[of->partner[at]] = at;
    }
    return n_open == 0 ? POLYTILE_OK
                       : FAIL_AT(of, open[n_open - 1], "a bracket that is not closed");
}

static polytile_status find_partners(checked_body *of) {
    const size_t n = of->tokens.n;
    size_t *open = calloc(n + 1, sizeof *open);
    polytile_status status;
    of->partner = calloc(n + 1, sizeof *of->partner);
    if (open == NULL || of->partner == NULL)
        status = pti_fail_memory(of->ctx, of->declaration->name, 2.0 * (double)(n * sizeof *open));
    else
        status = match_brackets(of, open);
    free(open);
    return status;
}

static bool is_pragma(const char *directive) {
    directive += *directive == '%' ? 2 : 1;
    directive += strspn(directive, " \t");
    return strncmp(directive, "pragma", strlen("pragma")) == 0;
}

static polytile_status check_directives(const checked_body *of) {
    for (size_t at = 0; at < of->tokens.n; at++)
        if (of->tokens.token[at].kind == PTI_C_TOKEN_DIRECTIVE &&
            !is_pragma(of->tokens.text + of->tokens.token[at].begin))
            return FAIL_AT(of, at, "a line of the preprocessor; only #pragma may stand here");
    return POLYTILE_OK;
}

static bool is_array_written(const polytile_declaration *declaration, int array) {
    bool is = false;
    for (int k = 0; k < declaration->n_accesses; k++)
        is |= declaration->access[k].array == array && pti_role_writes(declaration->access[k].role);
    return is;
}

/** Return the reducing role of an array, or POLYTILE_IN. */
static polytile_role reduction_of(const polytile_declaration *declaration, int array) {
    for (int k = 0; k < declaration->n_accesses; k++)
        if (declaration->access[k].array == array && pti_role_reduces(declaration->access[k].role))
            return declaration->access[k].role;
    return POLYTILE_IN;
}

/** An element in a body: A(i, j), or PT_AT(A, i, j). */
typedef struct element {
    int array;
    size_t name, first, last; /* of its tokens; first is name, or PT_AT */
} element;

/** Count what stands between a bracket and its partner, separated by commas. */
static int count_arguments(const checked_body *of, size_t open) {
    int n = open + 1 < of->partner[open];
    for (size_t at = open + 1; at < of->partner[open]; at++) {
        if (find_bracket(&of->tokens, at, opening) >= 0)
            at = of->partner[at];
        else
            n += pti_c_token_is(&of->tokens, at, ",");
    }
    return n;
}

static polytile_status check_subscripts(const checked_body *of, const element *found,
                                        int n_subscripts) {
    const polytile_declaration *declaration = of->declaration;
    const int n_dims = declaration->array_n_dims[found->array];
    if (n_subscripts == n_dims)
        return POLYTILE_OK;
    return FAIL_AT(of, found->name, "%s has %d %s here and %d in the declaration",
                   declaration->array_name[found->array], n_subscripts,
                   pti_plural(n_subscripts, "subscript", "subscripts"), n_dims);
}

static const char *const assignments[] = {
    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "<<=", ">>=", NULL};
static const char *const steps[] = {"++", "--", NULL};

static polytile_status check_assignment(const checked_body *of, const element *found) {
    const char *name = of->declaration->array_name[found->array];
    const bool is_assigned =
        pti_c_token_is_one_of(&of->tokens, found->last + 1, assignments) ||
        (found->first > 0 && pti_c_token_is_one_of(&of->tokens, found->first - 1, steps));
    if (!is_assigned || is_array_written(of->declaration, found->array))
        return POLYTILE_OK;
    return FAIL_AT(of, found->name,
                   "%s is assigned, but the declaration says \"in %s\"; declare it as out or inout",
                   name, name);
}

static const char *macro_of(polytile_role role) {
    static const char *const macros[] = {
        [POLYTILE_SUM] = "PT_SUM",       [POLYTILE_PROD] = "PT_PROD",
        [POLYTILE_MIN] = "PT_MIN",       [POLYTILE_MAX] = "PT_MAX",
        [POLYTILE_ARGMIN] = "PT_ARGMIN", [POLYTILE_ARGMAX] = "PT_ARGMAX"};
    return macros[role];
}

/** Threads of a superblock see parts of a combined element, so none may look at it. */
static polytile_status check_reduction(const checked_body *of, const element *found) {
    const polytile_role role = reduction_of(of->declaration, found->array);
    const char *name = of->declaration->array_name[found->array];
    if (role == POLYTILE_IN)
        return POLYTILE_OK;
    const char *macro = macro_of(role);
    if (found->first > 1 && pti_c_token_is(&of->tokens, found->first - 1, "(") &&
        pti_c_token_is(&of->tokens, found->first - 2, macro) &&
        pti_c_token_is(&of->tokens, found->last + 1, ","))
        return POLYTILE_OK;
    const bool has_index = role == POLYTILE_ARGMIN || role == POLYTILE_ARGMAX;
    return FAIL_AT(of, found->name, "threads combine into %s (\"%s\"): write %s(%s(...), value%s)",
                   name, pti_role_word(role), macro, name, has_index ? ", index" : "");
}

static polytile_status check_element(const checked_body *of, const element *found,
                                     int n_subscripts) {
    polytile_status status;
    PTI_TRY(check_subscripts(of, found, n_subscripts));
    PTI_TRY(check_reduction(of, found));
    PTI_TRY(check_assignment(of, found));
done:
    return status;
}

/** Check an array's name without subscripts, which the macros that tell of views take. */
static polytile_status check_name(const checked_body *of, size_t at, int array) {
    static const char *const tells[] = {"PT_FIRST",  "PT_LAST", "PT_ARRAY_FIRST", "PT_ARRAY_LAST",
                                        "PT_EXTENT", "PT_WRAP", "PT_CLAMP",       NULL};
    const char *name = of->declaration->array_name[array];
    if (at > 1 && pti_c_token_is(&of->tokens, at - 1, "(") &&
        pti_c_token_is_one_of(&of->tokens, at - 2, tells))
        return POLYTILE_OK;
    return FAIL_AT(of, at, "%s is an array: write %s(%s) for an element of it", name, name,
                   of->declaration->array_n_dims[array] == 1 ? "i" : "i, ...");
}

static polytile_status check_array_use(const checked_body *of, size_t at, int array) {
    const pti_c_tokens *tokens = &of->tokens;
    element found = {.array = array, .name = at, .first = at};
    if (pti_c_token_is(tokens, at + 1, "(")) {
        found.last = of->partner[at + 1];
        return check_element(of, &found, count_arguments(of, at + 1));
    }
    if (at > 1 && pti_c_token_is(tokens, at - 1, "(") && pti_c_token_is(tokens, at - 2, "PT_AT")) {
        found.first = at - 2;
        found.last = of->partner[at - 1];
        return check_element(of, &found, count_arguments(of, at - 1) - 1);
    }
    return check_name(of, at, array);
}

static polytile_status check_array_uses(const checked_body *of) {
    polytile_status status = POLYTILE_OK;
    for (size_t at = 0; at < of->tokens.n; at++) {
        const int array = pti_c_token_find_array(&of->tokens, at, of->declaration);
        if (array >= 0)
            PTI_TRY(check_array_use(of, at, array));
    }
done:
    return status;
}

static polytile_status read_tokens(checked_body *of, const char *text) {
    size_t where;
    const char *why;
    const polytile_status status = pti_c_tokens_read(text, &of->tokens, &where, &why);
    if (status == POLYTILE_DECLARATION)
        return pti_body_fail(of->ctx, of->declaration, text, where, "%s", why);
    if (status != POLYTILE_OK)
        return pti_fail_memory(of->ctx, of->declaration->name, (double)strlen(text));
    if (of->tokens.n == 0)
        return pti_fail(of->ctx, POLYTILE_DECLARATION,
                        "%s: the body is empty; write what a thread does, in C",
                        of->declaration->name);
    return POLYTILE_OK;
}

polytile_status pti_body_check(polytile_context *ctx, const polytile_declaration *declaration,
                               const char *text) {
    checked_body body = {.ctx = ctx, .declaration = declaration};
    polytile_status status;
    PTI_TRY(read_tokens(&body, text));
    PTI_TRY(find_partners(&body));
    PTI_TRY(check_directives(&body));
    PTI_TRY(check_array_uses(&body));
done:
    free(body.partner);
    pti_c_tokens_free(&body.tokens);
    return status;
}
