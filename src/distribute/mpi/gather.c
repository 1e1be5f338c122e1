#include "distribute/mpi/transport_mpi.h"

#include "base/checked.h"

#include <limits.h>

/* Bytes of all ranks on every rank. */

/** What a rank says before its bytes. */
typedef struct offer {
    int64_t n_bytes;
    int64_t has_failed;
} offer;

/** Learn what all ranks offer. */
static polytile_status exchange_offers(pti_mpi_transport *mpi, const offer *own, offer *all) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    PTI_MPI_TRY(ctx, MPI_Iallgather(own, (int)sizeof *own, MPI_BYTE, all, (int)sizeof *all,
                                    MPI_BYTE, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Find where each rank's bytes end. Errors: as pti_transport_functions.gather, on all ranks. */
static polytile_status add_offers(pti_mpi_transport *mpi, polytile_status own, const offer *offers,
                                  int64_t *end) {
    int64_t n_bytes = 0;
    bool has_failed = false;
    for (int rank = 0; rank < mpi->n_ranks; rank++) {
        n_bytes += offers[rank].n_bytes;
        has_failed |= offers[rank].has_failed != 0;
        end[rank] = n_bytes;
    }
    if (has_failed)
        return own == POLYTILE_OK ? PTI_PEER_FAILED : own;
    if (n_bytes <= INT_MAX)
        return POLYTILE_OK;
    return pti_fail(
        mpi->transport.ctx, POLYTILE_OVERFLOW,
        "%d ranks have %lld bytes to tell each other of rows and what they add up to; at "
        "most %d can be exchanged: have a policy take more rows at a time",
        mpi->n_ranks, (long long)n_bytes, INT_MAX);
}

static polytile_status exchange_bytes(pti_mpi_transport *mpi, const void *bytes,
                                      const pti_gathered *all) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    int *counts = mpi->counts, *places = counts + mpi->n_ranks;
    for (int rank = 0; rank < mpi->n_ranks; rank++) {
        int64_t n_bytes;
        places[rank] = (int)(pti_gathered_of(all, rank, &n_bytes) - all->bytes);
        counts[rank] = (int)n_bytes;
    }
    PTI_MPI_TRY(ctx, MPI_Iallgatherv(bytes, counts[mpi->rank], MPI_BYTE, all->bytes, counts, places,
                                     MPI_BYTE, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Memory for what is offered, on all ranks or none. */
static polytile_status find_memory(pti_mpi_transport *mpi, pti_gathered *all) {
    polytile_context *ctx = mpi->transport.ctx;
    const int64_t n_bytes = all->end[mpi->n_ranks - 1];
    all->bytes = malloc((size_t)n_bytes + 1);
    return pti_mpi_all_succeeded(
        ctx, mpi->comm,
        all->bytes == NULL ? pti_fail_memory(ctx, "what ranks tell each other", (double)n_bytes)
                           : POLYTILE_OK);
}

/** Whoever has no memory to learn how much there is takes part without. */
polytile_status pti_mpi_gather(pti_transport *transport, polytile_status own, const void *bytes,
                               int64_t n_bytes, pti_gathered *all) {
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    polytile_status status;
    offer *offers = malloc((size_t)mpi->n_ranks * sizeof *offers);
    *all = (pti_gathered){.end = malloc((size_t)mpi->n_ranks * sizeof *all->end)};
    status = offers == NULL || all->end == NULL
                 ? pti_fail_memory(transport->ctx, "what ranks tell each other",
                                   mpi->n_ranks * (double)sizeof *offers)
                 : POLYTILE_OK;
    PTI_TRY(pti_mpi_all_succeeded(transport->ctx, mpi->comm, status));
    const offer own_offer = {own == POLYTILE_OK ? n_bytes : 0, own != POLYTILE_OK};
    PTI_TRY(exchange_offers(mpi, &own_offer, offers));
    PTI_TRY(add_offers(mpi, own, offers, all->end));
    PTI_TRY(find_memory(mpi, all));
    PTI_TRY(exchange_bytes(mpi, bytes, all));
done:
    free(offers);
    if (status != POLYTILE_OK)
        pti_gathered_free(all);
    return status;
}
