#include "by_hand.h"
#include "mandelbrot_kernels.h"

void mandelbrot_rows(int n, int first, int n_rows, int32_t *rows) {
    for (int k = 0; k < n_rows * n; k++)
        rows[k] = mandelbrot_point(n, first + k / n, k % n);
}

/** The tag of a message is the first row that it has; n: none yet. So is an answer: none any more.
 */
static void ask_for_rows(MPI_Comm comm, const mandelbrot_request *of, int32_t *rows) {
    int first = of->n;
    for (;;) {
        MPI_Send(rows, first < of->n ? of->n_rows * of->n : 0, MPI_INT32_T, 0, first, comm);
        MPI_Recv(&first, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
        if (first == of->n)
            return;
        of->compute(of->n, first, of->n_rows, rows);
    }
}

static void hand_out_rows(MPI_Comm comm, const mandelbrot_request *of, int n_workers,
                          int32_t *image) {
    int next = 0;
    MPI_Status who;
    for (int left = of->n / of->n_rows + n_workers; left > 0; left--) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &who);
        const int done = who.MPI_TAG, answer = next;
        MPI_Recv(image + (int64_t)done * of->n, done < of->n ? of->n_rows * of->n : 0, MPI_INT32_T,
                 who.MPI_SOURCE, done, comm, MPI_STATUS_IGNORE);
        next += next < of->n ? of->n_rows : 0;
        MPI_Send(&answer, 1, MPI_INT, who.MPI_SOURCE, 0, comm);
    }
}

void mandelbrot_by_hand(MPI_Comm comm, const mandelbrot_request *of, int32_t *rows,
                        int32_t *image) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    if (rank == 0)
        hand_out_rows(comm, of, n_ranks - 1, image);
    else
        ask_for_rows(comm, of, rows);
}
