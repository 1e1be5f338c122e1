#include "request.h"
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const array_value *find_array(const arguments *args, const char *name) {
    for (int k = 0; k < args->n_arrays; k++)
        if (strcmp(args->array[k].name, name) == 0)
            return &args->array[k];
    return NULL;
}

static bool kernel_has_array(const polytile_kernel *kernel, const char *name) {
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel); k++)
        if (strcmp(polytile_kernel_get_array_name(kernel, k), name) == 0)
            return true;
    return false;
}

static int refuse_unknown_array(const arguments *args, const polytile_kernel *kernel,
                                const char *name) {
    char names[512] = "";
    size_t length = 0;
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel) && length < sizeof names; k++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   k == 0 ? "" : ", ", polytile_kernel_get_array_name(kernel, k));
    return usage_error(args->subcommand, "--array %s: %s has no such array; it has %s", name,
                       polytile_kernel_get_name(kernel), names);
}

static int check_names(const arguments *args, const polytile_kernel *kernel) {
    for (int k = 0; k < args->n_arrays; k++)
        if (!kernel_has_array(kernel, args->array[k].name))
            return refuse_unknown_array(args, kernel, args->array[k].name);
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel); k++) {
        const char *name = polytile_kernel_get_array_name(kernel, k);
        if (find_array(args, name) == NULL)
            return usage_error(args->subcommand,
                               "%s is missing: %s uses it; add --array %s:TYPE:DOMAIN, such as "
                               "%s:f32:8192x8192",
                               name, polytile_kernel_get_name(kernel), name, name);
    }
    return EXIT_DONE;
}

static int check_dims(const arguments *args, const polytile_kernel *kernel) {
    int n_indices = polytile_kernel_get_n_indices(kernel);
    const char *name = polytile_kernel_get_name(kernel);
    if (args->domain.n_dims != n_indices)
        return usage_error(args->subcommand,
                           "--domain has %d dimension%s, but %s has %d ind%s; give a range for "
                           "each",
                           args->domain.n_dims, args->domain.n_dims == 1 ? "" : "s", name,
                           n_indices, n_indices == 1 ? "ex" : "ices");
    if (args->n_block != 0 && args->n_block != n_indices)
        return usage_error(args->subcommand,
                           "--block has %d extent%s, but %s has %d ind%s; give an extent for each",
                           args->n_block, args->n_block == 1 ? "" : "s", name, n_indices,
                           n_indices == 1 ? "ex" : "ices");
    return EXIT_DONE;
}

static polytile_status describe_arrays(const arguments *args, request *made) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < polytile_kernel_get_n_arrays(made->kernel) && status == POLYTILE_OK; k++) {
        const array_value *value =
            find_array(args, polytile_kernel_get_array_name(made->kernel, k));
        status = polytile_array_describe(made->ctx, value->name, value->type, &value->domain,
                                         &made->array[k]);
    }
    return status;
}

static void fill_options(const arguments *args, request *made) {
    for (int k = 0; k < args->n_parameters; k++)
        made->parameter[k] =
            (polytile_parameter){args->parameter[k].name, args->parameter[k].value};
    made->options = (polytile_plan_options){
        .limit_bytes = args->limit_bytes,
        .strategy = args->strategy,
        .n_buffers = args->n_buffers,
        .block = args->n_block == 0 ? NULL : args->block,
        .n_parameters = args->n_parameters,
        .parameters = made->parameter,
    };
}

int request_create(const arguments *args, request *made) {
    *made = (request){0};
    polytile_status status = polytile_context_create(&made->ctx);
    if (status == POLYTILE_OK)
        status = polytile_kernel_create(made->ctx, args->kernel, NULL, &made->kernel);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    int exit_code = check_names(args, made->kernel);
    if (exit_code == EXIT_DONE)
        exit_code = check_dims(args, made->kernel);
    if (exit_code != EXIT_DONE)
        return exit_code;
    made->array = calloc((size_t)args->n_arrays + 1, sizeof(polytile_array *));
    made->parameter = calloc((size_t)args->n_parameters + 1, sizeof *made->parameter);
    if (made->array == NULL || made->parameter == NULL)
        return library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY);
    fill_options(args, made);
    status = describe_arrays(args, made);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, made->ctx, status);
}

void request_free(request *made) {
    polytile_context_destroy(made->ctx);
    free(made->array);
    free(made->parameter);
}
