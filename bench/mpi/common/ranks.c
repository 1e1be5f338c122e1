#include "mpi/common/ranks.h"

#include <mpi.h>
#include <stdlib.h>

int bench_begin_ranks(bench *b, const char *name, int n_ranks, const char *options, int argc,
                      char **argv) {
    int is_initialised, level, n, rank;
    MPI_Initialized(&is_initialised);
    if (!is_initialised)
        MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (n != n_ranks || (rank != 0 && freopen("/dev/null", "w", stdout) == NULL) ||
        !bench_begin(b, name, rank == 0 ? argc : 1, argv)) {
        fprintf(stderr, "usage: mpiexec -n %d %s %s[--json FILE]\n", n_ranks, name, options);
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    return rank;
}

int bench_end_ranks(bench *b) {
    MPI_Finalize();
    return bench_end(b);
}
