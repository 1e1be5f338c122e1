#include "distribute/mpi/transport_mpi.h"

#include "base/checked.h"
#include "launch/device/reduction.h"

#include <stdlib.h>
#include <string.h>

/* An element's partial results are always combined in the order of the members, those of a rank one
 * after the other: the result depends neither on the distribution nor on timing. */

enum { HEADER_BYTES = 8, ROUND_BYTES = 8 << 20 };

/** Combine n elements of `from` into `to`. */
static void combine_run(const pti_combination *combination, void *to, void *from, int64_t n) {
    const polytile_domain box = polytile_domain_from_extents(1, &n);
    const int64_t element_bytes = polytile_type_get_bytes(combination->type);
    const pti_memory_layout layout = pti_memory_layout_of(&box, element_bytes);
    const pti_move move = {
        .box = &box, .element_bytes = element_bytes, .to = {to, &layout}, .from = {from, &layout}};
    pti_reduction_combine(combination->role, combination->type, &move);
}

/** The partial results of all members: those of a rank lie one after the other. */
typedef struct partials {
    char *first;
    int64_t n;          /* elements of each */
    int64_t rank_bytes; /* from those of a rank to the next rank's */
    int n_ranks;
    int n_local;
} partials;

static void combine_partials(const pti_combination *combination, const partials *all,
                             void *result) {
    const int64_t n_bytes = all->n * polytile_type_get_bytes(combination->type);
    if (all->n == 0)
        return;
    memcpy(result, all->first, (size_t)n_bytes);
    for (int q = 1; q < all->n_ranks * all->n_local; q++)
        combine_run(combination, result,
                    all->first + q / all->n_local * all->rank_bytes + q % all->n_local * n_bytes,
                    all->n);
}

static bool has_failed_peer(const char *slots, int64_t slot_bytes, int n_ranks) {
    for (int rank = 0; rank < n_ranks; rank++) {
        uint64_t header;
        memcpy(&header, slots + rank * slot_bytes, sizeof header);
        if (header != 0)
            return true;
    }
    return false;
}

/** Combine on every rank all partial results, each rank's after a word that is not zero if it has
 * failed. n_bytes: of a member. */
static polytile_status combine_small(pti_mpi_transport *mpi, const pti_combination *combination,
                                     int64_t n_bytes, bool has_failed) {
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = mpi->transport.ctx;
    MPI_Request request = MPI_REQUEST_NULL;
    const int n_ranks = mpi->n_ranks, n_local = mpi->transport.n_local;
    const int slot_bytes = (int)n_bytes * n_local + HEADER_BYTES;
    const uint64_t header = has_failed;
    char *own = mpi->small, *slots = mpi->small + PTI_MPI_SMALL_BYTES;
    memcpy(own, &header, sizeof header);
    for (int m = 0; m < n_local && !has_failed && n_bytes > 0; m++)
        memcpy(own + HEADER_BYTES + m * n_bytes, combination->partial[m], (size_t)n_bytes);
    PTI_MPI_TRY(ctx, MPI_Iallgather(own, slot_bytes, MPI_BYTE, slots, slot_bytes, MPI_BYTE,
                                    mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
    if (has_failed_peer(slots, slot_bytes, n_ranks))
        return PTI_PEER_FAILED;
    combine_partials(
        combination,
        &(partials){slots + HEADER_BYTES, combination->n_elements, slot_bytes, n_ranks, n_local},
        combination->result);
done:
    return status;
}

/** A round of a large combination: every rank combines its share of the elements. */
typedef struct round {
    const pti_combination *of;
    int64_t element_bytes;
    int64_t first; /* element */
    int64_t n;
    char *partials; /* of all members: those of this rank's share */
} round;

/** Return the first element of a rank's share. */
static int64_t share_begin(const round *r, int rank, int n_ranks) {
    return r->n * rank / n_ranks;
}

/** Find where the shares of a round begin, and their lengths, in bytes; and where those of a local
 * member of each rank go among the partial results. */
static void count_shares(const round *r, const pti_mpi_transport *mpi, int local, int *counts) {
    const int n_ranks = mpi->n_ranks, own = mpi->rank, n_local = mpi->transport.n_local;
    const int64_t own_n = share_begin(r, own + 1, n_ranks) - share_begin(r, own, n_ranks);
    for (int rank = 0; rank < n_ranks; rank++) {
        const int64_t begin = share_begin(r, rank, n_ranks);
        const int64_t end = share_begin(r, rank + 1, n_ranks);
        counts[rank] = (int)((end - begin) * r->element_bytes);
        counts[n_ranks + rank] = (int)(begin * r->element_bytes);
        counts[2 * n_ranks + rank] = (int)(own_n * r->element_bytes);
        counts[3 * n_ranks + rank] = (int)((rank * n_local + local) * own_n * r->element_bytes);
    }
}

/** Give each rank its share of what a local member of each has. */
static polytile_status exchange_shares(pti_mpi_transport *mpi, const round *r, int local) {
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = mpi->transport.ctx;
    MPI_Request request = MPI_REQUEST_NULL;
    const char *partial = (const char *)r->of->partial[local] + r->first * r->element_bytes;
    int *counts = mpi->counts, *share_counts = counts + 2 * mpi->n_ranks;
    count_shares(r, mpi, local, counts);
    PTI_MPI_TRY(ctx, MPI_Ialltoallv(partial, counts, counts + mpi->n_ranks, MPI_BYTE, r->partials,
                                    share_counts, share_counts + mpi->n_ranks, MPI_BYTE, mpi->comm,
                                    &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Combine one round: each rank combines its share of it, and all get the shares of all. */
static polytile_status combine_round(pti_mpi_transport *mpi, const round *r) {
    polytile_status status = POLYTILE_OK;
    polytile_context *ctx = mpi->transport.ctx;
    MPI_Request request = MPI_REQUEST_NULL;
    const int n_local = mpi->transport.n_local;
    char *result = (char *)r->of->result + r->first * r->element_bytes;
    int *counts = mpi->counts, *places = counts + mpi->n_ranks;
    for (int m = 0; m < n_local; m++)
        PTI_TRY(exchange_shares(mpi, r, m));
    const int64_t own_bytes = counts[mpi->rank];
    combine_partials(r->of,
                     &(partials){r->partials, own_bytes / r->element_bytes, n_local * own_bytes,
                                 mpi->n_ranks, n_local},
                     result + places[mpi->rank]);
    PTI_MPI_TRY(ctx, MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_BYTE, result, counts, places, MPI_BYTE,
                                     mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Combine a share of the elements on every rank, and exchange shares; in rounds, which bound
 * memory, and counts to 31 bits. */
static polytile_status combine_large(pti_mpi_transport *mpi, const pti_combination *combination,
                                     bool has_failed) {
    polytile_status status = POLYTILE_OK;
    round r = {.of = combination, .element_bytes = polytile_type_get_bytes(combination->type)};
    const int64_t most = ROUND_BYTES / r.element_bytes;
    r.partials = malloc((size_t)mpi->transport.n_local *
                        (ROUND_BYTES + (size_t)mpi->n_ranks * PTI_MAX_SCALAR_BYTES));
    if (r.partials == NULL)
        status = pti_fail_memory(mpi->transport.ctx, "combining partial results", ROUND_BYTES);
    if (has_failed)
        status = PTI_PEER_FAILED;
    PTI_TRY(pti_mpi_all_succeeded(mpi->transport.ctx, mpi->comm, status));
    for (; r.first < combination->n_elements; r.first += most) {
        r.n = pti_min(most, combination->n_elements - r.first);
        PTI_TRY(combine_round(mpi, &r));
    }
done:
    free(r.partials);
    return status;
}

polytile_status pti_mpi_combine(pti_transport *transport, const pti_combination *combination,
                                bool has_failed) {
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    const int64_t n_bytes = combination->n_elements * polytile_type_get_bytes(combination->type);
    if (n_bytes * transport->n_local <= PTI_MPI_SMALL_BYTES / mpi->n_ranks - HEADER_BYTES)
        return combine_small(mpi, combination, n_bytes, has_failed);
    return combine_large(mpi, combination, has_failed);
}
