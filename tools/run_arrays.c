#include "run_arrays.h"
#include "command.h"

#include <stdlib.h>
#include <string.h>

/** Return the file of a name, or NULL. */
static const file_value *find_file(const run_arguments *args, const char *name, size_t length) {
    for (int k = 0; k < args->n_files; k++)
        if (strlen(args->file[k].name) == length && strncmp(args->file[k].name, name, length) == 0)
            return &args->file[k];
    return NULL;
}

bool run_is_reduced(const polytile_kernel *kernel, int array) {
    const polytile_role role = polytile_kernel_get_array_role(kernel, array);
    return role >= POLYTILE_SUM && role <= POLYTILE_ARGMAX;
}

/** Return the position of a kernel's array, or -1. */
static int find_array(const polytile_kernel *kernel, const char *name, size_t length) {
    for (int k = 0; k < polytile_kernel_get_n_arrays(kernel); k++) {
        const char *has = polytile_kernel_get_array_name(kernel, k);
        if (strlen(has) == length && strncmp(has, name, length) == 0)
            return k;
    }
    return -1;
}

static int refuse_missing(const run_arguments *args, const polytile_kernel *kernel, int array) {
    const char *name = polytile_kernel_get_array_name(kernel, array);
    if (polytile_kernel_get_array_role(kernel, array) == POLYTILE_IN)
        return usage_error(args->subcommand, "%s is missing: %s reads it; add --array %s=FILE.npy",
                           name, polytile_kernel_get_name(kernel), name);
    return usage_error(args->subcommand,
                       "%s is missing: %s writes it; add --output %s:TYPE:EXTENTS=FILE.npy to "
                       "create a file, or --array %s=FILE.npy for one that is there",
                       name, polytile_kernel_get_name(kernel), name, name);
}

static int check_names(const run_arguments *args, const polytile_kernel *kernel) {
    for (int k = 0; k < args->n_files; k++) {
        const char *name = args->file[k].name;
        const int array = find_array(kernel, name, strlen(name));
        if (array < 0)
            return usage_error(args->subcommand, "%s %s: %s has no such array",
                               args->file[k].domain == NULL ? "--array" : "--output", name,
                               polytile_kernel_get_name(kernel));
        if (args->file[k].domain != NULL && args->file[k].path == NULL &&
            !run_is_reduced(kernel, array))
            return usage_error(args->subcommand,
                               "--output %s: it has no file; only what threads combine into is "
                               "printed, so add =FILE.npy",
                               name);
    }
    for (int a = 0; a < polytile_kernel_get_n_arrays(kernel); a++) {
        const char *name = polytile_kernel_get_array_name(kernel, a);
        if (find_file(args, name, strlen(name)) == NULL)
            return refuse_missing(args, kernel, a);
    }
    return EXIT_DONE;
}

/** What names in domains stand for: values of parameters, and extents of arrays. */
typedef struct run_scope {
    number_scope scope;
    const run_arguments *args;
    const run_arrays *arrays;
} run_scope;

static bool find_parameter(const run_arguments *args, const char *name, size_t length,
                           int64_t *number) {
    for (int p = 0; p < args->n_parameters; p++) {
        const parameter_value *value = &args->parameter[p];
        if (strlen(value->name) == length && strncmp(value->name, name, length) == 0) {
            *number = value->value.value;
            return value->value.number == POLYTILE_SIGNED_NUMBER;
        }
    }
    return false;
}

static bool find_number(const number_scope *scope, const char *name, size_t length, int dim,
                        int64_t *number) {
    const run_scope *of = scope->of;
    if (dim < 0)
        return find_parameter(of->args, name, length, number);
    const int k = find_array(of->arrays->kernel, name, length);
    const polytile_array *array = k < 0 ? NULL : of->arrays->array[k];
    const polytile_domain *domain = array == NULL ? NULL : polytile_array_get_domain(array);
    if (domain == NULL || dim >= domain->n_dims)
        return false;
    *number = domain->range[dim].hi - domain->range[dim].lo + 1;
    return true;
}

/** Refuse a file that two arrays are mapped from, of which one is written: each has a mapping of
 * its own, so that nothing else sees it. */
static int refuse_twice(const run_arguments *args, const polytile_kernel *kernel, int a, int b) {
    const char *one = polytile_kernel_get_array_name(kernel, a);
    const char *other = polytile_kernel_get_array_name(kernel, b);
    const file_value *file = find_file(args, one, strlen(one));
    const file_value *again = find_file(args, other, strlen(other));
    const bool is_written = polytile_kernel_get_array_role(kernel, a) != POLYTILE_IN ||
                            polytile_kernel_get_array_role(kernel, b) != POLYTILE_IN;
    if (!is_written || file->domain != NULL || again->domain != NULL ||
        !is_same_file(file->path, again->path))
        return EXIT_DONE;
    return usage_error(args->subcommand,
                       "--array %s and %s are one file, %s, and one of them is written; copy the "
                       "file, or create another with --output",
                       one, other, again->path);
}

static int check_files(const run_arguments *args, const run_arrays *arrays) {
    int exit_code = EXIT_DONE;
    for (int a = 0; a < arrays->n; a++)
        for (int b = 0; b < a && exit_code == EXIT_DONE; b++)
            exit_code = refuse_twice(args, arrays->kernel, b, a);
    return exit_code;
}

static int open_inputs(const run_arguments *args, polytile_context *ctx, run_arrays *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < arrays->n && status == POLYTILE_OK; a++) {
        const char *name = polytile_kernel_get_array_name(arrays->kernel, a);
        const file_value *file = find_file(args, name, strlen(name));
        const bool is_written = polytile_kernel_get_array_role(arrays->kernel, a) != POLYTILE_IN;
        if (file->domain == NULL)
            status = polytile_npy_open(ctx, name, file->path, is_written, &arrays->array[a]);
    }
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, ctx, status);
}

static bool begins_at_0(const polytile_domain *domain) {
    bool begins = true;
    for (int d = 0; d < domain->n_dims; d++)
        begins = begins && domain->range[d].lo == 0 && domain->range[d].step == 1;
    return begins;
}

/** Create an array in a file, or in memory that is all zero. */
static polytile_status create_output(polytile_context *ctx, const file_value *file,
                                     const polytile_domain *domain, polytile_array **array,
                                     void **memory) {
    int64_t n_bytes = polytile_type_get_bytes(file->type);
    if (file->path != NULL)
        return polytile_npy_create(ctx, file->name, file->path, file->type, domain, array);
    for (int d = 0; d < domain->n_dims; d++)
        if (__builtin_mul_overflow(n_bytes, domain->range[d].hi + 1, &n_bytes))
            return POLYTILE_OVERFLOW;
    *memory = calloc((size_t)n_bytes, 1);
    if (*memory == NULL)
        return POLYTILE_NO_MEMORY;
    return polytile_array_wrap_domain(ctx, file->name, file->type, domain, *memory, array);
}

static int open_output(const run_arguments *args, polytile_context *ctx, const file_value *file,
                       const run_scope *scope, polytile_array **array, void **memory) {
    char why[WHY_SIZE];
    polytile_domain domain;
    if (!parse_domain_in(file->domain, &scope->scope, &domain, why))
        return usage_error(args->subcommand, "--output %s: %s: %s", file->name, file->domain, why);
    if (!begins_at_0(&domain))
        return usage_error(args->subcommand,
                           "--output %s: %s: a file's indices begin at 0 and have no steps; give "
                           "extents, such as 8192x8192",
                           file->name, file->domain);
    if (file->path == NULL && !run_can_show(file->type, &domain))
        return usage_error(
            args->subcommand,
            "--output %s: at most 16 elements of i8 to u64, f32, f64, c64 or c128, or of "
            "these with an index, are printed; add =FILE.npy to keep them",
            file->name);
    const polytile_status status = create_output(ctx, file, &domain, array, memory);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, ctx, status);
}

static int open_outputs(const run_arguments *args, polytile_context *ctx, const run_scope *scope,
                        run_arrays *arrays) {
    int exit_code = EXIT_DONE;
    for (int k = 0; k < args->n_files && exit_code == EXIT_DONE; k++) {
        const file_value *file = &args->file[k];
        const int a = find_array(arrays->kernel, file->name, strlen(file->name));
        if (file->domain != NULL)
            exit_code = open_output(args, ctx, file, scope, &arrays->array[a], &arrays->memory[a]);
    }
    return exit_code;
}

static int find_threads(const run_arguments *args, const run_scope *scope, run_arrays *arrays) {
    char why[WHY_SIZE];
    const int n_indices = polytile_kernel_get_n_indices(arrays->kernel);
    if (!parse_domain_in(args->domain, &scope->scope, &arrays->threads, why))
        return usage_error(args->subcommand, "--domain %s: %s", args->domain, why);
    if (arrays->threads.n_dims != n_indices)
        return usage_error(args->subcommand,
                           "--domain has %d dimension%s, but %s has %d ind%s; give a range for "
                           "each",
                           arrays->threads.n_dims, arrays->threads.n_dims == 1 ? "" : "s",
                           polytile_kernel_get_name(arrays->kernel), n_indices,
                           n_indices == 1 ? "ex" : "ices");
    return EXIT_DONE;
}

int run_arrays_open(const run_arguments *args, polytile_context *ctx, const polytile_kernel *kernel,
                    run_arrays *arrays) {
    const run_scope scope = {{find_number, &scope}, args, arrays};
    *arrays = (run_arrays){.kernel = kernel, .n = polytile_kernel_get_n_arrays(kernel)};
    arrays->array = calloc((size_t)arrays->n, sizeof(polytile_array *));
    arrays->memory = calloc((size_t)arrays->n, sizeof(void *));
    if (arrays->array == NULL || arrays->memory == NULL)
        return library_error(args->subcommand, NULL, POLYTILE_NO_MEMORY);
    int exit_code = check_names(args, kernel);
    if (exit_code == EXIT_DONE)
        exit_code = check_files(args, arrays);
    if (exit_code == EXIT_DONE)
        exit_code = open_inputs(args, ctx, arrays);
    if (exit_code == EXIT_DONE)
        exit_code = open_outputs(args, ctx, &scope, arrays);
    if (exit_code == EXIT_DONE)
        exit_code = find_threads(args, &scope, arrays);
    return exit_code;
}

int run_arrays_finish(const run_arguments *args, polytile_context *ctx, const run_arrays *arrays) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < arrays->n && status == POLYTILE_OK; a++)
        status = polytile_npy_finish(arrays->array[a]);
    return status == POLYTILE_OK ? EXIT_DONE : library_error(args->subcommand, ctx, status);
}

void run_arrays_close(run_arrays *arrays) {
    for (int a = 0; a < arrays->n && arrays->array != NULL; a++) {
        polytile_npy_abandon(arrays->array[a]);
        polytile_array_destroy(arrays->array[a]);
        free(arrays->memory == NULL ? NULL : arrays->memory[a]);
    }
    free(arrays->array);
    free(arrays->memory);
    *arrays = (run_arrays){0};
}
