#ifndef BENCH_MPI_JACOBI_BY_HAND_H
#define BENCH_MPI_JACOBI_BY_HAND_H

#include <mpi.h>
#include <stdint.h>

/* Steps of Jacobi over ranks as one writes them with MPI and OpenMP and no library. */

/** The rows of a square field that one rank has. */
typedef struct jacobi_by_hand {
    MPI_Comm comm;
    int above; /* the rank with the rows before, or MPI_PROC_NULL */
    int below;
    int64_t extent;
    int64_t first_row;
    int64_t n_rows;
    float *field[2]; /* n_rows and, before and after them, a row of the neighbours' */
} jacobi_by_hand;

/** Share the rows out; ends the job when there is no memory. */
void jacobi_by_hand_begin(MPI_Comm comm, int64_t extent, jacobi_by_hand *j);
void jacobi_by_hand_end(jacobi_by_hand *j);

/** Set what this rank has of both fields by a function of the indices in the whole field. */
void jacobi_by_hand_fill(jacobi_by_hand *j, float (*start)(int64_t row, int64_t column));

/** From field[0]; the result is in field[n_steps % 2]. */
void jacobi_by_hand_run(jacobi_by_hand *j, int n_steps);

/** This rank's rows of a field. */
const float *jacobi_by_hand_rows(const jacobi_by_hand *j, int field);

#endif
