#ifndef POLYTILE_DISTRIBUTE_EXCHANGE_TRANSPORT_H
#define POLYTILE_DISTRIBUTE_EXCHANGE_TRANSPORT_H

#include "access/array/array.h"
#include "distribute/policy/counter.h"
#include "message/server.h"
#include "partition/schedule/joint.h"

#include <stdlib.h>

/* How the members of a queue reach each other. Every function is called by all processes in the
 * same order; none of them hangs because another process failed, as long as that lives. */

/** The status of a process that could not go on because another one failed. It is not of the public
 * API: agree() puts that of the other process in its place. */
#define PTI_PEER_FAILED ((polytile_status)15)

typedef struct pti_transport pti_transport;

/** The messages of a list of operations that is run again and again, with whatever the transport
 * keeps for them. */
typedef struct pti_messages {
    const pti_joint_list *list; /* of this process; borrowed */
    /** [array * n_local + local member], borrowed: their host memory is read and written; where it
     * lies does not change. */
    polytile_array *const *arrays;
    void *state; /* the transport's; NULL at first */
} pti_messages;

/** Partial results of all members, combined in the order of the members. */
typedef struct pti_combination {
    polytile_role role;
    polytile_type type;
    int64_t n_elements;
    void *const *partial; /* of each local member: n_elements */
    void *result;         /* n_elements, on every process */
} pti_combination;

/** What each process has given, one after the other; those of this one, too. */
typedef struct pti_gathered {
    char *bytes;  /* owned, as is end */
    int64_t *end; /* of each process's bytes: where they end */
} pti_gathered;

/** What a transport does for its members. */
typedef struct pti_transport_functions {
    /**
     * Exchange the status of all processes. All get the same failure: that of the lowest rank that
     * failed itself. Its text is this context's last error, with the rank in front.
     */
    polytile_status (*agree)(pti_transport *transport, polytile_status status);
    /** INVALID, with the rank and both words, unless all processes have the same hash. */
    polytile_status (*compare)(pti_transport *transport, uint64_t hash, const char *words);
    /**
     * Memory for messages, before the list is first run. No process waits for others here; all
     * agree afterwards that all have it: who has none cannot take part.
     *
     * This and the next three are NULL where all members are of this process: no list of theirs has
     * messages. A list is run from its beginning to its end, one at a time; operations that send or
     * receive nothing may be left out.
     * Errors  NO_MEMORY.
     */
    polytile_status (*open)(pti_transport *transport, pti_messages *messages);
    /**
     * One operation that sends, whose elements are in host memory. The last one of a message sends
     * it off.
     *
     * has_failed: this process has failed; it goes on so that nobody waits for it, and notifies
     * those it sends to, who then fail with PTI_PEER_FAILED. Its arrays are left alone.
     */
    polytile_status (*send)(pti_transport *transport, pti_messages *messages, int op,
                            bool has_failed);
    /** One that receives: its elements are in host memory then. Errors: PTI_PEER_FAILED. */
    polytile_status (*receive)(pti_transport *transport, pti_messages *messages, int op,
                               bool has_failed);
    /** Free what is kept; nothing of it is under way. Not collective. */
    void (*forget)(pti_transport *transport, pti_messages *messages);
    /** Errors: PTI_PEER_FAILED, NO_MEMORY; the result is undefined then. */
    polytile_status (*combine)(pti_transport *transport, const pti_combination *combination,
                               bool has_failed);
    /**
     * Give all processes some bytes of each, or fail on all of them. own: the status of this one,
     * whose bytes do not count unless it is OK. NULL where all members are of this process.
     *
     * Errors  Its own status; PTI_PEER_FAILED, of another process; NO_MEMORY; OVERFLOW, of 2 GiB
     *         and more of all together. Nothing is gathered then.
     * Owns    The caller frees it with pti_gathered_free().
     */
    polytile_status (*gather)(pti_transport *transport, polytile_status own, const void *bytes,
                              int64_t n_bytes, pti_gathered *all);
    /** Carry what servers of team kernels send each other, once; it does not wait. What a server
     * has to send leaves, and gets what has come. An error ends the launch. NULL where all members
     * are of this process. */
    pti_carrying (*carry)(void *transport, pti_server *server);
    void (*close)(pti_transport *transport);
} pti_transport_functions;

/** The first member of every transport's own structure. */
struct pti_transport {
    const pti_transport_functions *functions;
    polytile_context *ctx;
    int n_members; /* of all processes */
    int first;     /* local members are first .. first + n_local - 1 */
    int n_local;
    bool shares_memory; /* arrays of members lie over the same memory: what one fetches, all have */
    pti_counter *counter; /* that members of several processes take rows from; NULL: they do not;
                             owned */
    bool ends_together;   /* all processes close it next */
    bool by_any_thread;   /* any thread may carry, one at a time */
};

/** Return whether members are devices of one process and nothing else: it has no messages, and
 * alone knows what they have. */
static inline bool pti_transport_is_alone(const pti_transport *transport) {
    return transport->shares_memory && transport->functions->open == NULL;
}

/** Free what a transport keeps for messages, if anything. */
static inline void pti_transport_forget(pti_transport *transport, pti_messages *messages) {
    if (transport->functions->forget != NULL)
        transport->functions->forget(transport, messages);
}

/** The processes that members are of, which have as many each. */
static inline int pti_transport_count_processes(const pti_transport *transport) {
    return transport->n_members / transport->n_local;
}

/** That of this one. */
static inline int pti_transport_process(const pti_transport *transport) {
    return transport->first / transport->n_local;
}

/** What a process has given; *n_bytes: how many. */
static inline const char *pti_gathered_of(const pti_gathered *all, int process, int64_t *n_bytes) {
    const int64_t begin = process == 0 ? 0 : all->end[process - 1];
    *n_bytes = all->end[process] - begin;
    return all->bytes + begin;
}

/** Nothing is left of it. */
static inline void pti_gathered_free(pti_gathered *all) {
    free(all->bytes);
    free(all->end);
    all->bytes = NULL;
    all->end = NULL;
}

/* transport_within.c */

/** Members of one process, by whose arrays' addresses it is known what lies in the same memory.
 * NULL when memory runs out. */
pti_transport *pti_transport_within(polytile_context *ctx, int n_members);

#endif
