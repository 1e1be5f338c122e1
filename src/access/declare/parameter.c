#include "access/declare/parameter.h"

#include "access/declare/parameter_body.h"
#include "access/declare/parameter_value.h"
#include "base/plural.h"

/** Of each parameter of a declaration, what a launch gives; NULL: nothing. */
typedef struct given_list {
    const polytile_parameter *of[POLYTILE_MAX_PARAMETERS];
} given_list;

static polytile_status take_parameter(polytile_context *ctx,
                                      const polytile_declaration *declaration,
                                      const polytile_parameter *parameter, int guess,
                                      given_list *given) {
    char shown[PTI_NUMBER_TEXT_BYTES], before[PTI_NUMBER_TEXT_BYTES];
    if (parameter->name == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: a parameter's name is NULL", declaration->name);
    int p = pti_find_parameter(declaration, parameter->name, guess);
    if (p < 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: there is no parameter %s in the declaration, but it is given %s",
                        declaration->name, parameter->name, pti_parameter_show(parameter, shown));
    if (given->of[p] != NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: parameter %s is given twice, %s and %s",
                        declaration->name, parameter->name,
                        pti_parameter_show(given->of[p], before),
                        pti_parameter_show(parameter, shown));
    given->of[p] = parameter;
    return POLYTILE_OK;
}

static polytile_status take_parameters(polytile_context *ctx,
                                       const polytile_declaration *declaration, int n_parameters,
                                       const polytile_parameter *parameters, given_list *given) {
    polytile_status status = POLYTILE_OK;
    *given = (given_list){{NULL}};
    if (n_parameters < 0 || (n_parameters > 0 && parameters == NULL))
        return pti_fail(ctx, POLYTILE_INVALID, "%s: %d %s, but their list is %s", declaration->name,
                        n_parameters, pti_plural(n_parameters, "parameter", "parameters"),
                        parameters == NULL ? "NULL" : "given");
    for (int k = 0; k < n_parameters && status == POLYTILE_OK; k++)
        status = take_parameter(ctx, declaration, &parameters[k], k, given);
    return status;
}

static polytile_status refuse_missing(polytile_context *ctx,
                                      const polytile_declaration *declaration, int p) {
    const polytile_type type = declaration->parameter_type[p];
    const char *name = declaration->parameter_name[p];
    if (!declaration->is_typed[p])
        return pti_fail(ctx, POLYTILE_DECLARATION,
                        "%s: %s is no index, so it is a parameter, and has no value; give one at "
                        "launch, such as %s=100",
                        declaration->name, name, name);
    return pti_fail(ctx, POLYTILE_DECLARATION,
                    "%s: parameter %s has no value; give one at the launch, such as %s=%s",
                    declaration->name, name, name, type >= POLYTILE_F16 ? "2.5" : "100");
}

polytile_status pti_parameters_match(polytile_context *ctx, const polytile_declaration *declaration,
                                     int n_parameters, const polytile_parameter *parameters,
                                     int64_t *values) {
    given_list given;
    pti_value unused;
    polytile_status status;
    PTI_TRY(take_parameters(ctx, declaration, n_parameters, parameters, &given));
    for (int p = 0; p < declaration->n_parameters; p++) {
        values[p] = 0;
        if (given.of[p] == NULL && declaration->is_in_subscripts[p])
            PTI_TRY(refuse_missing(ctx, declaration, p));
        if (given.of[p] == NULL)
            continue;
        if (declaration->is_in_subscripts[p])
            PTI_TRY(pti_parameter_convert_index(ctx, declaration, p, given.of[p], &values[p]));
        else
            PTI_TRY(pti_parameter_convert(ctx, declaration, p, given.of[p], &unused));
    }
done:
    return status;
}

void pti_parameters_number_values(polytile_kernel *kernel) {
    for (int p = 0; p < POLYTILE_MAX_PARAMETERS; p++)
        kernel->body_value[p] = -1;
    for (int k = 0, p = -1; k < pti_kernel_n_values(kernel); k++) {
        p = pti_body_parameter_position(kernel->declaration, &kernel->implementation, k, p);
        kernel->body_value[p] = k;
    }
}

/** Bind values that are given in the declaration's order, and that their types hold as they are,
 * which is how launches nearly always give them. False: they are not so. */
static bool bind_as_declared(const polytile_kernel *kernel, int n_parameters,
                             const polytile_parameter *parameters, pti_value *values) {
    const polytile_declaration *declaration = kernel->declaration;
    pti_value unused;
    if (n_parameters != declaration->n_parameters || parameters == NULL)
        return false;
    for (int p = 0; p < n_parameters; p++) {
        const int k = kernel->body_value[p];
        if (!pti_is_same_name(parameters[p].name, declaration->parameter_name[p]) ||
            !pti_parameter_copy(declaration->parameter_type[p], &parameters[p],
                                k < 0 ? &unused : &values[k]))
            return false;
    }
    return true;
}

polytile_status pti_parameters_bind(polytile_context *ctx, const polytile_kernel *kernel,
                                    int n_parameters, const polytile_parameter *parameters,
                                    pti_value *values) {
    const polytile_declaration *declaration = kernel->declaration;
    pti_value value;
    given_list given;
    polytile_status status;
    if (bind_as_declared(kernel, n_parameters, parameters, values))
        return POLYTILE_OK;
    PTI_TRY(take_parameters(ctx, declaration, n_parameters, parameters, &given));
    for (int p = 0; p < declaration->n_parameters; p++) {
        if (given.of[p] == NULL)
            PTI_TRY(refuse_missing(ctx, declaration, p));
        PTI_TRY(pti_parameter_convert(ctx, declaration, p, given.of[p], &value));
        if (kernel->body_value[p] >= 0)
            values[kernel->body_value[p]] = value;
    }
done:
    return status;
}
