#ifndef POLYTILE_PROGRAM_H
#define POLYTILE_PROGRAM_H

/* All that a short program needs, kernel bodies included. */
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The short form, for programs that have nothing left to do after an error: a context with one
 * queue, arrays and kernels known by their names.
 *
 *     polytile_program *p = polytile_program_open("cuda:0");
 *     polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(n, n), POLYTILE_NAMED(A, B, C));
 *     polytile_program_launch(p, "add[i, j]: in A[i, j], B[i, j]; out C[i, j]", &add_kernel,
 *                             POLYTILE_EXTENTS(n, n));
 *     polytile_program_close(p);
 *
 * Errors  None of these functions returns one: it is written to stderr, and the process ends with
 *         the exit code 1. Who needs to go on uses the queue itself.
 */
typedef struct polytile_program polytile_program;

/** Open a device by its text, as polytile_queue_create() does. */
polytile_program *polytile_program_open(const char *device_text);

/** Wait until all is done and the results are in the program's memory, and end everything that was
 * made; NULL does nothing. */
void polytile_program_close(polytile_program *program);

/** Memory of arrays as two arguments, a count and a pointer: POLYTILE_DATA(A, NULL); NULL for
 * that of an internal array. */
#ifdef __cplusplus
#define POLYTILE_DATA(...)                                                                         \
    static_cast<int>(std::initializer_list<void *>{__VA_ARGS__}.size()),                           \
        std::initializer_list<void *>{__VA_ARGS__}.begin()
#else
#define POLYTILE_DATA(...)                                                                         \
    (int)(sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *)), (void *const[]) {                \
        __VA_ARGS__                                                                                \
    }
#endif

/** Variables that hold arrays' memory, with their names before them: POLYTILE_NAMED(A, B, C) is
 * "A, B, C", POLYTILE_DATA(A, B, C). Memory that an expression gives, as p->B, needs a name of its
 * own: "B", POLYTILE_DATA(p->B). */
#define POLYTILE_NAMED(...) #__VA_ARGS__, POLYTILE_DATA(__VA_ARGS__)

/**
 * Make arrays of one shape and attach them: until polytile_program_close() the program leaves their
 * memory alone. Those without memory are internal, as polytile_queue_create_array() makes them.
 *
 * Shapes  names: as many as memory, with commas between them; declarations use these names, so each
 *         is letters, digits and _ and begins with no digit. An internal array's domain begins at 0
 *         with steps of 1.
 */
void polytile_program_bind(polytile_program *program, polytile_type type,
                           const polytile_domain *domain, const char *names, int n_arrays,
                           void *const *memory);

/**
 * Queue a launch over the arrays that the declaration names.
 *
 * The kernel is created when a declaration and its implementation are first seen together, and
 * known by what is in them afterwards: text and struct may be reused. What the implementation
 * points to, its views and user, must stay as it is.
 */
void polytile_program_launch(polytile_program *program, const char *declaration,
                             const polytile_implementation *implementation,
                             const polytile_domain *domain);

/** The queue behind it, for all that this form lacks; NULL for NULL. */
polytile_queue *polytile_program_get_queue(const polytile_program *program);

#ifdef __cplusplus
}
#endif

#endif
