#ifndef POLYTILE_ACCESS_DECLARE_KERNEL_H
#define POLYTILE_ACCESS_DECLARE_KERNEL_H

#include "access/declare/declaration.h"
#include <polytile/array.h>
#include <polytile/tuning.h>

/* Kernels: a declaration with what it runs. access/kernel.h has what is done with them. */

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

#endif
