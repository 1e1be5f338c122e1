#include "distribute/share/distribution.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const pti_distribution_kind *const kinds[] = {
    &pti_distribution_block,
    &pti_distribution_cyclic,
    &pti_distribution_weighted,
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const pti_distribution_kind *find_kind(const char *name, size_t length) {
    for (size_t k = 0; k < N_KINDS; k++)
        if (strlen(kinds[k]->name) == length && strncmp(kinds[k]->name, name, length) == 0)
            return kinds[k];
    return NULL;
}

/* What stands between the parentheses behind a name, empty without any; NULL: memory ran out, or
 * *is_wrong. The caller frees it. */
static char *read_arguments(const char *text, bool *is_wrong) {
    size_t length = strlen(text);
    *is_wrong = length > 0 && (text[0] != '(' || text[length - 1] != ')' || length < 2);
    if (*is_wrong)
        return NULL;
    return length == 0 ? strdup("") : strndup(text + 1, length - 2);
}

static polytile_status fail_unknown_distribution(polytile_context *ctx, const char *text) {
    pti_text forms = {0};
    for (size_t k = 0; k < N_KINDS; k++)
        pti_text_add(&forms, "%s%s", k == 0 ? "" : ", ", kinds[k]->forms);
    polytile_status status =
        pti_fail(ctx, POLYTILE_INVALID, "distribution \"%s\": give one of %s", text,
                 forms.failed ? "those in the documentation" : forms.data);
    pti_text_free(&forms);
    return status;
}

polytile_status pti_distribution_parse(polytile_context *ctx, const char *text,
                                       pti_distribution *distribution) {
    const char *whole = text == NULL ? pti_distribution_block.name : text;
    size_t name_length = strcspn(whole, "(");
    pti_distribution read = {.kind = find_kind(whole, name_length), .only_dim = -1};
    bool is_wrong;
    char *arguments = read_arguments(whole + name_length, &is_wrong);
    if (arguments == NULL && !is_wrong)
        return pti_fail_memory(ctx, whole, (double)strlen(whole));
    is_wrong = is_wrong || read.kind == NULL || !read.kind->parse(arguments, &read);
    free(arguments);
    if (is_wrong)
        return fail_unknown_distribution(ctx, whole);
    *distribution = read;
    return POLYTILE_OK;
}
