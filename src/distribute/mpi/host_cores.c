#include "distribute/mpi/transport_mpi.h"

#include "distribute/mpi/calls.h"

#include <sched.h>

/** Set 1 for each core on which this process may run. A machine with more cores than a set holds
 * counts as one core. */
static void list_cores(int *may_use) {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        CPU_SET(0, &set);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        may_use[core] = CPU_ISSET(core, &set) != 0;
}

static int add_parts(const int *may_use, const int *n_users) {
    const double rounding = 1e-9;
    double n_cores = 0.0;
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (may_use[core])
            n_cores += 1.0 / n_users[core];
    return n_cores < 1.0 ? 1 : (int)(n_cores + rounding);
}

polytile_status pti_mpi_share_cores(polytile_context *ctx, MPI_Comm comm, int *n_cores) {
    polytile_status status = POLYTILE_OK;
    int may_use[CPU_SETSIZE], n_users[CPU_SETSIZE];
    MPI_Comm machine = MPI_COMM_NULL;
    MPI_Request added;
    *n_cores = 1;
    list_cores(may_use);
    PTI_MPI_TRY(ctx, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    PTI_MPI_TRY(ctx,
                MPI_Iallreduce(may_use, n_users, CPU_SETSIZE, MPI_INT, MPI_SUM, machine, &added));
    PTI_TRY(pti_mpi_wait(ctx, 1, &added));
    *n_cores = add_parts(may_use, n_users);
done:
    if (machine != MPI_COMM_NULL)
        MPI_Comm_free(&machine);
    return status;
}

polytile_status pti_mpi_is_one_machine(polytile_context *ctx, MPI_Comm comm, bool *is) {
    polytile_status status = POLYTILE_OK;
    MPI_Comm machine = MPI_COMM_NULL;
    int n_here = 0, n_ranks = 0;
    PTI_MPI_TRY(ctx, MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine));
    PTI_MPI_TRY(ctx, MPI_Comm_size(machine, &n_here));
    PTI_MPI_TRY(ctx, MPI_Comm_size(comm, &n_ranks));
    *is = n_here == n_ranks;
done:
    if (machine != MPI_COMM_NULL)
        MPI_Comm_free(&machine);
    return status;
}
