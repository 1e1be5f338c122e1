#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_EXTEND_ARRAYS_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_EXTEND_ARRAYS_H

#include "distribute/exchange/work.h"
#include "partition/schedule/joint.h"

/* What the arrays of a process's members have to contain for a superstep: of a group, which has
 * such arrays, and of a dry run, which has only their boxes. */

/** The members first .. first + n_local - 1 with their arrays. */
typedef struct pti_member_arrays {
    int first;
    int n_local;
    void *owner; /* the first argument of both functions */
    /** Let a local member's array contain a box, which may be empty. */
    polytile_status (*extend)(void *owner, int array, int local, const polytile_domain *box);
    /** Return whether a local member has an array yet. */
    bool (*has)(const void *owner, int array, int local);
} pti_member_arrays;

/** Let arrays contain what a superstep's operations and its members' work use. work: of each local
 * member. Errors: those of extend(). */
polytile_status pti_extend_for_superstep(const pti_member_arrays *arrays,
                                         const pti_joint_list *list, const pti_work *work);

/** Let a local member have an array for each operand of a launch, even one that its threads do not
 * touch. ownerships: of each array. Errors: those of extend(). */
polytile_status pti_extend_for_launch(const pti_member_arrays *arrays, const pti_call *call,
                                      const pti_ownership *ownerships, int local);

#endif
