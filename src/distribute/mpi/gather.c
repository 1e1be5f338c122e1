#include "distribute/mpi/transport_mpi.h"

#include "base/checked.h"

#include <limits.h>
#include <string.h>

/* Bytes of all ranks on every rank. Few of them come with the first message of each rank, which
 * says how many there are. */

/** What a rank says before its bytes. */
typedef struct offer {
    int64_t n_bytes;
    int64_t has_failed;
} offer;

/** The most bytes of a first message: longer ones take longer, though they have little to say. */
enum { MOST_SLOT_BYTES = 4096 };

static int slot_bytes_of(const pti_mpi_transport *mpi) {
    return (int)pti_min(MOST_SLOT_BYTES, PTI_MPI_SMALL_BYTES / mpi->n_ranks);
}

/** Bytes of a rank that come with its offer. */
static int64_t most_inline(const pti_mpi_transport *mpi) {
    return slot_bytes_of(mpi) - (int64_t)sizeof(offer);
}

static offer offer_of(const pti_mpi_transport *mpi, int rank) {
    offer of;
    memcpy(&of, mpi->small + PTI_MPI_SMALL_BYTES + rank * slot_bytes_of(mpi), sizeof of);
    return of;
}

/** Learn what all ranks offer. */
static polytile_status exchange_offers(pti_mpi_transport *mpi, const offer *own,
                                       const void *bytes) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    const int slot_bytes = slot_bytes_of(mpi);
    char *slots = mpi->small + PTI_MPI_SMALL_BYTES;
    memcpy(mpi->small, own, sizeof *own);
    if (own->n_bytes > 0 && own->n_bytes <= most_inline(mpi))
        memcpy(mpi->small + sizeof *own, bytes, (size_t)own->n_bytes);
    PTI_MPI_TRY(ctx, MPI_Iallgather(mpi->small, slot_bytes, MPI_BYTE, slots, slot_bytes, MPI_BYTE,
                                    mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Return whether any rank has failed, so that nobody gathers. */
static bool has_any_failed(const pti_mpi_transport *mpi) {
    bool has = false;
    for (int rank = 0; rank < mpi->n_ranks; rank++)
        has |= offer_of(mpi, rank).has_failed != 0;
    return has;
}

/** Find where each rank's bytes end; *are_few: all came with the offers. Errors: OVERFLOW, on all
 * ranks. */
static polytile_status add_offers(const pti_mpi_transport *mpi, int64_t *end, bool *are_few) {
    int64_t n_bytes = 0;
    *are_few = true;
    for (int rank = 0; rank < mpi->n_ranks; rank++) {
        const int64_t of_rank = offer_of(mpi, rank).n_bytes;
        *are_few &= of_rank <= most_inline(mpi);
        n_bytes += of_rank;
        end[rank] = n_bytes;
    }
    if (n_bytes <= INT_MAX)
        return POLYTILE_OK;
    return pti_fail(mpi->transport.ctx, POLYTILE_OVERFLOW,
                    "%d ranks have %lld bytes to tell each other of rows and what they add up to; "
                    "at most %d can be exchanged: have a policy take more rows at a time",
                    mpi->n_ranks, (long long)n_bytes, INT_MAX);
}

static void take_few(const pti_mpi_transport *mpi, const pti_gathered *all) {
    const char *slots = mpi->small + PTI_MPI_SMALL_BYTES + sizeof(offer);
    for (int rank = 0; rank < mpi->n_ranks; rank++) {
        int64_t n_bytes;
        const int64_t begin = pti_gathered_of(all, rank, &n_bytes) - all->bytes;
        memcpy(all->bytes + begin, slots + rank * slot_bytes_of(mpi), (size_t)n_bytes);
    }
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

/** Memory for many bytes, on all ranks or none. */
static polytile_status grow_memory(pti_mpi_transport *mpi, pti_gathered *all) {
    polytile_context *ctx = mpi->transport.ctx;
    const int64_t n_bytes = all->end[mpi->n_ranks - 1];
    free(all->bytes);
    all->bytes = malloc((size_t)n_bytes + 1);
    return pti_mpi_all_succeeded(
        ctx, mpi->comm,
        all->bytes == NULL ? pti_fail_memory(ctx, "what ranks tell each other", (double)n_bytes)
                           : POLYTILE_OK);
}

/** Memory for few bytes of each rank. */
static polytile_status find_memory(const pti_mpi_transport *mpi, pti_gathered *all) {
    *all = (pti_gathered){.bytes = malloc(PTI_MPI_SMALL_BYTES),
                          .end = malloc((size_t)mpi->n_ranks * sizeof *all->end)};
    return all->bytes != NULL && all->end != NULL
               ? POLYTILE_OK
               : pti_fail_memory(mpi->transport.ctx, "what ranks tell each other",
                                 PTI_MPI_SMALL_BYTES);
}

polytile_status pti_mpi_gather(pti_transport *transport, polytile_status own, const void *bytes,
                               int64_t n_bytes, pti_gathered *all) {
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    polytile_status status, memory = find_memory(mpi, all);
    bool are_few;
    own = own == POLYTILE_OK ? memory : own;
    const offer own_offer = {own == POLYTILE_OK ? n_bytes : 0, own != POLYTILE_OK};
    PTI_TRY(exchange_offers(mpi, &own_offer, bytes));
    if (has_any_failed(mpi))
        PTI_TRY(own == POLYTILE_OK ? PTI_PEER_FAILED : own);
    PTI_TRY(add_offers(mpi, all->end, &are_few));
    if (are_few) {
        take_few(mpi, all);
        return POLYTILE_OK;
    }
    PTI_TRY(grow_memory(mpi, all));
    PTI_TRY(exchange_bytes(mpi, bytes, all));
done:
    if (status != POLYTILE_OK)
        pti_gathered_free(all);
    return status;
}
