#ifndef BENCH_EFFORT_STUDY_H
#define BENCH_EFFORT_STUDY_H

/* What every program of the case studies does in the same way, whatever it computes with:
 * arguments, matrices and their first values, the checksum. Each function ends the program when it
 * fails, with a message and the exit code 1 (2: wrong arguments). */
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** End the program with its usage unless the command line has one argument for each word of it. */
void study_begin(int argc, char **argv, const char *usage);

/** The number 1 .. 2^20 that an argument is. */
int64_t study_number(const char *argument);

/** An n x n matrix from malloc(), whose elements are small whole numbers found from their place and
 * the seed. study_end() frees it. */
int *study_create_ints(int64_t n, int seed);
float *study_create_floats(int64_t n, int seed);

/** Write to standard output a number that depends on every bit of the n x n elements of 4 bytes
 * that are the result, and on where they are; then free all matrices. */
void study_end(const void *result, int64_t n);

#ifdef __cplusplus
}
#endif

#endif
