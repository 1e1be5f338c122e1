#include "distribute/mpi/transport_mpi.h"

#include <stdlib.h>

static void close_transport(pti_transport *transport) {
    pti_mpi_transport *mpi = pti_mpi_of(transport);
    if (transport->counter != NULL)
        transport->counter->functions->close(transport->counter, transport->ends_together);
    pti_mpi_carrier_free(mpi->carrier);
    if (mpi->comm != MPI_COMM_NULL && pti_mpi_is_up())
        MPI_Comm_free(&mpi->comm);
    free(mpi->small);
    free(mpi->counts);
    free(mpi);
}

static const pti_transport_functions functions = {
    .agree = pti_mpi_agree,
    .compare = pti_mpi_compare,
    .open = pti_mpi_open,
    .send = pti_mpi_send,
    .receive = pti_mpi_receive,
    .forget = pti_mpi_forget,
    .combine = pti_mpi_combine,
    .gather = pti_mpi_gather,
    .carry = pti_mpi_carry,
    .close = close_transport,
};

/** Create a transport without a communicator; NULL: memory ran out. */
static pti_mpi_transport *create_apart(polytile_context *ctx, int n_ranks, int rank, int n_local) {
    pti_mpi_transport *mpi = calloc(1, sizeof *mpi);
    if (mpi == NULL)
        return NULL;
    mpi->transport = (pti_transport){.functions = &functions,
                                     .ctx = ctx,
                                     .n_members = n_ranks * n_local,
                                     .first = rank * n_local,
                                     .n_local = n_local,
                                     .shares_memory = n_local > 1};
    mpi->rank = rank;
    mpi->n_ranks = n_ranks;
    mpi->comm = MPI_COMM_NULL;
    mpi->chunk_bytes = PTI_MPI_CHUNK_BYTES;
    mpi->small = malloc(2 * PTI_MPI_SMALL_BYTES);
    mpi->counts = calloc((size_t)n_ranks * 4, sizeof *mpi->counts);
    if (mpi->small == NULL || mpi->counts == NULL) {
        close_transport(&mpi->transport);
        return NULL;
    }
    return mpi;
}

/** Duplicate a communicator, and let it return errors. */
static polytile_status duplicate_communicator(polytile_context *ctx, MPI_Comm comm,
                                              MPI_Comm *copy) {
    polytile_status status = POLYTILE_OK;
    PTI_MPI_TRY(ctx, MPI_Comm_dup(comm, copy));
    PTI_MPI_TRY(ctx, MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN));
done:
    return status;
}

polytile_status pti_transport_mpi_create(polytile_context *ctx, MPI_Comm comm, int n_local,
                                         pti_transport **transport) {
    polytile_status status = POLYTILE_OK;
    pti_mpi_transport *mpi = NULL;
    MPI_Comm copy = MPI_COMM_NULL;
    int n_ranks = 0, rank = 0, level = MPI_THREAD_FUNNELED;
    *transport = NULL;
    PTI_TRY(duplicate_communicator(ctx, comm, &copy));
    PTI_MPI_TRY(ctx, MPI_Comm_size(copy, &n_ranks));
    PTI_MPI_TRY(ctx, MPI_Comm_rank(copy, &rank));
    PTI_MPI_TRY(ctx, MPI_Query_thread(&level));
    mpi = create_apart(ctx, n_ranks, rank, n_local);
    if (mpi == NULL)
        status = pti_fail_memory(ctx, "a transport over MPI", 2. * PTI_MPI_SMALL_BYTES);
    PTI_TRY(pti_mpi_all_succeeded(ctx, copy, status));
    mpi->comm = copy;
    mpi->transport.by_any_thread = level >= MPI_THREAD_SERIALIZED;
    *transport = &mpi->transport;
    return POLYTILE_OK;
done:
    if (status == PTI_PEER_FAILED)
        status = pti_fail(ctx, POLYTILE_NO_MEMORY, "another rank has no memory for messages");
    if (mpi != NULL)
        close_transport(&mpi->transport);
    if (copy != MPI_COMM_NULL)
        MPI_Comm_free(&copy);
    return status;
}
