#include <polytile/program.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A kernel and what it was made from; a list, the newest first. */
typedef struct program_kernel {
    const char *declaration;
    const polytile_implementation *implementation;
    polytile_kernel *kernel;
    struct program_kernel *next;
} program_kernel;

/** An array that is attached; a list, the newest first. */
typedef struct program_array {
    polytile_array *array;
    struct program_array *next;
} program_array;

struct polytile_program {
    polytile_context *ctx;
    polytile_queue *queue;
    program_kernel *kernels;
    program_array *arrays;
};

enum { NAME_BYTES = 64 };

_Noreturn static void die(const char *text) {
    fprintf(stderr, "polytile: %s\n", text);
    exit(EXIT_FAILURE);
}

static void require(const polytile_program *program, polytile_status status) {
    if (status != POLYTILE_OK)
        die(polytile_last_error(program->ctx));
}

static void *allocate(size_t n_bytes) {
    void *memory = calloc(1, n_bytes);
    if (memory == NULL)
        die(polytile_status_text(POLYTILE_NO_MEMORY));
    return memory;
}

polytile_program *polytile_program_open(const char *device_text) {
    polytile_program *program = allocate(sizeof *program);
    const polytile_status status = polytile_context_create(&program->ctx);
    if (status != POLYTILE_OK)
        die(polytile_status_text(status));
    require(program, polytile_queue_create(program->ctx, device_text, &program->queue));
    return program;
}

polytile_queue *polytile_program_get_queue(const polytile_program *program) {
    return program->queue;
}

static void detach_newest(polytile_program *program) {
    program_array *newest = program->arrays;
    require(program, polytile_queue_detach(program->queue, 1, &newest->array));
    program->arrays = newest->next;
    free(newest);
}

static void forget_newest_kernel(polytile_program *program) {
    program_kernel *newest = program->kernels;
    program->kernels = newest->next;
    free(newest);
}

void polytile_program_close(polytile_program *program) {
    if (program == NULL)
        return;
    require(program, polytile_queue_wait(program->queue));
    while (program->arrays != NULL)
        detach_newest(program);
    while (program->kernels != NULL)
        forget_newest_kernel(program);
    polytile_context_destroy(program->ctx);
    free(program);
}

/** Copy the first name of a list, and return what follows it. */
static const char *take_name(const char *names, char *name) {
    const size_t length = strcspn(names, ", ");
    if (length == 0 || length >= NAME_BYTES)
        die("polytile_program_bind: there are fewer names than arrays, or one has over 63 bytes");
    memcpy(name, names, length);
    name[length] = '\0';
    return names + length + strspn(names + length, ", ");
}

static void attach(polytile_program *program, const char *name, polytile_type type,
                   const polytile_domain *domain, void *memory) {
    program_array *made = allocate(sizeof *made);
    require(program,
            polytile_array_wrap_domain(program->ctx, name, type, domain, memory, &made->array));
    require(program, polytile_queue_attach(program->queue, 1, &made->array));
    made->next = program->arrays;
    program->arrays = made;
}

static void create_internal(polytile_program *program, const char *name, polytile_type type,
                            const polytile_domain *domain) {
    polytile_array *array;
    int64_t extents[POLYTILE_MAX_DIMS] = {0};
    for (int d = 0; d < domain->n_dims && d < POLYTILE_MAX_DIMS; d++) {
        if (domain->range[d].lo != 0)
            die("polytile_program_bind: the domain of an internal array has to begin at 0");
        extents[d] = domain->range[d].hi + 1;
    }
    require(program, polytile_queue_create_array(program->queue, name, type, domain->n_dims,
                                                 extents, &array));
}

void polytile_program_bind(polytile_program *program, polytile_type type,
                           const polytile_domain *domain, const char *names, int n_arrays,
                           void *const *memory) {
    char name[NAME_BYTES];
    for (int a = 0; a < n_arrays; a++) {
        names = take_name(names, name);
        if (memory[a] != NULL)
            attach(program, name, type, domain, memory[a]);
        else
            create_internal(program, name, type, domain);
    }
    if (*names != '\0')
        die("polytile_program_bind: there are more names than arrays");
}

static program_kernel *add_kernel(polytile_program *program, const char *declaration,
                                  const polytile_implementation *implementation) {
    program_kernel *made = allocate(sizeof *made);
    *made = (program_kernel){declaration, implementation, NULL, program->kernels};
    require(program,
            polytile_kernel_create(program->ctx, declaration, implementation, &made->kernel));
    program->kernels = made;
    return made;
}

static program_kernel *find_kernel(const polytile_program *program, const char *declaration,
                                   const polytile_implementation *implementation) {
    program_kernel *at = program->kernels;
    while (at != NULL && (at->declaration != declaration || at->implementation != implementation))
        at = at->next;
    return at;
}

void polytile_program_launch(polytile_program *program, const char *declaration,
                             const polytile_implementation *implementation,
                             const polytile_domain *domain) {
    program_kernel *known = find_kernel(program, declaration, implementation);
    if (known == NULL)
        known = add_kernel(program, declaration, implementation);
    require(program,
            polytile_queue_launch(program->queue, known->kernel, domain, POLYTILE_BY_NAME, NULL));
}
