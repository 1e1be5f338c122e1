#ifndef POLYTILE_DISTRIBUTE_TEAM_STATE_H
#define POLYTILE_DISTRIBUTE_TEAM_STATE_H

#include "distribute/exchange/interior.h"
#include "distribute/team/team.h"

/* What the files of a team share. */

/** One launch as the program made it, until it is run. */
typedef struct pti_recorded {
    pti_prepared *prepared;  /* the queue's, used until it is run */
    polytile_kernel *kernel; /* retained */
    uint64_t words;          /* hash of what it is */
} pti_recorded;

/** A group of launches that has been cut for the members, kept for when it comes again. */
typedef struct pti_stage {
    struct pti_stage *next;
    int n_launches;
    bool runs_once;         /* nobody may compute twice what goes to memory that others share */
    bool meets;             /* see pti_team_meets() */
    int64_t *serial;        /* of the launches, as prepared */
    int64_t begins;         /* which copies it finds: pti_team.copies_id */
    int64_t ends;           /* and leaves */
    pti_copies copies;      /* that it leaves */
    pti_work *work;         /* of each local member */
    polytile_domain *inner; /* of each: threads of a group of one launch that need nothing which is
                               received; empty if there are too few of them */
    pti_exchange before;
    pti_exchange after;
    pti_route in;
    pti_route out;
} pti_stage;

/** The most stages that are kept. */
enum { PTI_TEAM_STAGES = 64 };

struct pti_team {
    polytile_context *ctx;
    polytile_queue *queue; /* whose team this is */
    pti_transport *transport;
    polytile_queue **member;  /* n_local */
    struct pti_peers **peers; /* of members whose devices are linked, at most n_local; owned */
    int n_peers;
    pti_team_options options;
    pti_member_grid grid; /* where options.grid points to, if it was given */
    pti_speed *speed;     /* where options.speed points to, likewise; owned */
    bool is_weighed;      /* shares were found from it */

    int n_arrays; /* positions there are */
    pti_team_array *array;
    pti_ownership *ownership; /* of each position, side by side as groups take them */
    polytile_array **reached; /* [position * n_local + local member], for routes */
    pti_copies copies;        /* as the next launch finds them */
    int64_t copies_id;        /* which they are; the same only if they are */
    int64_t n_copies_ids;     /* given so far */
    pti_stage *stages;        /* latest first */
    int n_stages;

    pti_recorded *recorded; /* PTI_TEAM_LAUNCHES */
    int n_recorded;
    bool was_compared; /* the first launch of all was, when it came */
    bool is_shallow;   /* members over one memory had no room for groups of several launches */
    bool was_meeting;  /* members run a stage that meets */
    pti_error failure; /* the first of the stages that are being run, of this process */

    int64_t n_launches; /* of the report */
};

/** Arrays of which the launches so far are the last. */
typedef struct pti_team_last {
    int n_arrays;
    polytile_array *const *arrays;
    polytile_status (*tell)(pti_team *team,
                            const polytile_array *array); /* what becomes of them, to
                                                       members' queues; doing nothing for the second
                                                       time */
} pti_team_last;

/* launch.c */

polytile_status pti_team_launch(polytile_queue *queue, const polytile_kernel *kernel,
                                const polytile_domain *domain, polytile_array *const *arrays,
                                const polytile_plan_options *options);
/** Let go of what is recorded, run or not. */
void pti_team_drop_recorded(pti_team *team);

/* arrays.c */

polytile_status pti_team_attach(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
polytile_status pti_team_leave(polytile_queue *queue, int n_arrays, polytile_array *const *arrays);
polytile_status pti_team_create_array(polytile_queue *queue, polytile_array *array);
polytile_status pti_team_discard(polytile_queue *queue, int n_arrays,
                                 polytile_array *const *arrays);

/* reach.c */

/** The bytes that a local member's array has, or will have once it is used. */
int64_t pti_team_expect_bytes(const pti_team *team, int position, int local);

/* leave.c */

/** Have the launches so far be the last of local members that use an array. Errors: none. */
polytile_status pti_team_begin_leaving(pti_team *team, const polytile_array *array);
/** Wait for an array that began to leave, which begins now if it did not; members' queues have
 * nothing of it afterwards. Errors: of what ran before. */
polytile_status pti_team_finish_leaving(pti_team *team, const polytile_array *array);

/* stage.c */

/** Whether what a local member owns and computes twice fits its device, so that nothing of it has
 * to leave it in between. */
bool pti_team_fits(const pti_team *team, int local);

/** Whether a launch writes memory that several members share. */
bool pti_team_shares_results(const pti_team *team, const pti_prepared *prepared);

/** The next group of what is recorded, from `at` on, cut for the members; NULL when memory runs
 * out. It is new on all processes or on none.
 */
pti_stage *pti_team_find_stage(pti_team *team, int at, bool *is_new);
/** Forget all stages: an array came or went, or lies elsewhere. */
void pti_team_forget_stages(pti_team *team);
/** Members' arrays lie elsewhere: what the transport keeps for stages is out of date. */
void pti_team_forget_routes(pti_team *team);
/** The copies were changed by other than a stage. */
void pti_team_touch_copies(pti_team *team);

/* reach_stage.c */

/** Let every local member's arrays contain all that a stage does with them. Errors: NO_MEMORY, and
 * those of what ran before. recorded: of the stage's first launch. */
polytile_status pti_team_reach_stage(pti_team *team, const pti_stage *stage,
                                     const pti_recorded *recorded);

/** Let a local member have an array for each operand of a launch over some threads, also where these
 * touch nothing of it, and lie in it with all that sections with steps span. Errors: as above. */
polytile_status pti_team_reach_operands(pti_team *team, const pti_recorded *recorded, int local,
                                        const pti_boxes *threads);

/* run.c */

/** Queue a box of a launch on a local member, whose arrays contain what it touches. Errors: those
 * of the launch, with the device. */
polytile_status pti_team_launch_box(pti_team *team, const pti_recorded *recorded, int local,
                                    const polytile_domain *box);
/** Run what is recorded. The error, if there is one, is kept for the next wait. */
void pti_team_run(pti_team *team);
/** The same, and arrays leave behind it, or are discarded: members' queues are told with the last
 * launches, so that they know what nobody needs any more. */
void pti_team_run_to_end(pti_team *team, const pti_team_last *last);

/* fit.c */

/** Whether one block of each member's threads fits its device, as far as that is known when a
 * launch is made. Errors: NO_FIT, with the device; those of pti_grain_choose(). */
polytile_status pti_team_check_fit(const pti_team *team, const pti_prepared *prepared);
/** The same of one local member and a box of the launch's threads. */
polytile_status pti_team_check_box(const pti_team *team, const pti_prepared *prepared, int local,
                                   const polytile_domain *box);

/* weigh.c */

/** Before the first launches run: find by speed, if that is asked for, who owns what. Errors:
 * NO_MEMORY. */
polytile_status pti_team_weigh(pti_team *team);

/* pool_launch.c */

/** Run a launch of what is recorded piece by piece, by whoever is done with one, if members take
 * them from a pool and it can be done: *is_done; else the log says why not. All before it is done
 * then, and so is the launch. Errors: of any member; NO_MEMORY. */
polytile_status pti_team_run_pooled(pti_team *team, int at, bool *is_done);

/* compare.c */

/** Whether all processes are about to do the same; if not, the first launch that differs is named.
 * Errors: INVALID. */
polytile_status pti_team_compare(pti_team *team);

/* settle.c */

/** Every member is done, whatever fails; status: a failure before. Returns the first failure, whose
 * text is the last error. */
polytile_status pti_team_settle_members(const pti_team *team, polytile_status status);

/** The same, and nobody still reads what is about to be written. */
polytile_status pti_team_settle_all(pti_team *team);

/** Whether members over one memory read there what others compute in the same stage: nothing that
 * they write goes there before all of them are done. shares: of the launches. */
bool pti_team_meets(const pti_team *team, const pti_group *group, const pti_share *shares);

/** After a stage that meets: wait until all members are done with it. */
polytile_status pti_team_settle_meeting(pti_team *team);

/** Members over one memory do not write what others still read: all wait for all, if any are about
 * to. */
polytile_status pti_team_settle_lent(pti_team *team, const pti_stage *stage);

/**
 * Members over one memory give up what they own and others are about to write there, and all wait
 * until they have: a device that had to make room would bring older elements home later, over the
 * new ones. What anybody reads in the stage comes home first. Errors: of what ran before.
 */
polytile_status pti_team_give_up_passed(const pti_team *team, const pti_stage *stage);

/* peers.c */

/** Link the members' devices that can be. Errors: NO_MEMORY. */
polytile_status pti_team_link(pti_team *team);
/** The members' devices are closed. */
void pti_team_unlink(pti_team *team);
/** Have linked devices share what several of them are about to read in a stage: its launches are
 * queued, and none of them begins meanwhile. Errors: NO_MEMORY. */
polytile_status pti_team_share_spans(pti_team *team, const pti_stage *stage);

/* combine.c */

/** Run the last launch of a stage, whose results members combine: all get the whole. All agree
 * first, processes that failed before too. */
polytile_status pti_team_combine(pti_team *team, const pti_stage *stage,
                                 const pti_recorded *recorded);

/* exchange.c */

/** Bring what local members send to their host memory, wait until nothing uses what they receive,
 * and begin to move. has_failed: this process only keeps the others from waiting. */
polytile_status pti_team_begin_exchange(pti_team *team, pti_route *route, bool has_failed);
/** Wait for what local members receive, and tell their queues. */
polytile_status pti_team_end_exchange(pti_team *team, pti_route *route, bool has_failed);

#endif
