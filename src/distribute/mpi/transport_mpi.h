#ifndef POLYTILE_DISTRIBUTE_MPI_TRANSPORT_MPI_H
#define POLYTILE_DISTRIBUTE_MPI_TRANSPORT_MPI_H

#include "base/context.h"
#include "distribute/exchange/transport.h"
#include "distribute/mpi/calls.h"
#include "distribute/share/distribution.h"
#include "distribute/share/member_grid.h"
#include "queue/queue.h"
#include <mpi.h>

/* distribute/mpi: members that are devices of the ranks of a communicator, as many of each rank. It
 * is a library of its own, polytile_mpi, and the only room that knows MPI. spread.h has arrays
 * spread over ranks. */

/** Every rank for itself makes combinations whose partial results, of all ranks together, are at
 * most this large. */
enum { PTI_MPI_SMALL_BYTES = 64 << 10 };

/** A message of one request must be shorter than 2^31 bytes. */
enum { PTI_MPI_CHUNK_BYTES = 1 << 30 };

/** A transport over the ranks of a communicator. */
typedef struct pti_mpi_transport {
    pti_transport transport;
    MPI_Comm comm; /* its own; errors are returned */
    int rank;      /* its members are rank * n_local and those after */
    int n_ranks;
    int64_t chunk_bytes; /* longer messages go in chunks of as many */
    char *small;         /* 2 * PTI_MPI_SMALL_BYTES */
    int *counts;         /* four of each rank: sent to it, where they are, received, where */
    struct pti_mpi_carrier *carrier; /* of packets between servers; NULL: none came yet; owned */
    int n_failures;                  /* of the carrier, in a row */
} pti_mpi_transport;

/**
 * Join the ranks of a communicator, which is duplicated; collective.
 *
 * n_local: the members of each rank, which have the program's memory of an array in common.
 * Errors  NO_MEMORY (on any rank), DEVICE; no rank has a transport then.
 */
polytile_status pti_transport_mpi_create(polytile_context *ctx, MPI_Comm comm, int n_local,
                                         pti_transport **transport);

static inline pti_mpi_transport *pti_mpi_of(pti_transport *transport) {
    return (pti_mpi_transport *)transport;
}

/** Return `own` if this rank has failed, PTI_PEER_FAILED if only another one has; collective. */
polytile_status pti_mpi_all_succeeded(polytile_context *ctx, MPI_Comm comm, polytile_status own);

/* The transport's functions, see distribute/exchange/transport.h. */

/* agree.c */
polytile_status pti_mpi_agree(pti_transport *transport, polytile_status status);
polytile_status pti_mpi_compare(pti_transport *transport, uint64_t hash, const char *words);

/* messages.c */
polytile_status pti_mpi_open(pti_transport *transport, pti_messages *messages);
polytile_status pti_mpi_send(pti_transport *transport, pti_messages *messages, int op,
                             bool has_failed);
polytile_status pti_mpi_receive(pti_transport *transport, pti_messages *messages, int op,
                                bool has_failed);
void pti_mpi_forget(pti_transport *transport, pti_messages *messages);

/* combine.c */
polytile_status pti_mpi_combine(pti_transport *transport, const pti_combination *combination,
                                bool has_failed);

/* packets.c */
pti_carrying pti_mpi_carry(void *transport, pti_server *server);
/** What is under way is given up. NULL does nothing. */
void pti_mpi_carrier_free(struct pti_mpi_carrier *carrier);

/* gather.c */
polytile_status pti_mpi_gather(pti_transport *transport, polytile_status own, const void *bytes,
                               int64_t n_bytes, pti_gathered *all);

/* counter.c */

/**
 * Give a transport a counter that members of all ranks take rows from; collective.
 *
 * Ranks of one machine reach its words in memory that they share. Else they are rank 0's, and
 * others reach them by MPI_Fetch_and_op() and the like, where rank 0 may have to be inside MPI for
 * it.
 * Errors  NO_MEMORY, DEVICE; the same on all ranks.
 */
polytile_status pti_mpi_counter_create(pti_transport *transport);

/* host_cores.c */

/**
 * Find a rank's share of its machine's cores: of a core for k ranks each has 1/k. At least 1.
 * Collective.
 *
 * Errors  DEVICE, of MPI.
 */
polytile_status pti_mpi_share_cores(polytile_context *ctx, MPI_Comm comm, int *n_cores);

/** Find whether all ranks are of one machine; collective. */
polytile_status pti_mpi_is_one_machine(polytile_context *ctx, MPI_Comm comm, bool *is);

/* speed.c */

/**
 * Weigh the coordinates of the first dimension that is cut by the speeds of their devices, which
 * all ranks measure now, at the same time; each is as fast as its slowest member. Weights are
 * sixteenths of the fastest, so devices that are alike get the same.
 *
 * members: of this rank. grid: NULL: a part a member.
 * Errors  INVALID (more than PTI_MAX_WEIGHTS parts), and those of launches; the same on all ranks.
 */
polytile_status pti_mpi_balance_load(pti_transport *transport, polytile_queue *const *members,
                                     const pti_member_grid *grid, pti_distribution *distribution);

#endif
