#ifndef POLYTILE_DECLARATION_H
#define POLYTILE_DECLARATION_H

#include <polytile/array.h>
#include <polytile/context.h>
#include <polytile/domain.h>
#include <polytile/implementation.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a kernel uses the elements of a section: name in the API, word in a declaration. */
#define POLYTILE_ROLES(X)                                                                          \
    X(IN, "in")                                                                                    \
    X(OUT, "out")                                                                                  \
    X(INOUT, "inout")                                                                              \
    X(SUM, "sum")                                                                                  \
    X(PROD, "prod")                                                                                \
    X(MIN, "min")                                                                                  \
    X(MAX, "max")                                                                                  \
    X(ARGMIN, "argmin")                                                                            \
    X(ARGMAX, "argmax")                                                                            \
    X(SCRATCH, "scratch")

typedef enum polytile_role {
#define POLYTILE_ROLE_CODE(name, text) POLYTILE_##name,
    POLYTILE_ROLES(POLYTILE_ROLE_CODE)
#undef POLYTILE_ROLE_CODE
} polytile_role;

/**
 * A kernel: the declaration of what its threads touch, and its implementations. Immutable.
 *
 * The first one of a process replaces GMP's memory functions, and calls those set before. From then
 * on a failed allocation no longer ends the process; see docs/faults.md.
 */
typedef struct polytile_kernel polytile_kernel;

/**
 * Create a kernel from a declaration such as "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out
 * B[i, j]".
 *
 * A launch takes one array for each distinct array name, in the order in which the names first
 * appear. It takes none for scratch, of which bodies get views among the others.
 *
 * Shapes  At most 8 indices, 16 parameters and 8 subscripts a section; docs/declarations.md has the
 *         grammar.
 * Errors  DECLARATION (the text shows the column with a caret; or the implementation was written
 *         for another number of indices or arrays), UNSUPPORTED (a relation in braces that isl
 *         cannot bound), INVALID (reserved members), NO_MEMORY. Conflicts show at each launch.
 * Owns    Text and implementation are copied; what its user and views point to stays the caller's.
 *         The implementation may be NULL for a kernel that is only planned. The context owns the
 *         kernel, which polytile_kernel_destroy() can end sooner.
 */
polytile_status polytile_kernel_create(polytile_context *ctx, const char *declaration,
                                       const polytile_implementation *implementation,
                                       polytile_kernel **kernel);

/** End a kernel; NULL does nothing. */
void polytile_kernel_destroy(polytile_kernel *kernel);

/** Return its name in the declaration; names live as long as the kernel. */
const char *polytile_kernel_get_name(const polytile_kernel *kernel);
/** Return how many indices a thread has. */
int polytile_kernel_get_n_indices(const polytile_kernel *kernel);
/** Return how many arrays a launch takes: scratch does not count. */
int polytile_kernel_get_n_arrays(const polytile_kernel *kernel);
/** Return the name of an array, in the order in which a launch takes them. */
const char *polytile_kernel_get_array_name(const polytile_kernel *kernel, int array);
/** Return what a kernel does with an array, over all its sections: IN where it only reads it, OUT
 * where it only overwrites elements, INOUT where it does both, else how threads combine into it. */
polytile_role polytile_kernel_get_array_role(const polytile_kernel *kernel, int array);
/** Return how many views bodies get: arrays and scratch, in the order in which their names first
 * appear. */
int polytile_kernel_get_n_views(const polytile_kernel *kernel);
/** Return the name of a view: of its array, or scratch. */
const char *polytile_kernel_get_view_name(const polytile_kernel *kernel, int view);
/** Return how many parameters the declaration names. */
int polytile_kernel_get_n_parameters(const polytile_kernel *kernel);
/** Return the name of a parameter, in the order in which the declaration first names them. */
const char *polytile_kernel_get_parameter_name(const polytile_kernel *kernel, int parameter);
/** Return the type of a parameter. */
polytile_type polytile_kernel_get_parameter_type(const polytile_kernel *kernel, int parameter);

/** The most parameters of a declaration. */
enum { POLYTILE_MAX_PARAMETERS = 16 };

/** constant + sum of index[k] * (thread index k) + sum of parameter[k] * (value of parameter k). */
typedef struct polytile_affine {
    int64_t constant;
    int64_t index[POLYTILE_MAX_DIMS];
    int64_t parameter[POLYTILE_MAX_PARAMETERS];
} polytile_affine;

/** What becomes of indices beyond the ends of an array. */
typedef enum polytile_edge {
    POLYTILE_EDGE_CLIP,  /* a thread touches nothing there */
    POLYTILE_EDGE_WRAP,  /* they go on at the other end: the array is periodic */
    POLYTILE_EDGE_CLAMP, /* each is the nearest index that the array has; in the role in only */
} polytile_edge;

/** Elements of an index array, such as "P[i+1]" in "V[P[i]:P[i+1]-1]". The array has the type i32
 * or i64, and is an operand: the elements are read in the role in. */
typedef struct polytile_index_elements {
    const char *array;
    int n_subscripts;
    const struct polytile_subscript *subscripts;
} polytile_index_elements;

/**
 * The elements that one thread touches along one dimension of an array: lo, lo + step, ... up to
 * hi. With an edge these are "wrap(lo:hi:step)" and "clamp(lo:hi:step)".
 *
 * from_first replaces lo by the array's first index (minus infinity), to_last replaces hi by its
 * last (infinity).
 *
 * lo_of and hi_of add what an element of an index array holds; then both ends are given, the step
 * is 1, and there is no edge. Where both are one pointer, and lo and hi are equal, the thread
 * touches an element for each of these elements: "x[K[P[i]:P[i+1]-1]]". NULL: nothing is added.
 *
 * Source  Torres et al., section III-C, signature function A<a_b, b_b, a_e, b_e, c>.
 */
typedef struct polytile_subscript {
    polytile_affine lo;
    polytile_affine hi;
    int64_t step;
    bool from_first;
    bool to_last;
    polytile_edge edge;
    const polytile_index_elements *lo_of; /* borrowed until the call returns */
    const polytile_index_elements *hi_of;
} polytile_subscript;

/** A declaration under construction, for programs that build it by calls instead of text. */
typedef struct polytile_declaration polytile_declaration;

/**
 * Begin a declaration with named indices and parameters, which are i64.
 *
 * Errors  INVALID (a NULL), DECLARATION (a name that is no identifier or comes twice, too many
 *         indices or parameters), NO_MEMORY; *declaration is NULL then.
 * Owns    Names are copied. The context owns it; polytile_declaration_destroy() can end it sooner.
 */
polytile_status polytile_declaration_create(polytile_context *ctx, const char *name, int n_indices,
                                            const char *const *indices, int n_parameters,
                                            const char *const *parameters,
                                            polytile_declaration **declaration);

/**
 * Add a parameter of another type after those added so far, as "name[i](f32 a)" does. Subscripts
 * may use integers.
 *
 * Errors  DECLARATION (no identifier; a name that is taken; a type that is none of POLYTILE_TYPES;
 *         more than POLYTILE_MAX_PARAMETERS).
 */
polytile_status polytile_declaration_add_parameter(polytile_declaration *declaration,
                                                   polytile_type type, const char *name);

/**
 * Add one section of the named array.
 *
 * fresh: of a reducing role, start from its identity ("out sum") instead of what the array holds.
 *
 * Errors  DECLARATION (empty name, a number of subscripts other than before, step < 1, fresh
 *         without reduction, an edge that clamps in another role than in, more than 1024
 *         sections; the role scratch, which needs a type; elements of index arrays beside a step
 *         or an edge; an index array that is written).
 */
polytile_status polytile_declaration_add(polytile_declaration *declaration, polytile_role role,
                                         bool fresh, const char *array, int n_subscripts,
                                         const polytile_subscript *subscripts);

/**
 * Add scratch: memory of the launch's own, as "scratch f32 w[s, 0:n-1]" does.
 *
 * A thread has the elements of its section, and nobody else has; what they hold before and after it
 * is undefined. A launch takes no array for it, and nothing is moved.
 *
 * Errors  DECLARATION (as for a section; a type that is none; a name that is an array or scratch
 *         already; a subscript without both ends, or with an edge).
 */
polytile_status polytile_declaration_add_scratch(polytile_declaration *declaration,
                                                 polytile_type type, const char *name,
                                                 int n_subscripts,
                                                 const polytile_subscript *subscripts);

/** Create a kernel from the sections added so far; more can be added later. Errors as above. */
polytile_status polytile_kernel_create_from(const polytile_declaration *declaration,
                                            const polytile_implementation *implementation,
                                            polytile_kernel **kernel);

/** End a declaration, which kernels made of it outlive; NULL does nothing. */
void polytile_declaration_destroy(polytile_declaration *declaration);

#ifdef __cplusplus
}
#endif

#endif
