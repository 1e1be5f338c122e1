#ifndef POLYTILE_DISTRIBUTE_MPI_SPEED_H
#define POLYTILE_DISTRIBUTE_MPI_SPEED_H

#include "distribute/mpi/transport_mpi.h"
#include "queue/queue.h"

/**
 * Weigh the coordinates of the first dimension that is cut by the speeds of their devices, which
 * all ranks measure now, at the same time; each is as fast as its slowest rank. Weights are
 * sixteenths of the fastest, so devices that are alike get the same.
 *
 * grid: NULL: a part a rank.
 * Errors  INVALID (more than PTI_MAX_WEIGHTS parts), and those of launches; the same on all ranks.
 */
polytile_status pti_mpi_balance_load(pti_transport *transport, polytile_queue *member,
                                     const pti_member_grid *grid, pti_distribution *distribution);

#endif
