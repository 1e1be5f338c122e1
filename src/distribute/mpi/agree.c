#include "distribute/mpi/transport_mpi.h"

#include <stdio.h>

_Static_assert((int)PTI_PEER_FAILED > (int)POLYTILE_INTERNAL, "it is no public status");

static polytile_status broadcast_error(pti_mpi_transport *mpi, int root, void *bytes, int n_bytes) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    PTI_MPI_TRY(ctx, MPI_Ibcast(bytes, n_bytes, MPI_BYTE, root, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

polytile_status pti_mpi_all_succeeded(polytile_context *ctx, MPI_Comm comm, polytile_status own) {
    polytile_status status = POLYTILE_OK;
    int has_failed = own != POLYTILE_OK, any_failed = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    PTI_MPI_TRY(ctx, MPI_Iallreduce(&has_failed, &any_failed, 1, MPI_INT, MPI_MAX, comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
    status = any_failed && own == POLYTILE_OK ? PTI_PEER_FAILED : own;
done:
    return status;
}

/** Return a rank's urgency: one that failed by itself comes first, then one that failed because of
 * others. */
static int urgency_of(const pti_mpi_transport *mpi, polytile_status status) {
    if (status == POLYTILE_OK)
        return 2 * mpi->n_ranks;
    return mpi->rank + (status == PTI_PEER_FAILED ? mpi->n_ranks : 0);
}

/** Return this process' error; a peer's failure counts only if no rank has its own. */
static pti_error verdict_of(const pti_transport *transport, polytile_status status) {
    pti_error verdict = {0};
    if (status == PTI_PEER_FAILED)
        return pti_error_of(POLYTILE_DEVICE, "another rank had failed");
    pti_error_keep(&verdict, transport->ctx, status);
    return verdict.text[0] != '\0' ? verdict : pti_error_of(status, polytile_status_text(status));
}

polytile_status pti_mpi_agree(pti_transport *transport, polytile_status mine) {
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    pti_error verdict = verdict_of(transport, mine);
    int own = urgency_of(mpi, mine), first = 0, rank;
    PTI_MPI_TRY(transport->ctx,
                MPI_Iallreduce(&own, &first, 1, MPI_INT, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(transport->ctx, 1, &request));
    if (first == 2 * mpi->n_ranks)
        return POLYTILE_OK;
    rank = first % mpi->n_ranks;
    PTI_TRY(broadcast_error(mpi, rank, &verdict, sizeof verdict));
    pti_error_restore(transport->ctx, &verdict);
    status = pti_error_prefix(transport->ctx, verdict.status, "rank %d: ", rank);
done:
    return status;
}

/** Find out whether all hashes are equal: the smallest is the largest. */
static polytile_status all_same(pti_mpi_transport *mpi, uint64_t hash, bool *same) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    uint64_t own[2] = {hash, ~hash}, least[2] = {0, 0};
    PTI_MPI_TRY(ctx, MPI_Iallreduce(own, least, 2, MPI_UINT64_T, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
    *same = least[0] == ~least[1];
done:
    return status;
}

/** Find the lowest rank whose hash is not that of rank 0. */
static polytile_status find_stranger(pti_mpi_transport *mpi, uint64_t hash, int *stranger) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    uint64_t first = hash;
    int own;
    PTI_TRY(broadcast_error(mpi, 0, &first, sizeof first));
    own = hash != first ? mpi->rank : mpi->n_ranks;
    PTI_MPI_TRY(ctx, MPI_Iallreduce(&own, stranger, 1, MPI_INT, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Words are cut if two of them do not fit an error's text. */
polytile_status pti_mpi_compare(pti_transport *transport, uint64_t hash, const char *words) {
    enum { WORDS_BYTES = PTI_ERROR_BYTES / 2 - 128 };
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    polytile_status status = POLYTILE_OK;
    char at_first[WORDS_BYTES], at_stranger[WORDS_BYTES];
    int stranger = 0;
    bool same = false;
    PTI_TRY(all_same(mpi, hash, &same));
    if (same)
        return POLYTILE_OK;
    PTI_TRY(find_stranger(mpi, hash, &stranger));
    snprintf(at_first, sizeof at_first, "%s", words);
    snprintf(at_stranger, sizeof at_stranger, "%s", words);
    PTI_TRY(broadcast_error(mpi, 0, at_first, sizeof at_first));
    PTI_TRY(broadcast_error(mpi, stranger, at_stranger, sizeof at_stranger));
    status = pti_fail(transport->ctx, POLYTILE_INVALID,
                      "rank %d: %s; rank 0: %s; all ranks must make the same calls in the same "
                      "order, with the same declarations, domains and options",
                      stranger, at_stranger, at_first);
done:
    return status;
}
