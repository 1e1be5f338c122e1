#ifndef POLYTILE_ACCESS_DECLARE_KERNEL_H
#define POLYTILE_ACCESS_DECLARE_KERNEL_H

#include "access/declare/declaration.h"
#include <polytile/array.h>
#include <polytile/tuning.h>

/* Kernels: a declaration with what it runs. */

/** What registration proves about conflicts, for any launch domain and any array. */
typedef enum pti_conflict_class {
    PTI_CONFLICT_NEVER,   /* proved for every domain: launches need no further look */
    PTI_CONFLICT_DEPENDS, /* possible for some domain: each launch is analysed */
} pti_conflict_class;

/** A kernel, with what registration found out about it. */
struct polytile_kernel {
    pti_object object;
    polytile_declaration *declaration; /* owned by the kernel, in no context's list */
    uint64_t declaration_hash;
    polytile_implementation implementation;
    polytile_character character;
    bool has_parameters_in_subscripts;
    int body_value[POLYTILE_MAX_PARAMETERS]; /* of each parameter: the number of the body's value
                                                that it is; -1: the body does not take it */
    pti_conflict_class conflict_class;
    struct pti_relations *relations; /* NULL until isl is asked about the kernel; owned */
    int n_users;                     /* who retain it */
    bool is_destroyed;               /* by the program: it ends with its last user */
    bool is_own;                     /* the library's, whose declaration is right: not checked */
    bool *warned; /* of each array, whether it was said to be declared too wide; NULL: of none. See
                     launch/access_check/use.c; owned */
};

/** Return whether all that a kernel runs finds elements of arrays in pieces; one that runs nothing
 * is planned as if it did. */
bool pti_takes_pieces(const polytile_implementation *implementation);

/** Return whether sub-kernels may run side by side; launchers of GPUs may have memory of their own,
 * which one call uses after the other, unless they say that they have none. */
bool pti_may_run_concurrently(const polytile_implementation *implementation);

/** Return whether few threads are much work, so that sub-kernels of a launch are run in lanes: each
 * thread has a thread block, or what a launcher enqueues. A kernel that runs nothing is planned as
 * if it were so. */
bool pti_runs_in_lanes(const polytile_implementation *implementation);

/** Refuse a launch without a kernel or a domain; where names the device or the caller. Errors:
 * INVALID. */
polytile_status pti_kernel_check_launch(polytile_context *ctx, const char *where,
                                        const polytile_kernel *kernel,
                                        const polytile_domain *domain);
/** Refuse a list that has not as many arrays as the kernel. Errors: INVALID. */
polytile_status pti_kernel_check_arrays(polytile_context *ctx, const polytile_kernel *kernel,
                                        int n_arrays, polytile_array *const *arrays);

/** List the array of each operand of a launch, out of those that it is given; NULL: scratch.
 * Shapes  operands: as many as the declaration has arrays. */
void pti_kernel_list_operands(const polytile_kernel *kernel, polytile_array *const *arrays,
                              polytile_array **operands);

/** Replace what a kernel runs; who runs it has a copy of what it was. Errors: as
 * polytile_kernel_create(). */
polytile_status pti_kernel_bind(polytile_kernel *kernel,
                                const polytile_implementation *implementation);

/**
 * Keep a kernel, which the program may destroy meanwhile, until as many calls of release.
 *
 * For the thread that uses the context, and never beyond the context's end. Keeps the declaration
 * and what was proved of it; what its implementation points to is the program's.
 */
void pti_kernel_retain(const polytile_kernel *kernel);
/** Release a kernel; NULL does nothing. */
void pti_kernel_release(const polytile_kernel *kernel);

#endif
