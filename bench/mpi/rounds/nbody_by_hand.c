#include "by_hand.h"
#include "nbody_kernels.h"

/** Move so many bodies from the first one on, each after all have been accelerated. */
static void move(int first, int n_own, int n, float *body, float *velocity) {
    for (int k = first; k < first + n_own; k++)
        nbody_accelerate(velocity + k * NBODY_FIELDS, body + k * NBODY_FIELDS, body, n);
    for (int k = first; k < first + n_own; k++)
        for (int d = NBODY_X; d <= NBODY_Z; d++)
            body[k * NBODY_FIELDS + d] += NBODY_STEP * velocity[k * NBODY_FIELDS + d];
}

void nbody_by_hand(MPI_Comm comm, int n, int n_steps, float *body, float *velocity) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    const int n_own = n / n_ranks;
    for (int step = 0; step < n_steps; step++) {
        move(rank * n_own, n_own, n, body, velocity);
        MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, body, n_own * NBODY_FIELDS, MPI_FLOAT,
                      comm);
    }
}
