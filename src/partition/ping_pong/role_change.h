#ifndef POLYTILE_PARTITION_PING_PONG_ROLE_CHANGE_H
#define POLYTILE_PARTITION_PING_PONG_ROLE_CHANGE_H

#include "base/context.h"
#include "partition/schedule/tiling.h"

/* How arrays change roles from launch to launch, as far as tiles know it. */

/** The most arrays of such launches. */
enum { PTI_PING_PONG_MOST_ARRAYS = 4 };

/** How arrays change roles from a launch to the next one. The arrays that change roles form one
 * cycle, which contains the written array; all launches have all of them. */
typedef struct pti_role_change {
    int before[PTI_PING_PONG_MOST_ARRAYS]; /* of each operand: that by which the launch before has
                                              the array */
    int n_phases; /* launches after which each array has its role again; 2: ping-pong, or an array
                     that is updated in place; 3: as three arrays of a wave equation */
    int n_alive;  /* arrays that others have written and a launch reads: all of the cycle, but for
                     one that is written without being read */
} pti_role_change;

/** Return whether a launch has two indices and arrays of two dimensions, and each thread writes one
 * element, that with its own indices. It may also read that element. */
bool pti_role_change_may_begin(const pti_instance *instance);

/** Find how arrays change roles between two launches that are alike; false: in no such way. */
bool pti_role_change_find(const pti_call *call, const pti_call *before, pti_role_change *change);

/** Return whether arrays change roles in the same way. */
bool pti_role_changes_are_alike(const pti_role_change *one, const pti_role_change *other);

/** Return whether a launch reads an array that the one before writes. */
bool pti_call_reads_result(const pti_call *call, const pti_call *before);

/** Say why a launch and the one before run in no tiles, by their arrays alone; false: they may. */
bool pti_role_change_explain_none(const pti_call *call, const pti_call *before, pti_text *why);

/** List the arrays that the next launch reads and launches have written, n_alive of them. */
void pti_role_change_list_alive(const pti_role_change *change, const pti_call *call, int *array);

/** Return the same of launches whose threads do not read the element that they write. */
bool pti_ping_pong_may_begin(const pti_instance *instance);

/** Return whether a launch reads what the one before, which is like it, wrote, but arrays do not
 * change roles in turn: the array that is written is of none of the roles before. */
bool pti_roles_change_otherwise(const pti_call *call, const pti_call *before);

#endif
