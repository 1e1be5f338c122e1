#ifndef POLYTILE_PARTITION_PROVE_JOINT_JOINT_REPLAY_H
#define POLYTILE_PARTITION_PROVE_JOINT_JOINT_REPLAY_H

#include "partition/schedule/joint.h"

/*
 * The state of a joint schedule while it is replayed, launch by launch: all lists up to the first
 * operation that is after a launch, then what the launch changed, and so on.
 *
 * Replaying in one order is enough. Lists wait for each other only for messages, whose order is
 * fixed, and to combine: however fast they run, they do the same, or nobody can go on. Within a
 * list whatever is not waited for counts as running.
 */

/** What is known of one array and one member. Versions are those before the current launch. */
typedef struct pti_joint_cell {
    pti_boxes valid; /* as in pti_joint_holding, as are the next two */
    pti_boxes loose;
    pti_boxes reading;
    pti_boxes former;   /* part of `reading` that was written since */
    pti_boxes read;     /* what threads of the current launch may be reading */
    pti_boxes fetching; /* downloads of the newest version that are not waited for */
    /** Downloads of former versions that are not waited for: they may overwrite what is newer on
     * the host. */
    pti_boxes outdated;
    pti_boxes forgetting; /* what the device forgets; it is not waited for */
    /** Part of `forgetting` that a device which keeps it may bring to the host once it no longer
     * keeps it. */
    pti_boxes late;
    pti_boxes written; /* by the current launch */
    pti_boxes held;    /* written and kept: its device does not read them in host memory */
    pti_boxes pulled;  /* that its device got from another one's, and has not forgotten: host memory
                          may not have them */
    pti_boxes lent;    /* that others are pulling from its device */
    bool reduces;      /* threads of the current launch that nobody waited for reduce into partial
                     results */
} pti_joint_cell;

/** A message on its way. */
typedef struct pti_joint_message {
    const pti_joint_op *op;
    bool is_received;
} pti_joint_message;

/** The replay of a joint schedule, launch by launch. */
typedef struct pti_joint_replay {
    const pti_joint_schedule *schedule;
    pti_text *why;
    int launch;           /* the current one */
    int *process;         /* of each member: its list */
    int *next;            /* of each list: the first operation that is not replayed */
    bool *is_busy;        /* of each member: its device may have something to do */
    bool *is_pulling;     /* of each member: its device may still pull */
    pti_joint_cell *cell; /* [array * n_members + member] */
    pti_boxes *on_host;   /* [array * n_members + first member with a host memory]: newest there */
    bool *combines;       /* [launch * n_arrays + array] */
    pti_boxes *combined;  /* of each array, by the current launch */
    pti_boxes *threads;   /* of each member, of the current launch */
    int n_messages;
    int message_capacity;
    pti_joint_message *message;
    pti_boxes touched; /* reused, as all below */
    pti_boxes listed;
    pti_boxes changed;
    pti_boxes rest;
    pti_boxes old;
    bool failed; /* an allocation */
} pti_joint_replay;

/** An operation of a list. */
typedef struct pti_joint_place {
    const pti_joint_list *list;
    const pti_joint_op *op;
} pti_joint_place;

static inline pti_joint_cell *pti_joint_cell_of(const pti_joint_replay *replay, int array,
                                                int member) {
    return &replay->cell[array * replay->schedule->n_members + member];
}

/** What a member's host memory has of an array in its newest version. */
static inline pti_boxes *pti_joint_on_host(const pti_joint_replay *replay, int array, int member) {
    int at = array * replay->schedule->n_members;
    return &replay->on_host[at + replay->schedule->memory[at + member]];
}

/** Return whether a launch's results in an array are combined. */
static inline bool pti_joint_combines(const pti_joint_replay *replay, int launch, int array) {
    return replay->combines[launch * replay->schedule->n_arrays + array];
}

/** Add a set to another one; boxes are joined once, if there are more of them than
 * some power of two for the first time. */
static inline void pti_joint_unite_sets(pti_boxes *set, const pti_boxes *other) {
    enum { LONG = 16 };
    const int n_before = set->n_boxes;
    if (n_before == 0)
        pti_boxes_copy(set, other);
    else if (pti_boxes_find_meeting(set, other) != NULL)
        pti_boxes_unite(set, other, pti_boxes_gather);
    else
        pti_boxes_unite(set, other, pti_boxes_append);
    if (set->n_boxes >= LONG && (n_before ^ set->n_boxes) > n_before)
        pti_boxes_merge(set);
}

/** Add a list, of which boxes may overlap, to a set. */
static inline void pti_joint_unite(pti_boxes *set, const pti_boxes *list) {
    if (set->n_boxes == 0 && list->n_boxes == 1)
        pti_boxes_copy(set, list);
    else
        pti_boxes_unite(set, list, pti_boxes_include);
}

/* joint_shape.c */

/** Check that all numbers are in range, boxes are disjoint and in their arrays, and lists have each
 * member once. */
bool pti_joint_check_shape(const pti_joint_schedule *schedule, pti_text *why);

/** Write a violation's text: the operation and, unless NULL, a box. Returns false. */
bool pti_joint_write_flaw(pti_text *why, const pti_joint_schedule *schedule, pti_joint_place at,
                          const polytile_domain *box, const char *reason);

/** Write the violation of an operation that is replayed. Returns false. */
static inline bool pti_joint_reject(const pti_joint_replay *replay, pti_joint_place at,
                                    const polytile_domain *box, const char *reason) {
    return pti_joint_write_flaw(replay->why, replay->schedule, at, box, reason);
}

/* joint_move.c */

/** Let elements change: downloads of them that are under way bring a former version to the host. */
void pti_joint_outdate(pti_joint_replay *replay, pti_joint_cell *cell, const pti_boxes *changed);

/** Note as done all that an operation waits for. */
void pti_joint_settle(pti_joint_replay *replay, pti_joint_place at);

/** A box of a set that a member's launches may be reading in host memory; NULL: none. */
const polytile_domain *pti_joint_find_reading(const pti_joint_cell *cell, const pti_boxes *boxes);

/** Replay one operation that moves elements; a message is there when it is received. */
bool pti_joint_move(pti_joint_replay *replay, pti_joint_place at);

/** The first send between the processes of two members that is not received; NULL: none. */
pti_joint_message *pti_joint_find_message(const pti_joint_replay *replay, int from, int to);

/** Prove that a process's thread may write elements in a member's host memory. */
bool pti_joint_may_write(const pti_joint_replay *replay, pti_joint_place at, int member);

/* joint_pull.c */

/** Let a member's device forget elements. */
void pti_joint_forget(pti_joint_replay *replay, pti_joint_place at, pti_joint_cell *cell);

/** Replay a pull: nothing runs meanwhile on the devices of the process. */
bool pti_joint_pull(pti_joint_replay *replay, pti_joint_place at);

/** Return whether a member of a process has pulls that are not waited for. */
bool pti_joint_find_pulling(const pti_joint_replay *replay, const pti_joint_list *list);

/** Note as done all that a member's device had to do. */
void pti_joint_settle_pulls(pti_joint_replay *replay, const pti_joint_list *list, int member);

/* joint_combine.c */

/** Combine, with all lists at the same operation. */
bool pti_joint_combine(pti_joint_replay *replay, pti_joint_place at);

/* joint_run.c */

/** What threads do with elements. */
typedef enum pti_joint_touch {
    PTI_JOINT_READS,
    PTI_JOINT_MOVES,    /* of what they write the hull, if the operand is partial */
    PTI_JOINT_MAY_WRITE /* what they may write, in parts: hulls of some threads each */
} pti_joint_touch;

/** Add what threads touch of an operand to a set. */
void pti_joint_add_touched(pti_joint_replay *replay, const pti_call *call, int operand,
                           const pti_boxes *threads, pti_joint_touch touch, pti_boxes *touched);

/** Replay a launch's threads. */
bool pti_joint_run(pti_joint_replay *replay, pti_joint_place at);

/** Let the current launch be done: what it wrote is the newest now. */
bool pti_joint_end_launch(pti_joint_replay *replay);

#endif
