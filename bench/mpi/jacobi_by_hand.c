#include "jacobi_by_hand.h"

#include "jacobi_kernels.h"

#include <stdlib.h>

/** A row by its place among this rank's; -1 and n_rows are the neighbours'. */
static float *row_of(const jacobi_by_hand *j, int field, int64_t row) {
    return j->field[field] + (row + 1) * j->extent;
}

void jacobi_by_hand_begin(MPI_Comm comm, int64_t extent, jacobi_by_hand *j) {
    int rank, n_ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &n_ranks);
    *j = (jacobi_by_hand){.comm = comm, .extent = extent};
    j->above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    j->below = rank < n_ranks - 1 ? rank + 1 : MPI_PROC_NULL;
    j->first_row = extent * rank / n_ranks;
    j->n_rows = extent * (rank + 1) / n_ranks - j->first_row;
    for (int f = 0; f < 2; f++) {
        j->field[f] = calloc((size_t)((j->n_rows + 2) * extent), sizeof(float));
        if (j->field[f] == NULL)
            MPI_Abort(comm, EXIT_FAILURE);
    }
}

void jacobi_by_hand_end(jacobi_by_hand *j) {
    for (int f = 0; f < 2; f++)
        free(j->field[f]);
}

void jacobi_by_hand_fill(jacobi_by_hand *j, float (*start)(int64_t row, int64_t column)) {
    for (int f = 0; f < 2; f++)
#pragma omp parallel for
        for (int64_t row = 0; row < j->n_rows; row++)
            for (int64_t column = 0; column < j->extent; column++)
                row_of(j, f, row)[column] = start(j->first_row + row, column);
}

/** Those of the rows that are not at the whole field's border. */
static void update(const jacobi_by_hand *j, int from, int64_t first, int64_t last) {
    const int64_t least = j->above == MPI_PROC_NULL ? 1 : 0;
    const int64_t most = j->n_rows - 1 - (j->below == MPI_PROC_NULL ? 1 : 0);
    first = first < least ? least : first;
    last = last > most ? most : last;
#pragma omp parallel for schedule(static)
    for (int64_t row = first; row <= last; row++) {
        const float *here = row_of(j, from, row);
        const float *north = row_of(j, from, row - 1), *south = row_of(j, from, row + 1);
        float *restrict to = row_of(j, 1 - from, row);
        for (int64_t c = 1; c < j->extent - 1; c++)
            to[c] = FIVE_POINT_MEAN(here[c], north[c], south[c], here[c - 1], here[c + 1], 0.2f);
    }
}

/** The rows in the middle while those of the neighbours are on their way. */
static void step(const jacobi_by_hand *j, int from) {
    MPI_Request requests[4];
    MPI_Status statuses[4];
    const int64_t last = j->n_rows - 1;
    const int n = (int)j->extent;
    MPI_Irecv(row_of(j, from, -1), n, MPI_FLOAT, j->above, 0, j->comm, &requests[0]);
    MPI_Irecv(row_of(j, from, last + 1), n, MPI_FLOAT, j->below, 1, j->comm, &requests[1]);
    MPI_Isend(row_of(j, from, 0), n, MPI_FLOAT, j->above, 1, j->comm, &requests[2]);
    MPI_Isend(row_of(j, from, last), n, MPI_FLOAT, j->below, 0, j->comm, &requests[3]);
    update(j, from, 1, last - 1);
    MPI_Waitall(4, requests, statuses);
    update(j, from, 0, 0);
    if (last > 0)
        update(j, from, last, last);
}

void jacobi_by_hand_run(jacobi_by_hand *j, int n_steps) {
    for (int s = 0; s < n_steps; s++)
        step(j, s % 2);
}

const float *jacobi_by_hand_rows(const jacobi_by_hand *j, int field) {
    return row_of(j, field, 0);
}
