#ifndef POLYTILE_DISTRIBUTE_GROUP_RUN_H
#define POLYTILE_DISTRIBUTE_GROUP_RUN_H

#include "distribute/group/group.h"

/* How a group takes calls and runs what they recorded: what the files of this room share. */

/** Arrays of which the launches so far are the last. */
typedef struct pti_group_last {
    int n_arrays;
    polytile_array *const *arrays;
    /** Notifies members' queues of what becomes of an array; does nothing the second time. */
    polytile_status (*notify)(pti_group *group, const polytile_array *array);
} pti_group_last;

/* launch.c */

polytile_status pti_group_launch(polytile_queue *queue, const pti_request *request,
                                 polytile_status status);

/* arrays.c */

/** Let there be at least n_arrays positions: those of scratch have no array here. Prepared
 * supersteps, which know the lists, are forgotten if these grow. False when memory runs out. */
bool pti_group_make_positions(pti_group *group, int n_arrays);

polytile_status pti_group_attach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays);
polytile_status pti_group_detach(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays);
polytile_status pti_group_create_array(polytile_queue *queue, polytile_array *array);

/* travel.c */

/** Exchange elements between the memory that programs gave for attached arrays; collective. status:
 * a failure of this process before. Errors: of any process, the same on all; nothing or not all is
 * exchanged then. */
polytile_status pti_group_exchange_memory(pti_group *group, const pti_exchange *exchange,
                                          polytile_status status);

/**
 * Bring together what lies apart, of all arrays, of some, or of those that a launch uses and does
 * not replace: every process has all of them then. Collective; without any such array nobody meets.
 *
 * status: a failure of this process before. Errors: of any process, the same on all.
 */
polytile_status pti_group_settle_all(pti_group *group, polytile_status status);
polytile_status pti_group_settle_arrays(pti_group *group, int n_arrays,
                                        polytile_array *const *arrays, polytile_status status);
polytile_status pti_group_settle_used(pti_group *group, const pti_prepared *prepared,
                                      polytile_status status);

/* detach.c */

polytile_status pti_group_discard(polytile_queue *queue, int n_arrays,
                                  polytile_array *const *arrays);

/** Have the launches so far be the last of local members that use an array. Errors: none. */
polytile_status pti_group_begin_leaving(pti_group *group, const polytile_array *array);
/** Wait for an array that began to leave, which begins now if it did not; members' queues have
 * nothing of it afterwards. Errors: of what ran before. */
polytile_status pti_group_finish_leaving(pti_group *group, const polytile_array *array);

/* run_next.c */

/** Return whether this process has failed. */
static inline bool pti_group_has_failure(const pti_group *group) {
    return group->failure.status != POLYTILE_OK;
}

/** Return this process's failure so far, whose text is the last error. */
static inline polytile_status pti_group_failure_so_far(const pti_group *group) {
    return pti_error_restore(group->ctx, &group->failure);
}

/** Return whether a recorded launch is of a team kernel. */
static inline bool pti_group_has_slots(const pti_group *group, int at) {
    return group->recorded[at].server != NULL;
}

/** End a team kernel's launch as this process has failed, or as another one has. */
void pti_group_give_up_slots(pti_group *group, pti_server *server);

/** Begin a team kernel as a superstep; *prepared stays NULL if some fail to take part, as is
 * returned. */
polytile_status pti_group_begin_team(pti_group *group, int at, pti_prepared_superstep **prepared);

/** Run a team kernel's superstep to its end, of which the slots run; *at is behind it then. */
void pti_group_end_team(pti_group *group, const pti_group_last *all,
                        pti_prepared_superstep *prepared, int *at);

/** Run the next recorded launches, as a superstep or row by row; *at is behind them then. all: the
 * arrays that leave with the last. Returns the failure of some to take part, which all know, and
 * which ends the run. */
polytile_status pti_group_run_next(pti_group *group, const pti_group_last *all, int *at);

/* run.c */

/** Run what is recorded. The error, if there is one, is kept for the next wait. */
void pti_group_run(pti_group *group);
/** Run what is recorded, after which arrays leave or are discarded: members' queues are notified
 * with the last launches, so that they know what nobody needs any more. */
void pti_group_run_to_end(pti_group *group, const pti_group_last *last);

/** Compare what is recorded, unless that was done when it began (begun.c). *differs: processes have
 * recorded different calls, as all of them know. */
polytile_status pti_group_compare_recorded(pti_group *group, bool *differs);

/* begun.c */

/** Have the slots of the newest team kernel run, with all that was launched before, so that the
 * program can speak to them. The rest is run by who waits. */
void pti_group_begin_messages(polytile_queue *queue);
/** Wait for slots that run so, before more launches come. */
void pti_group_end_messages(pti_group *group);
/** Begin the first superstep of what is recorded as soon as more launches would not change it, so
 * that the devices work while the program goes on. */
void pti_group_begin_first(pti_group *group);
/** Run what is recorded if some of it runs already, before the queue's arrays change. */
void pti_group_end_begun(pti_group *group);

/* poll.c */

polytile_status pti_group_notify_program(polytile_queue *queue, polytile_array *array,
                                         polytile_queue_callback *callback, void *user);
polytile_progress pti_group_get_progress(polytile_queue *queue);
void pti_group_cancel(polytile_queue *queue);

/* progress.c */

/** Find whether what is recorded was cancelled. Errors: CANCELLED. */
polytile_status pti_group_refuse_cancelled(const pti_group *group);
/** Note how many of the recorded launches are done, and how many of the next are running. */
void pti_group_note_progress(pti_group *group, int n_done, int n_running);

/* load_balance.c */

/** Before the first launches run, find who owns what by speed, if that is asked for. Errors:
 * NO_MEMORY. */
polytile_status pti_group_balance_load(pti_group *group);

/* compare.c */

/** A call that all processes make. */
typedef struct pti_group_call {
    uint64_t hash;     /* the same, the same call */
    const char *words; /* what it is, for the error; borrowed */
} pti_group_call;

/**
 * Find whether all processes make the same call; NULL: one that runs what is recorded. own: a
 * failure of this one, which has refused a launch.
 *
 * All processes know it if *differs is true, and have met: nobody waits for another one. It is
 * false also where this process could not compare. If one of them ends the queue, all give the
 * group up.
 *
 * Errors  INVALID, with the first call or launch that differs; that of the lowest rank that refused
 *         one.
 */
polytile_status pti_group_compare(pti_group *group, const pti_group_call *call, polytile_status own,
                                  bool *differs);

/** Errors: INVALID: the group was given up. */
polytile_status pti_group_check_given_up(const pti_group *group);

/* run_list.c */

/** A list while it is run. */
typedef struct pti_list_run {
    pti_group *group;
    const pti_joint_list *list;
    int first_op;
    pti_messages *messages;
    /** The superstep of the list, and its launches; NULL, both: the list has no launches. */
    const pti_prepared_superstep *prepared;
    const pti_recorded *recorded;
    const pti_group_last *last; /* arrays that leave with what members run last */
    bool is_ahead;              /* members get gates where the list waits */
    bool only_launches;         /* it ends behind them, and is run on later */
} pti_list_run;

/** The number of the operation behind all launches of a list, and behind what comes before them. */
int pti_group_end_of_launches(const pti_joint_list *list, int n_launches);

/** Run a list from an operation on. Every process comes through every message and combination; the
 * first error of this one is the group's failure, also one from before. */
void pti_group_run_list(const pti_list_run *run);

/* prove_superstep.c */

/** Prove what all members do of a new superstep, from the recorded launch `at` on, with
 * POLYTILE_CHECK=plan; nobody has run it. Errors: INTERNAL, NO_MEMORY. */
polytile_status pti_group_prove_superstep(const pti_group *group, int at,
                                          const pti_prepared_superstep *prepared);

#endif
