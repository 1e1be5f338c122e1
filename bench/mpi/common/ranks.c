#include "mpi/common/ranks.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

bool bench_take_option(const char *name, int n_words, int *argc, char ***argv) {
    if (*argc <= n_words || strcmp((*argv)[1], name) != 0)
        return false;
    *argc -= n_words;
    *argv += n_words;
    return true;
}

const char *bench_find_device(const char *text, int rank, char *own, size_t n_bytes) {
    const char *plus = strchr(text, '+');
    if (plus == NULL)
        return text;
    const char *begin = rank == 0 ? text : plus + 1;
    snprintf(own, n_bytes, "%.*s", (int)(rank == 0 ? plus - text : (long)strlen(begin)), begin);
    return own;
}

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
