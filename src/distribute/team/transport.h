#ifndef POLYTILE_DISTRIBUTE_TEAM_TRANSPORT_H
#define POLYTILE_DISTRIBUTE_TEAM_TRANSPORT_H

#include "access/declare/array.h"
#include "distribute/exchange/exchange.h"

/* How the members of a queue reach each other. Every function is called by all processes in the
 * same order; none of them hangs because another process failed, as long as that lives. */

/** The status of a process that could not go on because another one failed. It is not of the public
 * API: agree() puts that of the other process in its place. */
#define PTI_PEER_FAILED ((polytile_status)15)

typedef struct pti_transport pti_transport;

/** An exchange that is made again and again, with whatever the transport keeps for it. */
typedef struct pti_persistent_exchange {
    const pti_exchange *exchange; /* borrowed */
    /** [array * n_local + local member], borrowed: their host memory is read and written; where it
     * lies does not change. */
    polytile_array *const *arrays;
    int n_arrays;
    void *state; /* the transport's; NULL at first */
} pti_persistent_exchange;

/** Partial results of all members, combined in the order of the members. */
typedef struct pti_combination {
    polytile_role role;
    polytile_type type;
    int64_t n_elements;
    void *const *partial; /* of each local member: n_elements */
    void *result;         /* n_elements, on every process */
} pti_combination;

typedef struct pti_transport_functions {
    /**
     * Exchange the status of all processes. Of failures all get the same: that of the lowest rank
     * that has failed by itself. Its text is this context's last error, with the rank in front.
     */
    polytile_status (*agree)(pti_transport *transport, polytile_status status);
    /** INVALID, with the rank and both words, unless all processes have the same hash. */
    polytile_status (*compare)(pti_transport *transport, uint64_t hash, const char *words);
    /**
     * Memory for a persistent exchange, before its first start(). No process waits for others here;
     * all agree afterwards that all have it: who has none cannot take part. NULL: it takes none.
     *
     * Errors  NO_MEMORY.
     */
    polytile_status (*open_exchange)(pti_transport *transport, pti_persistent_exchange *persistent);
    /**
     * Begin to move: what local members send is in their memory now. Processes whose exchange is
     * empty may leave this and finish() out. The exchange is open on all processes.
     *
     * has_failed: this process has failed; it goes on so that nobody waits for it, and notifies
     * those it sends to, whose finish() then fails with PTI_PEER_FAILED. Its arrays are
     * left alone.
     */
    polytile_status (*start)(pti_transport *transport, pti_persistent_exchange *persistent,
                             bool has_failed);
    /** Wait until what local members receive is in their memory. Errors: PTI_PEER_FAILED. */
    polytile_status (*finish)(pti_transport *transport, pti_persistent_exchange *persistent);
    /** Free what is kept for it; nothing of it is under way. Not collective. */
    void (*forget_exchange)(pti_transport *transport, pti_persistent_exchange *persistent);
    /** Errors: PTI_PEER_FAILED, NO_MEMORY; the result is undefined then. */
    polytile_status (*combine)(pti_transport *transport, const pti_combination *combination,
                               bool has_failed);
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
};

/** Whether a member is of this process. */
static inline bool pti_transport_is_local(const pti_transport *transport, int member) {
    return member >= transport->first && member < transport->first + transport->n_local;
}

/* transport_within.c */

/** Members of one process, by whose arrays' addresses it is known what lies in the same memory.
 * NULL when memory runs out. */
pti_transport *pti_transport_within(polytile_context *ctx, int n_members);

#endif
