#include "request.h"
#include "command.h"

#include <polytile/npy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Return the position of an array's name in the command line; -1: none. */
static int find_array(const arguments *args, const char *name) {
    int k = args->n_arrays - 1;
    while (k >= 0 && strcmp(args->array[k].name, name) != 0)
        k--;
    return k;
}

/** Return the name of a kernel's k-th array, or parameter; NULL: there are not so many. */
typedef const char *name_getter(const polytile_kernel *kernel, int k);

static bool kernel_has(const polytile_kernel *kernel, name_getter *get_name, const char *name) {
    int k = 0;
    while (get_name(kernel, k) != NULL && strcmp(get_name(kernel, k), name) != 0)
        k++;
    return get_name(kernel, k) != NULL;
}

static bool is_swapped(const arguments *args, const char *name) {
    for (int s = 0; s < args->n_swaps; s++)
        if (strcmp(args->swap[s].one, name) == 0 || strcmp(args->swap[s].other, name) == 0)
            return true;
    return false;
}

static bool is_used(const arguments *args, const request *made, const char *name) {
    bool is_one = is_swapped(args, name);
    for (int k = 0; k < args->n_kernels && !is_one; k++)
        is_one = kernel_has(made->kernel[k], polytile_kernel_get_array_name, name);
    return is_one;
}

static int refuse_unknown_array(const arguments *args, const request *made, const char *name) {
    char names[512] = "";
    size_t length = 0;
    const polytile_kernel *kernel = made->kernel[0];
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel) && length < sizeof names; k++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s%s",
                                   k == 0 ? "" : ", ", polytile_kernel_get_array_name(kernel, k));
    return usage_error(args->subcommand, "--array %s: %s has no such array%s; it has %s", name,
                       polytile_kernel_get_name(kernel),
                       args->n_kernels > 1 ? ", nor has another kernel" : "", names);
}

static int check_kernel_arrays(const arguments *args, const polytile_kernel *kernel) {
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel); k++) {
        const char *name = polytile_kernel_get_array_name(kernel, k);
        if (find_array(args, name) < 0)
            return usage_error(args->subcommand,
                               "%s is missing: %s uses it; add --array %s:TYPE:DOMAIN, such as "
                               "%s:f32:8192x8192",
                               name, polytile_kernel_get_name(kernel), name, name);
    }
    return EXIT_DONE;
}

static int check_known(const arguments *args, const char *option, const char *name) {
    if (find_array(args, name) >= 0)
        return EXIT_DONE;
    return usage_error(args->subcommand,
                       "%s %s: there is no array of this name; add --array %s:TYPE:DOMAIN", option,
                       name, name);
}

static bool has_same_domain(const array_value *one, const array_value *other) {
    bool is_same = one->domain.n_dims == other->domain.n_dims;
    for (int d = 0; d < one->domain.n_dims && is_same; d++)
        is_same = one->domain.range[d].lo == other->domain.range[d].lo &&
                  one->domain.range[d].hi == other->domain.range[d].hi;
    return is_same;
}

/** Check a swap: its names stand for arrays that a kernel takes alike. */
static int check_swap(const arguments *args, const swap_value *swap) {
    int exit_code = check_known(args, "--swap", swap->one);
    if (exit_code == EXIT_DONE)
        exit_code = check_known(args, "--swap", swap->other);
    if (exit_code != EXIT_DONE)
        return exit_code;
    const array_value *one = &args->array[find_array(args, swap->one)];
    const array_value *other = &args->array[find_array(args, swap->other)];
    if (one->type == other->type && has_same_domain(one, other))
        return EXIT_DONE;
    return usage_error(args->subcommand,
                       "--swap %s=%s: --array %s and --array %s differ in their %s; arrays can "
                       "change places if both have one type and one domain",
                       swap->one, swap->other, one->text, other->text,
                       one->type != other->type ? "type" : "domain");
}

static int check_names(const arguments *args, const request *made) {
    int exit_code = EXIT_DONE;
    for (int s = 0; s < args->n_swaps && exit_code == EXIT_DONE; s++)
        exit_code = check_swap(args, &args->swap[s]);
    for (int s = 0; s < args->n_scratch && exit_code == EXIT_DONE; s++)
        exit_code = check_known(args, "--scratch", args->scratch[s]);
    for (int k = 0; k < args->n_arrays && exit_code == EXIT_DONE; k++)
        if (!is_used(args, made, args->array[k].name))
            exit_code = refuse_unknown_array(args, made, args->array[k].name);
    for (int k = 0; k < args->n_kernels && exit_code == EXIT_DONE; k++)
        exit_code = check_kernel_arrays(args, made->kernel[k]);
    return exit_code;
}

/** Return a kernel's domain; a single one is for all kernels. */
static const polytile_domain *domain_of(const arguments *args, int kernel) {
    return &args->domain[args->n_domains == 1 ? 0 : kernel];
}

static int check_dims(const arguments *args, const polytile_kernel *kernel, int n_dims) {
    int n_indices = polytile_kernel_get_n_indices(kernel);
    const char *name = polytile_kernel_get_name(kernel);
    if (n_dims != n_indices)
        return usage_error(args->subcommand,
                           "--domain has %d dimension%s, but %s has %d ind%s; give a range for "
                           "each",
                           n_dims, n_dims == 1 ? "" : "s", name, n_indices,
                           n_indices == 1 ? "ex" : "ices");
    if (args->n_block != 0 && args->n_block != n_indices)
        return usage_error(args->subcommand,
                           "--block has %d extent%s, but %s has %d ind%s; give an extent for each",
                           args->n_block, args->n_block == 1 ? "" : "s", name, n_indices,
                           n_indices == 1 ? "ex" : "ices");
    return EXIT_DONE;
}

/** Check the parameters of several kernels; for one alone the library does, and lists what it
 * has. */
static int check_parameters(const arguments *args, const request *made) {
    for (int p = 0; p < args->n_parameters && args->n_kernels > 1; p++) {
        const char *name = args->parameter[p].name;
        bool is_known = false;
        for (int k = 0; k < args->n_kernels && !is_known; k++)
            is_known = kernel_has(made->kernel[k], polytile_kernel_get_parameter_name, name);
        if (!is_known)
            return usage_error(args->subcommand, "--param %s: no --kernel has this parameter",
                               name);
    }
    return EXIT_DONE;
}

static int check_request(const arguments *args, const request *made) {
    int exit_code = check_names(args, made);
    if (exit_code == EXIT_DONE)
        exit_code = check_parameters(args, made);
    for (int k = 0; k < args->n_kernels && exit_code == EXIT_DONE; k++)
        exit_code = check_dims(args, made->kernel[k], domain_of(args, k)->n_dims);
    return exit_code;
}

static polytile_status create_kernels(const arguments *args, request *made) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < args->n_kernels && status == POLYTILE_OK; k++)
        status = polytile_kernel_create(made->ctx, args->kernel[k], NULL, &made->kernel[k]);
    return status;
}

static polytile_status describe_arrays(const arguments *args, request *made) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < args->n_arrays && status == POLYTILE_OK; k++) {
        const array_value *value = &args->array[k];
        status = value->path != NULL ? polytile_npy_open(made->ctx, value->name, value->path, false,
                                                         &made->array[k])
                                     : polytile_array_describe(made->ctx, value->name, value->type,
                                                               &value->domain, &made->array[k]);
    }
    for (int s = 0; s < args->n_scratch; s++)
        made->scratch[s] = made->array[find_array(args, args->scratch[s])];
    return status;
}

/** Swap the names of arrays. */
static void swap_names(const arguments *args, int *named) {
    for (int s = 0; s < args->n_swaps; s++) {
        int one = find_array(args, args->swap[s].one),
            other = find_array(args, args->swap[s].other);
        int held = named[one];
        named[one] = named[other];
        named[other] = held;
    }
}

/** Fill in all kernels in order, once a step. named: the array of each name now. */
static void fill_launches(const arguments *args, request *made, int *named) {
    polytile_array **operand = made->operand;
    for (int l = 0; l < made->n_launches; l++) {
        int k = l % args->n_kernels;
        const polytile_kernel *kernel = made->kernel[k];
        made->launch[l] = (polytile_chain_launch){
            .kernel = kernel,
            .domain = *domain_of(args, k),
            .n_arrays = polytile_kernel_get_n_arrays(kernel),
            .arrays = operand,
            .n_parameters = made->n_parameters[k],
            .parameters = made->parameter + k * args->n_parameters,
        };
        for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++)
            *operand++ =
                made->array[named[find_array(args, polytile_kernel_get_array_name(kernel, a))]];
        if (k == args->n_kernels - 1)
            swap_names(args, named);
    }
}

static polytile_status list_launches(const arguments *args, request *made) {
    size_t n_operands = 0, n_steps = args->n_steps > 0 ? (size_t)args->n_steps : 1;
    int *named = calloc((size_t)args->n_arrays + 1, sizeof *named);
    for (int k = 0; k < args->n_kernels; k++)
        n_operands += (size_t)polytile_kernel_get_n_arrays(made->kernel[k]);
    made->n_launches = (int)n_steps * args->n_kernels;
    made->launch = calloc((size_t)made->n_launches, sizeof *made->launch);
    made->operand = calloc(n_steps * n_operands + 1, sizeof(polytile_array *));
    bool has_memory = named != NULL && made->launch != NULL && made->operand != NULL;
    for (int a = 0; a < args->n_arrays && has_memory; a++)
        named[a] = a;
    if (has_memory)
        fill_launches(args, made, named);
    free(named);
    return has_memory ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

/** List the parameters of each kernel; one kernel alone gets all. */
static void list_parameters(const arguments *args, request *made) {
    for (int k = 0; k < args->n_kernels; k++) {
        polytile_parameter *of_kernel = made->parameter + k * args->n_parameters;
        for (int p = 0; p < args->n_parameters; p++)
            if (args->n_kernels == 1 ||
                kernel_has(made->kernel[k], polytile_kernel_get_parameter_name,
                           args->parameter[p].name))
                of_kernel[made->n_parameters[k]++] = args->parameter[p].value;
    }
}

static void fill_options(const arguments *args, request *made) {
    made->options = (polytile_launch_options){
        .n_parameters = made->n_parameters[0],
        .parameters = made->parameter,
        .plan = {.limit_bytes = args->limit_bytes,
                 .strategy = args->strategy,
                 .n_buffers = args->n_buffers,
                 .fill_threads = args->fill_threads,
                 .block = args->n_block == 0 ? NULL : args->block,
                 .launches_per_pass = args->launches_per_pass},
    };
}

static bool make_lists(const arguments *args, request *made) {
    made->kernel = calloc((size_t)args->n_kernels + 1, sizeof(polytile_kernel *));
    made->array = calloc((size_t)args->n_arrays + 1, sizeof(polytile_array *));
    made->scratch = calloc((size_t)args->n_scratch + 1, sizeof(polytile_array *));
    made->n_parameters = calloc((size_t)args->n_kernels + 1, sizeof *made->n_parameters);
    made->parameter =
        calloc((size_t)args->n_kernels * (size_t)args->n_parameters + 1, sizeof *made->parameter);
    return made->kernel != NULL && made->array != NULL && made->scratch != NULL &&
           made->n_parameters != NULL && made->parameter != NULL;
}

int request_create(const arguments *args, request *made) {
    *made = (request){0};
    if (!make_lists(args, made))
        return library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY);
    polytile_status status = polytile_context_create(&made->ctx);
    if (status == POLYTILE_OK)
        status = create_kernels(args, made);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    int exit_code = check_request(args, made);
    if (exit_code != EXIT_DONE)
        return exit_code;
    list_parameters(args, made);
    fill_options(args, made);
    status = describe_arrays(args, made);
    if (status == POLYTILE_OK)
        status = list_launches(args, made);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, made->ctx, status);
}

void request_free(request *made) {
    polytile_context_destroy(made->ctx);
    free(made->kernel);
    free(made->array);
    free(made->scratch);
    free(made->launch);
    free(made->operand);
    free(made->n_parameters);
    free(made->parameter);
}
