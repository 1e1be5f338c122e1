#include "distribute/policy/policy.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const pti_policy_kind *const kinds[] = {
    &pti_policy_equal,
    &pti_policy_weighted,
    &pti_policy_self,
    &pti_policy_guided,
};

enum { N_KINDS = sizeof kinds / sizeof *kinds };

/** What a policy was called before it had its name. */
static const char old_name_of_guided[] = "pool";

static const pti_policy_kind *find_kind(const char *name, size_t length) {
    for (size_t k = 0; k < N_KINDS; k++) {
        if (pti_is_name(kinds[k]->name, name, length))
            return kinds[k];
    }
    return pti_is_name(old_name_of_guided, name, length) ? &pti_policy_guided : NULL;
}

bool pti_policy_is_own_name(const char *name) {
    return find_kind(name, strlen(name)) != NULL;
}

bool pti_policy_is_dynamic(const pti_policy *policy) {
    return policy->kind->take != NULL;
}

/** wrong: what is wrong with its numbers; "": it is another text. */
static polytile_status fail_unknown(polytile_context *ctx, const char *text, const char *wrong) {
    pti_text forms = {0};
    for (size_t k = 0; k < N_KINDS; k++)
        pti_text_add(&forms, "%s%s", k == 0 ? "" : ", ", kinds[k]->forms);
    for (pti_object *object = pti_get_newest(ctx); object != NULL; object = object->next) {
        const pti_plug_in *plug_in = pti_plug_in_of(object);
        if (plug_in != NULL)
            pti_text_add(&forms, ", %s", plug_in->policy.name);
    }
    polytile_status status = pti_fail(ctx, POLYTILE_INVALID, "policy \"%s\": %s%sgive one of %s",
                                      text, wrong, *wrong == '\0' ? "" : "; ",
                                      forms.failed ? "those in the documentation" : forms.data);
    pti_text_free(&forms);
    return status;
}

/** What stands between the parentheses after a name: a copy for free(); NULL without any, and if
 * memory ran out. */
static char *copy_arguments(const char *after_name) {
    return *after_name == '\0' ? NULL : strndup(after_name + 1, strlen(after_name) - 2);
}

static bool is_in_parentheses(const char *text) {
    size_t length = strlen(text);
    return length >= 2 && text[0] == '(' && text[length - 1] == ')';
}

static polytile_status parse_own(polytile_context *ctx, const char *text, size_t name_length,
                                 pti_policy *policy) {
    const char *after_name = text + name_length;
    if (*after_name != '\0' && !is_in_parentheses(after_name))
        return fail_unknown(ctx, text, "");
    char *arguments = copy_arguments(after_name);
    if (arguments == NULL && *after_name != '\0')
        return pti_fail_memory(ctx, text, (double)strlen(text));
    bool is_right = policy->kind->parse(arguments, policy);
    free(arguments);
    return is_right ? POLYTILE_OK : fail_unknown(ctx, text, policy->wrong);
}

static polytile_status check_numbers(polytile_context *ctx, const char *text, int n_units,
                                     const pti_policy *policy) {
    bool is_for_all = policy->kind->takes_one_for_all && policy->n_numbers == 1;
    if (policy->n_numbers == 0 || is_for_all || policy->n_numbers == n_units)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "policy \"%s\" has %d numbers, for %d units; give one %s", text,
                    policy->n_numbers, n_units, "for each unit");
}

polytile_status pti_policy_parse(polytile_context *ctx, const char *text, int n_units,
                                 pti_policy *policy) {
    size_t name_length = strcspn(text, "(");
    pti_plug_in *plug_in = pti_plug_in_find(ctx, text);
    pti_policy read = {.kind = find_kind(text, name_length), .plug_in = plug_in};
    polytile_status status = POLYTILE_OK;
    if (plug_in != NULL)
        read.kind = &plug_in->kind;
    else if (read.kind != NULL)
        PTI_TRY(parse_own(ctx, text, name_length, &read));
    else
        PTI_TRY(fail_unknown(ctx, text, ""));
    PTI_TRY(check_numbers(ctx, text, n_units, &read));
    *policy = read;
done:
    return status;
}
