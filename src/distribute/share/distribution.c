#include "distribute/share/distribution.h"

#include "base/text.h"
#include "distribute/share/registered.h"

#include <stdlib.h>
#include <string.h>

static const pti_distribution_kind *const kinds[] = {
    &pti_distribution_block,
    &pti_distribution_cyclic,
    &pti_distribution_weighted,
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const pti_distribution_kind *find_kind(const polytile_context *ctx, const char *name,
                                              size_t length, pti_registered **registered) {
    for (size_t k = 0; k < N_KINDS; k++)
        if (pti_is_name(kinds[k]->name, name, length))
            return kinds[k];
    return pti_registered_find(ctx, name, length, registered);
}

/* Return what stands between the parentheses after a name, empty without any; NULL: memory ran out,
 * or is_wrong. The caller frees it. */
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
    pti_distribution read = {.only_dim = -1};
    read.kind = find_kind(ctx, whole, name_length, &read.registered);
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

/* Registering. */

/** Return whether there is a layout of that name, of the table or registered, or a policy that goes
 * by it. */
static bool is_layout_name_taken(const polytile_context *ctx, const char *name) {
    pti_registered *registered;
    return strcmp(name, "pool") == 0 || find_kind(ctx, name, strlen(name), &registered) != NULL;
}

static polytile_status check_layout(polytile_context *ctx, const polytile_layout *layout) {
    const char *name = layout->name == NULL ? "" : layout->name;
    polytile_status status;
    PTI_TRY(pti_check_new_name(ctx, "layout", name, is_layout_name_taken(ctx, name)));
    if (layout->find_owner == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "layout \"%s\": its function is NULL", name);
    PTI_TRY(pti_check_reserved(ctx, name, "polytile_layout", layout->reserved));
done:
    return status;
}

polytile_status polytile_layout_register(polytile_context *ctx, const polytile_layout *layout) {
    polytile_status status;
    PTI_ENTER(ctx, ctx, "context");
    if (layout == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the layout is NULL", __func__);
    PTI_TRY(check_layout(ctx, layout));
    PTI_TRY(pti_registered_add(ctx, layout));
done:
    return status;
}
