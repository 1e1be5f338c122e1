#include "access/declare/declaration.h"
#include <polytile/program.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A kernel with copies of what it was made from; a list, the newest first. */
typedef struct program_kernel {
    char *declaration; /* owned */
    polytile_implementation implementation;
    polytile_kernel *kernel;
    struct program_kernel *next;
} program_kernel;

/** A bound array; a list, the newest first. */
typedef struct program_array {
    polytile_array *array;
    const void *memory; /* NULL: it is internal */
    struct program_array *next;
} program_array;

/** A parameter that is set; a list, the newest first. */
typedef struct program_parameter {
    polytile_parameter value; /* its name is owned */
    struct program_parameter *next;
} program_parameter;

/** A program in the short form: one queue, with all that it has made. */
struct polytile_program {
    polytile_context *ctx;
    polytile_queue *queue;
    program_kernel *kernels;
    program_array *arrays;
    program_parameter *parameters;
};

enum { NAME_BYTES = 64 };

__attribute__((format(printf, 1, 2))) _Noreturn static void end_program(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("polytile: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

/** End the process if a required argument is NULL. */
static void require_given(const void *given, const char *function, const char *what) {
    if (given == NULL)
        end_program("%s: %s is NULL", function, what);
}

static void require_success(const polytile_program *program, polytile_status status) {
    if (status != POLYTILE_OK)
        end_program("%s", polytile_last_error(program->ctx));
}

static void *allocate_entry(size_t n_bytes) {
    void *memory = calloc(1, n_bytes);
    if (memory == NULL)
        end_program("%s", polytile_status_text(POLYTILE_NO_MEMORY));
    return memory;
}

polytile_program *polytile_program_open(const char *device_text) {
    require_given(device_text, "polytile_program_open", "the device's text");
    polytile_program *program = allocate_entry(sizeof *program);
    const polytile_status status = polytile_context_create(&program->ctx);
    if (status != POLYTILE_OK)
        end_program("%s", polytile_status_text(status));
    require_success(program, polytile_queue_create(program->ctx, device_text, &program->queue));
    return program;
}

polytile_queue *polytile_program_get_queue(const polytile_program *program) {
    return program == NULL ? NULL : program->queue;
}

static void let_newest_go(polytile_program *program) {
    program_array *newest = program->arrays;
    if (newest->memory != NULL)
        require_success(program, polytile_queue_detach(program->queue, 1, &newest->array));
    program->arrays = newest->next;
    free(newest);
}

static void forget_newest_kernel(polytile_program *program) {
    program_kernel *newest = program->kernels;
    program->kernels = newest->next;
    free(newest->declaration);
    free(newest);
}

static void forget_newest_parameter(polytile_program *program) {
    program_parameter *newest = program->parameters;
    program->parameters = newest->next;
    free((char *)(uintptr_t)newest->value.name);
    free(newest);
}

void polytile_program_close(polytile_program *program) {
    if (program == NULL)
        return;
    require_success(program, polytile_queue_wait(program->queue));
    while (program->arrays != NULL)
        let_newest_go(program);
    while (program->kernels != NULL)
        forget_newest_kernel(program);
    while (program->parameters != NULL)
        forget_newest_parameter(program);
    polytile_context_destroy(program->ctx);
    free(program);
}

static const char bind[] = "polytile_program_bind", set[] = "polytile_program_set",
                  launch[] = "polytile_program_launch";

static int count_names(const char *names) {
    int n_names = 0;
    names += strspn(names, ", ");
    while (*names != '\0') {
        n_names++;
        names += strcspn(names, ", ");
        names += strspn(names, ", ");
    }
    return n_names;
}

/** Copy the first name of a list, and return what follows it. */
static const char *take_name(const char *names, char *name) {
    const size_t length = strcspn(names, ", ");
    if (length >= NAME_BYTES)
        end_program("%s: the name \"%.*s...\" has %zu bytes, and may have %d; give a shorter one",
                    bind, NAME_BYTES - 1, names, length, NAME_BYTES - 1);
    memcpy(name, names, length);
    name[length] = '\0';
    if (!pti_is_identifier(name))
        end_program(
            "%s: no declaration can have an array with the name \"%s\": names are letters, digits "
            "and _, and begin with no digit; give another one, as \"B\", POLYTILE_DATA(%s)",
            bind, name, name);
    return names + length + strspn(names + length, ", ");
}

/** End the process if an array has this name, or this memory. */
static void check_bound_once(const polytile_program *program, const char *name,
                             const void *memory) {
    for (const program_array *at = program->arrays; at != NULL; at = at->next) {
        const char *bound = polytile_array_get_name(at->array);
        if (strcmp(bound, name) == 0)
            end_program(
                "%s: there is an array with the name %s already; give this one another name", bind,
                name);
        if (memory != NULL && at->memory == memory)
            end_program(
                "%s: the memory of %s is bound already, as %s; bind it once, and use that name",
                bind, name, bound);
    }
}

static polytile_array *attach_array(polytile_program *program, const char *name, polytile_type type,
                                    const polytile_domain *domain, void *memory) {
    polytile_array *array;
    require_success(program,
                    polytile_array_wrap_domain(program->ctx, name, type, domain, memory, &array));
    require_success(program, polytile_queue_attach(program->queue, 1, &array));
    return array;
}

/** Return the extent of a range that begins at 0. */
static int64_t extent_of_range(const char *name, int dimension, polytile_range range) {
    if (range.lo != 0 || range.step != 1)
        end_program(
            "%s: the domain of internal array %s has to begin at 0 with steps of 1; dimension %d "
            "is "
            "%" PRId64 ":%" PRId64 ":%" PRId64,
            bind, name, dimension, range.lo, range.hi, range.step);
    if (range.hi == INT64_MAX)
        end_program(
            "%s: dimension %d of internal array %s has more elements than 64 bits can count", bind,
            dimension, name);
    return range.hi + 1;
}

static polytile_array *create_internal(polytile_program *program, const char *name,
                                       polytile_type type, const polytile_domain *domain) {
    polytile_array *array;
    int64_t extents[POLYTILE_MAX_DIMS] = {0};
    for (int d = 0; d < domain->n_dims && d < POLYTILE_MAX_DIMS; d++)
        extents[d] = extent_of_range(name, d, domain->range[d]);
    require_success(program, polytile_queue_create_array(program->queue, name, type, domain->n_dims,
                                                         extents, &array));
    return array;
}

static void bind_one(polytile_program *program, const char *name, polytile_type type,
                     const polytile_domain *domain, void *memory) {
    check_bound_once(program, name, memory);
    program_array *made = allocate_entry(sizeof *made);
    made->memory = memory;
    made->array = memory != NULL ? attach_array(program, name, type, domain, memory)
                                 : create_internal(program, name, type, domain);
    made->next = program->arrays;
    program->arrays = made;
}

void polytile_program_bind(polytile_program *program, polytile_type type,
                           const polytile_domain *domain, const char *names, int n_arrays,
                           void *const *memory) {
    char name[NAME_BYTES];
    require_given(program, bind, "the program");
    require_given(domain, bind, "the domain");
    require_given(names, bind, "the list of names");
    require_given(memory, bind, "the list of arrays' memory");
    for (int a = 0; a < n_arrays; a++) {
        if (count_names(names) == 0)
            end_program("%s: there are fewer names than arrays, %d and %d; give each array one",
                        bind, a, n_arrays);
        names = take_name(names, name);
        bind_one(program, name, type, domain, memory[a]);
    }
    if (*names != '\0')
        end_program("%s: there are more names than arrays, %d and %d; give each array one", bind,
                    n_arrays + count_names(names), n_arrays);
}

static char *copy_text(const char *text) {
    const size_t n_bytes = strlen(text) + 1;
    return memcpy(allocate_entry(n_bytes), text, n_bytes);
}

static program_parameter *find_parameter(const polytile_program *program, const char *name) {
    program_parameter *at = program->parameters;
    while (at != NULL && strcmp(at->value.name, name) != 0)
        at = at->next;
    return at;
}

static program_parameter *add_parameter(polytile_program *program, const char *name) {
    program_parameter *made = allocate_entry(sizeof *made);
    made->value.name = copy_text(name);
    made->next = program->parameters;
    program->parameters = made;
    return made;
}

void polytile_program_set(polytile_program *program, polytile_parameter parameter) {
    require_given(program, set, "the program");
    require_given(parameter.name, set, "the parameter's name");
    if (!pti_is_identifier(parameter.name))
        end_program(
            "%s: no declaration can have a parameter with the name \"%s\": names are letters, "
            "digits and _, and begin with no digit",
            set, parameter.name);
    program_parameter *found = find_parameter(program, parameter.name);
    if (found == NULL)
        found = add_parameter(program, parameter.name);
    parameter.name = found->value.name;
    found->value = parameter;
}

static program_kernel *add_kernel(polytile_program *program, const char *declaration,
                                  const polytile_implementation *implementation) {
    program_kernel *made = allocate_entry(sizeof *made);
    made->implementation = *implementation;
    made->next = program->kernels;
    require_success(
        program, polytile_kernel_create(program->ctx, declaration, implementation, &made->kernel));
    made->declaration = copy_text(declaration);
    program->kernels = made;
    return made;
}

/** Return whether two implementations are the same, member by member. */
static bool are_same_implementations(const polytile_implementation *one,
                                     const polytile_implementation *other) {
    return one->host == other->host && one->user == other->user &&
           one->n_indices == other->n_indices && one->n_views == other->n_views &&
           one->views == other->views && one->n_parameters == other->n_parameters &&
           one->parameters == other->parameters && one->cuda == other->cuda &&
           one->cuda_contiguous == other->cuda_contiguous &&
           one->host_launcher == other->host_launcher &&
           one->cuda_launcher == other->cuda_launcher &&
           one->host_takes_pieces == other->host_takes_pieces &&
           one->cuda_pieces == other->cuda_pieces && one->team == other->team &&
           one->takes_steps == other->takes_steps &&
           one->has_cuda_handles == other->has_cuda_handles &&
           one->specialise == other->specialise && one->cuda_coarse == other->cuda_coarse &&
           one->n_coarse == other->n_coarse && one->cuda_tiles == other->cuda_tiles &&
           one->cuda_lanes == other->cuda_lanes &&
           one->cuda_launcher_overlaps == other->cuda_launcher_overlaps &&
           one->cuda_tiles_go_round == other->cuda_tiles_go_round;
}

static bool is_made_from(const program_kernel *known, const char *declaration,
                         const polytile_implementation *implementation) {
    return are_same_implementations(&known->implementation, implementation) &&
           strcmp(known->declaration, declaration) == 0;
}

static program_kernel *find_kernel(const polytile_program *program, const char *declaration,
                                   const polytile_implementation *implementation) {
    program_kernel *at = program->kernels;
    while (at != NULL && !is_made_from(at, declaration, implementation))
        at = at->next;
    return at;
}

/** Collect the values of a kernel's parameters that are set, and return how many there are. */
static int collect_parameters(const polytile_program *program, const polytile_kernel *kernel,
                              polytile_parameter *values) {
    int n_values = 0;
    for (int k = 0; k < polytile_kernel_get_n_parameters(kernel); k++) {
        const program_parameter *found =
            find_parameter(program, polytile_kernel_get_parameter_name(kernel, k));
        if (found != NULL)
            values[n_values++] = found->value;
    }
    return n_values;
}

void polytile_program_launch(polytile_program *program, const char *declaration,
                             const polytile_implementation *implementation,
                             const polytile_domain *domain) {
    require_given(program, launch, "the program");
    require_given(declaration, launch, "the declaration");
    require_given(implementation, launch, "the implementation");
    require_given(domain, launch, "the domain");
    program_kernel *known = find_kernel(program, declaration, implementation);
    if (known == NULL)
        known = add_kernel(program, declaration, implementation);
    polytile_parameter values[POLYTILE_MAX_PARAMETERS];
    const polytile_launch_options options = {
        .n_parameters = collect_parameters(program, known->kernel, values), .parameters = values};
    require_success(program, polytile_queue_launch(program->queue, known->kernel, domain,
                                                   POLYTILE_BY_NAME, &options));
}
