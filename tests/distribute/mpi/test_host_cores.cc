#include "distribute/mpi/world.h"

#include <algorithm>
#include <omp.h>
#include <unistd.h>

extern "C" {
#include "distribute/mpi/transport_mpi.h"
}

namespace {

TEST(MpiHostShare, RanksOfOneMachineHaveItsCoresTogether) {
    polytile_context *ctx = nullptr;
    int n_cores = 0, together = 0;
    ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    ASSERT_EQ(pti_mpi_share_cores(ctx, MPI_COMM_WORLD, &n_cores), POLYTILE_OK);
    EXPECT_GE(n_cores, 1);
    MPI_Allreduce(&n_cores, &together, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_LE(together, std::max<long>(world_size(), sysconf(_SC_NPROCESSORS_ONLN)));
    if (world_size() == 1) {
        EXPECT_EQ(n_cores, omp_get_num_procs());
    }
    polytile_context_destroy(ctx);
}

} // namespace
