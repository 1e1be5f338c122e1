#ifndef BENCH_MPI_ROUNDS_BY_HAND_H
#define BENCH_MPI_ROUNDS_BY_HAND_H

#include <mpi.h>
#include <stdint.h>

/* Examples whose slots send messages while they run, written without slots: on each rank the kernel
 * returns after each round, the program calls MPI, and runs the kernel again. */

/** Multiply, on q x q ranks, which have a block of m x m elements of each matrix. Blocks of A and B
 * come as the algorithm begins, rotated. */
void cannon_by_hand(MPI_Comm comm, int m, float *A, float *B, float *C);

/** Move n bodies, of which each rank has all: it moves an equal part, and gets the others. Shapes:
 * n is a multiple of the ranks; body and velocity as in nbody_kernels.h. */
void nbody_by_hand(MPI_Comm comm, int n, int n_steps, float *body, float *velocity);

/** Compute so many rows of an n x n image, from the first one on. */
void mandelbrot_rows(int n, int first, int n_rows, int32_t *rows);

/** An image of n x n elements, and what is asked for at once: n_rows, which divide n. */
typedef struct mandelbrot_request {
    int n;
    int n_rows;
    void (*compute)(int n, int first, int n_rows, int32_t *rows);
} mandelbrot_request;

/** Compute an image: rank 0 hands rows out and collects them, the others ask for the next ones.
 * Shapes: rows: those of a request, of each other rank; image: of rank 0. */
void mandelbrot_by_hand(MPI_Comm comm, const mandelbrot_request *of, int32_t *rows, int32_t *image);

/** The same by a static split: each rank but 0 computes rows that lie together, of its own image,
 * and sends them. Shapes: image: n x n of each rank. */
void mandelbrot_split_by_hand(MPI_Comm comm, int n, int32_t *image);

#endif
