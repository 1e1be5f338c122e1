#ifndef POLYTILE_DISTRIBUTE_MPI_SPREAD_H
#define POLYTILE_DISTRIBUTE_MPI_SPREAD_H

#include "access/array/array.h"
#include "distribute/file/store.h"
#include "distribute/mpi/transport_mpi.h"
#include "distribute/share/ownership.h"

/* An array whose elements are spread over ranks. The functions move all of them, to and from one
 * rank's memory, and files. They are collective, and ranks agree on failures before they wait for
 * each other. */

/** An array with what the calling rank owns of it. */
typedef struct pti_spread {
    pti_transport *transport;
    const polytile_array *array;    /* name, type and domain; its memory is not looked at */
    const pti_ownership *ownership; /* of members: each rank has n_local of the transport's */
    pti_store store;                /* what the calling rank owns; owned */
    int64_t round_bytes;            /* that are moved at a time, see distribute/file/rounds.h */
    int round_runs;                 /* of files */
} pti_spread;

static inline polytile_context *pti_spread_context(const pti_spread *spread) {
    return spread->transport->ctx;
}

static inline int pti_spread_rank(const pti_spread *spread) {
    return pti_mpi_of(spread->transport)->rank;
}

static inline int pti_spread_n_ranks(const pti_spread *spread) {
    return pti_mpi_of(spread->transport)->n_ranks;
}

static inline MPI_Comm pti_spread_comm(const pti_spread *spread) {
    return pti_mpi_of(spread->transport)->comm;
}

static inline polytile_status pti_spread_agree(const pti_spread *spread, polytile_status status) {
    return spread->transport->functions->agree(spread->transport, status);
}

/* has_begun: elements of the array may have changed, also on failure. */

/** Scatter all elements, in C order, from a root's memory to their owners, and gather them.
 * elements: NULL elsewhere. Errors: INVALID (no such rank, no memory given), NO_MEMORY, DEVICE. */
polytile_status pti_spread_scatter(const pti_spread *spread, int root, const void *elements,
                                   bool *has_begun);
polytile_status pti_spread_gather(const pti_spread *spread, int root, void *elements);

/** Read and write a file as in distribute/file/array_file.h. Errors: as there, and of MPI as IO. */
polytile_status pti_spread_read(const pti_spread *spread, const char *path, bool *has_begun);
polytile_status pti_spread_write(const pti_spread *spread, const char *path);

#endif
