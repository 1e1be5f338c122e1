#include "distribute/mpi/transport_mpi.h"

#include "distribute/share/load_balance.h"

#include <math.h>

enum { SIXTEEN = 16 };

/** Share the least speed of each part's ranks. */
static polytile_status share_speeds(pti_mpi_transport *mpi, int part, double speed, int n_parts,
                                    double *speeds) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    double own[PTI_MAX_WEIGHTS];
    for (int p = 0; p < n_parts; p++)
        own[p] = p == part ? speed : INFINITY;
    PTI_MPI_TRY(ctx,
                MPI_Iallreduce(own, speeds, n_parts, MPI_DOUBLE, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

polytile_status pti_mpi_balance_load(pti_transport *transport, polytile_queue *member,
                                     const pti_member_grid *grid, pti_distribution *distribution) {
    polytile_status status;
    pti_speed speed;
    double speeds[PTI_MAX_WEIGHTS];
    int n_parts = transport->n_members;
    const int part = pti_balance_coordinate(grid, transport->first, &n_parts);
    if (n_parts > PTI_MAX_WEIGHTS)
        return pti_fail(transport->ctx, POLYTILE_INVALID,
                        "weighted: %d parts, at most %d can be weighed; give a grid with fewer in "
                        "the first dimension that it cuts",
                        n_parts, PTI_MAX_WEIGHTS);
    PTI_TRY(transport->functions->agree(transport, POLYTILE_OK));
    status = pti_speed_measure(member, &speed);
    PTI_TRY(transport->functions->agree(transport, status));
    PTI_TRY(share_speeds(pti_mpi_of(transport), part, speed.resident, n_parts, speeds));
    pti_weights_round(n_parts, SIXTEEN, 1, speeds);
    *distribution = pti_weighted(n_parts, speeds);
done:
    return status;
}
