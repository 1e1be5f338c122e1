#include "by_hand.h"
#include "mandelbrot_kernels.h"

/** The first row of a rank from 1 on; of the one after the last, n. */
static int first_row(int rank, int n_ranks, int n) {
    return n * (rank - 1) / (n_ranks - 1);
}

void mandelbrot_split_by_hand(MPI_Comm comm, int n, int32_t *image) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    for (int worker = 1; worker < n_ranks; worker++) {
        const int first = first_row(worker, n_ranks, n);
        const int n_elements = (first_row(worker + 1, n_ranks, n) - first) * n;
        int32_t *rows = image + (int64_t)first * n;
        if (rank == 0)
            MPI_Recv(rows, n_elements, MPI_INT32_T, worker, 0, comm, MPI_STATUS_IGNORE);
        for (int k = 0; rank == worker && k < n_elements; k++)
            rows[k] = mandelbrot_point(n, first + k / n, k % n);
        if (rank == worker)
            MPI_Send(rows, n_elements, MPI_INT32_T, 0, 0, comm);
    }
}
