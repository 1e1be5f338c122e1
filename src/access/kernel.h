#ifndef POLYTILE_ACCESS_KERNEL_H
#define POLYTILE_ACCESS_KERNEL_H

#include "access/declaration.h"
#include <polytile/tuning.h>

/** What registration found out about conflicts, for any launch domain and any array. */
typedef enum pti_conflict_class {
    PTI_CONFLICT_NEVER,   /* proved for every domain: launches need no further look */
    PTI_CONFLICT_DEPENDS, /* possible for some domain: each launch is analysed */
} pti_conflict_class;

struct polytile_kernel {
    pti_object object;
    polytile_declaration *declaration; /* owned by the kernel, in no context's list */
    polytile_implementation implementation;
    polytile_character character;
    pti_conflict_class conflict_class;
    struct pti_relations
        *relations; /* isl context and one map an access, built at registration; owned */
};

#endif
