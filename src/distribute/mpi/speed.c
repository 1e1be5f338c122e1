#include "distribute/mpi/transport_mpi.h"

#include "distribute/share/load_balance.h"

#include <math.h>

enum { SIXTEEN = 16 };

/** Share the least speed of each part's members, of which this rank's are known. */
static polytile_status share_speeds(pti_mpi_transport *mpi, const double *own, int n_parts,
                                    double *speeds) {
    polytile_context *ctx = mpi->transport.ctx;
    polytile_status status = POLYTILE_OK;
    MPI_Request request = MPI_REQUEST_NULL;
    PTI_MPI_TRY(ctx,
                MPI_Iallreduce(own, speeds, n_parts, MPI_DOUBLE, MPI_MIN, mpi->comm, &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Measure this rank's members one by one, each when all ranks do. */
static polytile_status measure_members(pti_transport *transport, polytile_queue *const *members,
                                       const pti_member_grid *grid, double *own) {
    polytile_status status;
    for (int p = 0; p < PTI_MAX_WEIGHTS; p++)
        own[p] = INFINITY;
    for (int m = 0; m < transport->n_local; m++) {
        pti_speed speed;
        int n_parts = transport->n_members;
        const int part = pti_balance_coordinate(grid, transport->first + m, &n_parts);
        PTI_TRY(transport->functions->agree(transport, POLYTILE_OK));
        status = pti_speed_measure(members[m], &speed);
        PTI_TRY(transport->functions->agree(transport, status));
        own[part] = fmin(own[part], speed.resident);
    }
done:
    return status;
}

polytile_status pti_mpi_balance_load(pti_transport *transport, polytile_queue *const *members,
                                     const pti_member_grid *grid, pti_distribution *distribution) {
    polytile_status status;
    double own[PTI_MAX_WEIGHTS], speeds[PTI_MAX_WEIGHTS];
    int n_parts = transport->n_members;
    pti_balance_coordinate(grid, transport->first, &n_parts);
    if (n_parts > PTI_MAX_WEIGHTS)
        return pti_fail(transport->ctx, POLYTILE_INVALID,
                        "weighted: %d parts, at most %d can be weighed; give a grid with fewer in "
                        "the first dimension that it cuts",
                        n_parts, PTI_MAX_WEIGHTS);
    PTI_TRY(measure_members(transport, members, grid, own));
    PTI_TRY(share_speeds(pti_mpi_of(transport), own, n_parts, speeds));
    pti_weights_round(n_parts, SIXTEEN, 1, speeds);
    *distribution = pti_weighted(n_parts, speeds);
done:
    return status;
}
