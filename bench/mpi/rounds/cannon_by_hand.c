#include "by_hand.h"

#include <math.h>

static void multiply(int m, const float *A, const float *B, float *C) {
    for (int i = 0; i < m; i++)
        for (int k = 0; k < m; k++)
            for (int j = 0; j < m; j++)
                C[i * m + j] += A[i * m + k] * B[k * m + j];
}

void cannon_by_hand(MPI_Comm comm, int m, float *A, float *B, float *C) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    const int q = (int)lround(sqrt(n_ranks)), row = rank / q, column = rank % q;
    const int left = row * q + (column + q - 1) % q, right = row * q + (column + 1) % q;
    const int up = (row + q - 1) % q * q + column, down = (row + 1) % q * q + column;
    for (int step = 0; step < q; step++) {
        multiply(m, A, B, C);
        MPI_Sendrecv_replace(A, m * m, MPI_FLOAT, left, 0, right, 0, comm, MPI_STATUS_IGNORE);
        MPI_Sendrecv_replace(B, m * m, MPI_FLOAT, up, 1, down, 1, comm, MPI_STATUS_IGNORE);
    }
}
