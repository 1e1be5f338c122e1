#include "by_hand.h"
#include "mandelbrot_kernels.h"

static void compute_row(int n, int i, int32_t *row) {
    for (int j = 0; j < n; j++)
        row[j] = mandelbrot_point(n, i, j);
}

/** The tag of a message is the row that it has; n: none yet. So is an answer: none any more. */
static void ask_for_rows(MPI_Comm comm, int n, int32_t *row) {
    int i = n;
    for (;;) {
        MPI_Send(row, i < n ? n : 0, MPI_INT32_T, 0, i, comm);
        MPI_Recv(&i, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        if (i == n)
            return;
        compute_row(n, i, row);
    }
}

static void hand_out_rows(MPI_Comm comm, int n_workers, int n, int32_t *image) {
    int next = 0;
    MPI_Status who;
    for (int left = n + n_workers; left > 0; left--) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &who);
        const int done = who.MPI_TAG;
        MPI_Recv(image + (int64_t)done * n, done < n ? n : 0, MPI_INT32_T, who.MPI_SOURCE, done,
                 comm, MPI_STATUS_IGNORE);
        const int answer = next < n ? next++ : n;
        MPI_Send(&answer, 1, MPI_INT, who.MPI_SOURCE, 0, comm);
    }
}

void mandelbrot_by_hand(MPI_Comm comm, int n, int32_t *row, int32_t *image) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    if (rank == 0)
        hand_out_rows(comm, n_ranks - 1, n, image);
    else
        ask_for_rows(comm, n, row);
}
