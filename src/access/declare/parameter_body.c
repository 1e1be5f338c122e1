#include "access/declare/parameter_body.h"

#include "access/array/type.h"
#include "base/plural.h"

#include <string.h>

int pti_find_parameter(const polytile_declaration *declaration, const char *name, int guess) {
    char *const *names = declaration->parameter_name;
    if (guess < declaration->n_parameters &&
        (names[guess] == name || strcmp(names[guess], name) == 0))
        return guess;
    return pti_find_name(name, declaration->n_parameters, names);
}

int pti_kernel_n_values(const polytile_kernel *kernel) {
    return kernel->implementation.parameters == NULL ? kernel->declaration->n_parameters
                                                     : kernel->implementation.n_parameters;
}

int pti_body_parameter_position(const polytile_declaration *declaration,
                                const polytile_implementation *implementation, int k, int before) {
    const polytile_body_parameter *taken = implementation->parameters;
    if (taken != NULL && taken[k].name != NULL)
        return pti_find_parameter(declaration, taken[k].name, k);
    return before + 1 < declaration->n_parameters ? before + 1 : -1;
}

static polytile_status check_count(polytile_context *ctx, const polytile_declaration *declaration,
                                   const polytile_implementation *implementation) {
    const int n = implementation->n_parameters;
    if (n < 0 || n > POLYTILE_MAX_PARAMETERS)
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: the kernel body takes %d parameters; it may take 0 to %d",
                        declaration->name, n, POLYTILE_MAX_PARAMETERS);
    if (n > 0 && implementation->parameters == NULL)
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: the kernel body takes %d %s, but their list is NULL; give it, or 0 "
                        "for all of the declaration",
                        declaration->name, n, pti_plural(n, "parameter", "parameters"));
    return POLYTILE_OK;
}

static polytile_status refuse_unknown(polytile_context *ctx,
                                      const polytile_declaration *declaration,
                                      const polytile_body_parameter *taken, int k) {
    char type[PTI_TYPE_TEXT_BYTES] = "f32";
    if (taken->name == NULL)
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: the kernel body takes one more parameter, its number %d, than the "
                        "declaration has; declare it after the indices, %s[...](TYPE NAME)",
                        declaration->name, k + 1, declaration->name);
    if (taken->bytes > 0 && pti_type_of(taken->number, taken->bytes) >= 0)
        pti_type_format(pti_type_of(taken->number, taken->bytes), type);
    return pti_fail(ctx, POLYTILE_DECLARATION,
                    "%s: the kernel body takes a parameter %s, which the declaration does not "
                    "have; declare it after the indices, %s[...](%s %s)",
                    declaration->name, taken->name, declaration->name, type, taken->name);
}

/** Return whether a parameter of a type suits a body; f16 and bf16 also as their bits, for
 * compilers without the types. */
static bool suits_body(polytile_type type, const polytile_body_parameter *taken) {
    const polytile_type wanted = pti_type_of(taken->number, taken->bytes);
    return taken->bytes == 0 ||
           (taken->number == POLYTILE_ANY_NUMBER &&
            taken->bytes == polytile_type_get_bytes(type)) ||
           wanted == type ||
           (wanted == POLYTILE_U16 && (type == POLYTILE_F16 || type == POLYTILE_BF16));
}

static polytile_status check_type(polytile_context *ctx, const polytile_declaration *declaration,
                                  int p, const polytile_body_parameter *taken) {
    char declared[PTI_TYPE_TEXT_BYTES], wanted[PTI_TYPE_TEXT_BYTES];
    if (suits_body(declaration->parameter_type[p], taken))
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DECLARATION,
                    "%s: parameter %s is %s in the declaration and %s in the kernel body; declare "
                    "what the body takes, or let the body take what is declared",
                    declaration->name, declaration->parameter_name[p],
                    pti_type_format(declaration->parameter_type[p], declared),
                    pti_type_format(pti_type_of(taken->number, taken->bytes), wanted));
}

polytile_status pti_parameters_check_body(polytile_context *ctx,
                                          const polytile_declaration *declaration,
                                          const polytile_implementation *implementation) {
    bool is_taken[POLYTILE_MAX_PARAMETERS] = {false};
    polytile_status status;
    PTI_TRY(check_count(ctx, declaration, implementation));
    for (int k = 0, p = -1; k < implementation->n_parameters; k++) {
        const polytile_body_parameter *taken = &implementation->parameters[k];
        p = pti_body_parameter_position(declaration, implementation, k, p);
        if (p < 0)
            PTI_TRY(refuse_unknown(ctx, declaration, taken, k));
        if (is_taken[p])
            PTI_TRY(pti_fail(ctx, POLYTILE_DECLARATION,
                             "%s: the kernel body takes parameter %s twice; name each once",
                             declaration->name, declaration->parameter_name[p]));
        is_taken[p] = true;
        PTI_TRY(check_type(ctx, declaration, p, taken));
    }
done:
    return status;
}
