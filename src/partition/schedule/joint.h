#ifndef POLYTILE_PARTITION_SCHEDULE_JOINT_H
#define POLYTILE_PARTITION_SCHEDULE_JOINT_H

#include "access/footprint/instance.h"
#include "access/set/boxes.h"
#include "base/text.h"

/* A joint schedule: what several members do together, as data. A member is a device with the host
 * memory beside it. What of it lies where in device memory, and what moves in and out, is for
 * the schedules of its device (schedule.h): no other member knows that. Here members run threads,
 * bring elements to host memory, and move these between host memories.
 *
 * Each process has a list of operations for its members, in the order in which its thread hands
 * them out. All processes find the same lists. */

/** X-macro: operation, its word in texts. The comments say what its boxes are. */
#define PTI_JOINT_OPS(X)                                                                           \
    X(RUN, "launch")      /* threads of a launch, for the member's device */                       \
    X(FETCH, "download")  /* newest elements: device -> host memory; they stay on the device */    \
    X(FORGET, "forget")   /* elements that the device drops: host memory has them from then on */  \
    X(SEND, "send")       /* host memory -> a message to the peer */                               \
    X(RECEIVE, "receive") /* a message from the peer -> host memory */                             \
    X(COPY, "copy")       /* host memory of a peer of the process -> host memory; none if these  \
                               are the same memory */ \
    X(PULL, "pull") /* newest elements: device of a peer of the process, or host memory     \
                               where that is as new -> device; host memory stays as it is */      \
    X(COMBINE, "combine") /* partial results of all members, in their order -> host memory of    \
                               each; by all processes at once */ \
    X(WAIT, "wait")       /* none */

typedef enum pti_joint_kind {
#define PTI_JOINT_KIND(name, word) PTI_JOINT_##name,
    PTI_JOINT_OPS(PTI_JOINT_KIND)
#undef PTI_JOINT_KIND
} pti_joint_kind;

const char *pti_joint_word(pti_joint_kind kind);

/** All operations of a member so far that use an array, or all: those are done then. The results of
 * threads that reduce into memory of their own are there. */
typedef struct pti_joint_wait {
    int member;
    int array; /* -1: all */
} pti_joint_wait;

/**
 * One operation. The process's thread first waits, then hands it out; or it hands out all, and
 * members' queues wait where it would.
 *
 * A member's device has launches, downloads, forgetting and pulls in its queue: it runs them after
 * those before them that use the same elements, at any time until they are waited for. The thread
 * does everything else itself, at once.
 *
 * What one process sends to another between the same two launches is one message. It leaves with
 * the last of its operations, between which stand others that send alone, and does not wait to be
 * received; the first operation that receives some of it waits for it. Messages from one process to
 * another arrive in the order in which they were sent.
 */
typedef struct pti_joint_op {
    pti_joint_kind kind;
    int member;      /* of the list's process; combine, wait: -1 */
    int peer;        /* send: to whom; receive, copy, pull: from whom; else -1 */
    int launch;      /* run, combine: which; else the number of launches before it */
    int array;       /* run, wait: -1 */
    pti_boxes boxes; /* owned */
    int first_wait;  /* in the list's waits */
    int n_waits;
} pti_joint_op;

/** The operations of one process. */
typedef struct pti_joint_list {
    int first;   /* member */
    int n_local; /* members, one after the other */
    int n_ops;
    pti_joint_op *op; /* owned, as is the next */
    int n_waits;
    pti_joint_wait *wait;
} pti_joint_list;

void pti_joint_list_free(pti_joint_list *list);

/** Return whether a list from an operation on consists of the same operations as another one. */
bool pti_joint_list_ends_alike(const pti_joint_list *list, int first_op,
                               const pti_joint_list *other);

/** An array of which members have parts. */
typedef struct pti_joint_array {
    const char *name; /* borrowed */
    polytile_domain domain;
} pti_joint_array;

/** What is so of one array and one member, before the first operation or after the last. */
typedef struct pti_joint_holding {
    pti_boxes valid; /* the member has the newest version, on its device or in its host memory */
    pti_boxes
        loose; /* its device may bring to the host what it has, at any time; no other elements */
    pti_boxes reading; /* its launches may still read them in host memory; no other elements. What
                          another one's device may bring to the host is the same version */
} pti_joint_holding;

/**
 * Launches over arrays that members share.
 *
 * Members may have the same host memory: then one reads there what another brought to the host, and
 * must not find it overwritten by what a third one's device brings to the host late.
 *
 * A launch whose results in an array are combined runs each thread once. Its members reduce into
 * memory of their own, which begins with the identity.
 */
typedef struct pti_joint_schedule {
    int n_members;
    int n_arrays;
    int n_launches;
    int n_lists;
    pti_joint_array *array; /* owned, as all below */
    int *memory;      /* [array * n_members + member]: the first member with the same host memory */
    bool *keeps;      /* of each member: nothing leaves its device unless it is downloaded */
    pti_call *launch; /* the calls are borrowed */
    pti_joint_holding *before; /* [array * n_members + member] */
    pti_joint_holding *after;
    pti_joint_list *list; /* their members follow one another */
} pti_joint_schedule;

/** A schedule without operations and holdings; NULL when memory runs out. All members keep nothing,
 * and have memory of their own. */
pti_joint_schedule *pti_joint_create(int n_members, int n_arrays, int n_launches, int n_lists);
void pti_joint_free(pti_joint_schedule *schedule);

/** The holding of an array and a member in a list of them. */
static inline pti_joint_holding *pti_joint_at(const pti_joint_schedule *schedule,
                                              pti_joint_holding *holdings, int array, int member) {
    return &holdings[array * schedule->n_members + member];
}

/** Return whether two members have the same host memory of an array. */
static inline bool pti_joint_shares(const pti_joint_schedule *schedule, int array, int one,
                                    int other) {
    const int *memory = &schedule->memory[array * schedule->n_members];
    return memory[one] == memory[other];
}

/** Return whether a list has operations of a member. */
static inline bool pti_joint_is_local(const pti_joint_list *list, int member) {
    return member >= list->first && member < list->first + list->n_local;
}

/* joint_build.c: a list while it grows. */

typedef struct pti_joint_builder {
    pti_joint_list *list; /* borrowed */
    int op_capacity;
    int wait_capacity;
    int n_pending; /* waits for the next operation, the last ones of the list */
    bool failed;   /* memory ran out: sticks, later calls do nothing */
} pti_joint_builder;

/** The next operation waits. */
void pti_joint_await(pti_joint_builder *builder, pti_joint_wait wait);
/** Append an operation, whose boxes are copied and whose waits are those since the last one.
 * Nothing is added without boxes, but for a wait with something to wait for. */
void pti_joint_add(pti_joint_builder *builder, const pti_joint_op *op, const pti_boxes *boxes);

/* joint_text.c */

/** Write an operation: "download of A [0:3] by member 1, after what member 0 does with A". */
void pti_joint_write_op(pti_text *text, const pti_joint_schedule *schedule,
                        const pti_joint_list *list, int op);
/** Write all lists, one line an operation. */
void pti_joint_write(pti_text *text, const pti_joint_schedule *schedule);

#endif
