#ifndef POLYTILE_PROGRAM_H
#define POLYTILE_PROGRAM_H

/* All that a short program needs, kernel bodies included. */
#include <polytile/kernel.h>
#include <polytile/polytile.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A context with one queue, and arrays and kernels known by their names: a short form for programs
 * that end on errors.
 *
 *     polytile_program *p = polytile_program_open("cuda:0");
 *     polytile_program_bind(p, POLYTILE_F32, POLYTILE_EXTENTS(n, n), POLYTILE_NAMED(A, B, C));
 *     polytile_program_launch(p, "add[i, j]: in A[i, j], B[i, j]; out C[i, j]", &add_kernel,
 *                             POLYTILE_EXTENTS(n, n));
 *     polytile_program_close(p);
 *
 * Errors  Each function writes its error to stderr and ends the process with exit code 1. Programs
 *         that must go on use the queue itself.
 */
typedef struct polytile_program polytile_program;

/** Open a device by its text, as polytile_queue_create() does. */
polytile_program *polytile_program_open(const char *device_text);

/** Wait until the results are in the program's memory, and destroy everything; NULL does
 * nothing. */
void polytile_program_close(polytile_program *program);

/** Memory of arrays as two arguments, a count and a pointer: POLYTILE_DATA(A, NULL). NULL stands
 * for an internal array. */
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

/** Names of variables that hold arrays' memory, then the memory: POLYTILE_NAMED(A, B, C) is "A, B,
 * C", POLYTILE_DATA(A, B, C). Give other expressions a name: "B", POLYTILE_DATA(p->B). */
#define POLYTILE_NAMED(...) #__VA_ARGS__, POLYTILE_DATA(__VA_ARGS__)

/**
 * Make arrays of one shape and attach them. The program leaves their memory alone until
 * polytile_program_close(). Arrays without memory are internal, as of
 * polytile_queue_create_array().
 *
 * Shapes  names: as many as memory, with commas between them; declarations use these names, so each
 *         is letters, digits and _ and begins with no digit. An internal array's domain begins at 0
 *         with steps of 1.
 */
void polytile_program_bind(polytile_program *program, polytile_type type,
                           const polytile_domain *domain, const char *names, int n_arrays,
                           void *const *memory);

/**
 * Set a parameter for the launches from now on whose declarations have one of its name. Launches
 * before keep the value that they had.
 *
 *     polytile_program_set(p, POLYTILE_PARAMETER("a", 2.5f));
 *
 * Errors  A name that no declaration can have; that the type of a parameter cannot hold the value
 *         is found by the launch.
 */
void polytile_program_set(polytile_program *program, polytile_parameter parameter);

/**
 * Queue a launch over the arrays that the declaration names, with the parameters that it names.
 *
 * The first launch with a declaration and an implementation creates a kernel; later ones find it by
 * their contents, so text and struct may be reused. What the implementation points to, its views
 * and user, must stay as it is.
 */
void polytile_program_launch(polytile_program *program, const char *declaration,
                             const polytile_implementation *implementation,
                             const polytile_domain *domain);

/** Return the queue, for all that this form lacks; NULL for NULL. */
polytile_queue *polytile_program_get_queue(const polytile_program *program);

#ifdef __cplusplus
}
#endif

#endif
