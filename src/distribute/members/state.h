#ifndef POLYTILE_DISTRIBUTE_MEMBERS_STATE_H
#define POLYTILE_DISTRIBUTE_MEMBERS_STATE_H

#include "base/bell.h"
#include "distribute/exchange/joint_plan.h"
#include "distribute/exchange/superstep.h"
#include "distribute/exchange/transport.h"
#include "distribute/policy/policy.h"
#include "distribute/share/ownership.h"
#include "distribute/share/speed.h"
#include "queue/member.h"

/* distribute/members: what a group keeps, and what its members of this process have and are given:
 * arrays, prepared supersteps, boxes of launches, gates. This header has the state of a group: the
 * launches that are recorded, its arrays, who has copies, and what stays for later launches. */

typedef struct pti_group pti_group;
typedef struct pti_prepared_superstep pti_prepared_superstep;

/** How a queue is shared. Zeros are the defaults. */
typedef struct pti_group_options {
    const pti_member_grid *grid; /* NULL: balanced */
    pti_distribution distribution;
    int64_t most_launches; /* of a superstep; 0: chosen by what is computed twice */
    pti_policy policy; /* of members over one memory, and where it takes also of other processes */
    bool is_by_speed;  /* the distribution is weighted by speeds that are measured */
    bool deals_rows;   /* by the policy, where all operands are on the host; else owners compute */
    bool deals_sums;   /* the same of launches whose rows reduce into the same elements */
    /** The speed of each local member; copied. The first launch of a group in one process finds the
     * distribution from these. NULL: the distribution is as given. */
    const pti_speed *speed;
} pti_group_options;

/** Whose memory members' arrays lie over. */
typedef enum pti_group_memory {
    PTI_GROUP_PROGRAMS, /* attached: the program's, all of the array in every process */
    PTI_GROUP_OWN,      /* distributed: memory of the group's, a box a member */
    PTI_GROUP_QUEUES    /* internal: the members' queues', a box a member */
} pti_group_memory;

/** What a group knows of an array of its queue. */
typedef struct pti_group_array {
    polytile_array *array; /* the queue's; NULL: the position is free */
    pti_group_memory memory;
    polytile_array **member; /* one a local member, over a box around what it needs; NULL until it
                                needs something */
    pti_ownership ownership;
    bool is_written; /* by a launch that was run */
    bool is_leaving; /* members' queues know that it ends */
    bool
        is_discarded; /* members' queues know that its elements are dead; while they are notified */
    /** Its newest elements lie with the processes that made them: rows of a launch were dealt out
     * to members of several. All processes know those of each. */
    bool is_apart;
    pti_boxes *made; /* of each process, while it is apart; owned */
    bool settles;    /* while elements that lie apart are brought together: its own are, too */
} pti_group_array;

/** One launch as the program made it, until it is run. */
typedef struct pti_recorded {
    pti_prepared *prepared;                    /* the queue's, used until it is run */
    polytile_kernel *kernel;                   /* retained */
    uint64_t words;                            /* hash of what it is */
    struct pti_server *server;                 /* of a team kernel; retained */
    pti_value values[POLYTILE_MAX_PARAMETERS]; /* that its body gets */
} pti_recorded;

/** The most prepared supersteps, and known depths, that are kept. */
enum {
    PTI_GROUP_PREPARED_SUPERSTEPS = 64,
    PTI_GROUP_KNOWN_DEPTHS = 256,
    PTI_GROUP_FORMER_MEMBERS = 64 /* members' arrays that are known again */
};

/** How many of some launches, known by a hash of those that decide it, become a superstep. To look
 * it up takes no memory: what one process knows all of them know. The latest ones are kept. */
typedef struct pti_known_depths {
    int n_found; /* modulo PTI_GROUP_KNOWN_DEPTHS: where the next one goes */
    struct {
        uint64_t name;
        int depth; /* 0: none is there yet */
    } at[PTI_GROUP_KNOWN_DEPTHS];
} pti_known_depths;

/** The arrays that members had last over the program's memory. A program that takes its result and
 * attaches the array again gets the like of them, and with these the plans that are kept. */
typedef struct pti_former_members {
    int n_made; /* modulo PTI_GROUP_FORMER_MEMBERS: where the next one goes */
    struct {
        int64_t programs; /* number of the program's array; 0: none is there yet */
        int local;        /* member */
        polytile_domain domain;
        int64_t known_as; /* of the member's array */
    } at[PTI_GROUP_FORMER_MEMBERS];
} pti_former_members;

/** How far a group is with what is recorded. Other threads read it: all is atomic. */
typedef struct pti_group_progress {
    int n_launches; /* 0: nothing is recorded */
    int n_done;
    int n_running;  /* of the superstep that runs */
    double begun_s; /* 0: nothing has begun */
} pti_group_progress;

/** What of the recorded launches runs before something is waited for. */
typedef struct pti_group_begun {
    bool is_begun;
    bool differs; /* what processes have recorded, so that nothing of it runs */
    int at;       /* launches before it run, or have run */
    /** All know that some failed to take part: nothing more runs. */
    polytile_status stopped;
    bool has_messages; /* the program's messages began slots; the rest of their superstep is to
                          follow */
    struct pti_prepared_superstep *prepared; /* of those slots; NULL: they did not begin */
} pti_group_begun;

/** A queue over members, as this process knows it. */
struct pti_group {
    polytile_context *ctx;
    polytile_queue *queue; /* whose group this is */
    pti_transport *transport;
    polytile_queue **member;  /* n_local */
    struct pti_peers **peers; /* of members whose devices are linked, at most n_local; owned */
    int n_peers;
    struct pti_kept_cuts *kept_cuts; /* of its members' launches; owned */
    pti_group_options options;
    pti_member_grid grid; /* where options.grid points to, if it was given */
    pti_speed *speed;     /* where options.speed points to, if it was given; owned */
    pti_bell bell;        /* that members ring while rows are dealt out */
    bool is_balanced;     /* the distribution was found from it */

    int n_arrays; /* positions there are */
    pti_group_array *array;
    pti_ownership *ownership; /* of each position, side by side as supersteps take them */
    bool *is_shared; /* of each position: local members have the program's memory of the array */
    bool *is_lent;   /* of each position: local members may still read there what others own */
    /** [position * n_local + local member]: the arrays of members, side by side as exchanges take
     * them; NULL: it has none yet. */
    polytile_array **member_arrays;
    pti_copies copies;                           /* as the next launch finds them */
    int64_t copies_id;                           /* which they are; the same only if they are */
    int64_t n_copies_ids;                        /* given so far */
    pti_prepared_superstep *prepared_supersteps; /* latest first */
    int n_prepared_supersteps;
    pti_known_depths depths;
    pti_former_members formers;

    pti_recorded *recorded; /* PTI_GROUP_LAUNCHES */
    int n_recorded;
    bool is_paused;    /* by the program: nothing begins before it waits */
    bool is_given_up;  /* not all processes have it: they do not meet any more */
    bool was_compared; /* the first launch of all was, when it came */
    bool is_shallow;   /* members over one memory had no room for supersteps of several launches */
    bool has_room;     /* each member's device has room for all arrays whole, so that nothing leaves
                          it unasked: others may still read the host's older elements */
    int n_gates;       /* closed ones, of each member */
    int ahead_from;    /* the recorded launch from which on supersteps are handed out ahead */
    pti_error failure; /* this process's first, of what is being run */
    pti_group_begun begun;

    int64_t n_launches; /* of the report */
    int64_t n_teams;    /* launches of team kernels that began, alike in all processes */
    pti_group_progress progress;
};

/* state.c */

/** Let go of what is recorded, run or not. */
void pti_group_drop_recorded(pti_group *group);
/** NULL does nothing. */
void pti_group_free_prepared(pti_group *group, pti_prepared_superstep *prepared);
/** Note whether members' devices have room for all arrays: nothing leaves them unasked then. */
void pti_group_set_room(pti_group *group, bool has_room);
/** Forget all prepared supersteps: an array came or went, or lies elsewhere. */
void pti_group_forget_prepared(pti_group *group);
/** Members' arrays lie elsewhere: what the transport keeps for messages is out of date. */
void pti_group_forget_messages(pti_group *group);
/** Have memory for the messages of all prepared supersteps that have none: of a new one, and, where
 * members' arrays lie elsewhere, of those before it. Errors: NO_MEMORY, those of the transport; of
 * this process alone. */
polytile_status pti_group_open_messages(pti_group *group);
/** After a failure, of which all processes know, drop what is recorded, and forget launches,
 * supersteps and copies: one that failed may lack what others have, and all must find the same. */
void pti_group_forget_all(pti_group *group);
/** The program changed elements of owners in their members' arrays: nobody has copies of them.
 * Every process says so, in the same order as anything else. */
void pti_group_note_changed(pti_group *group, const polytile_array *array);
/** No elements of an array lie apart any more, or they count no more. */
void pti_group_forget_made(pti_group *group, int position);
/** Number the copies anew: something other than a superstep changed them. */
void pti_group_touch_copies(pti_group *group);

/** Note an error of what is being run; of several the first stays. */
void pti_group_note_failure(pti_group *group, polytile_status status);

/** Queues something about elements of a member's array: pti_queue_fetch(),
 * pti_queue_invalidate(). */
typedef polytile_status pti_group_notify(polytile_queue *queue, polytile_array *array,
                                         const pti_boxes *elements);

#endif
