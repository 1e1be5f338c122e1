#ifndef BENCH_MPI_ROUNDS_LINES_H
#define BENCH_MPI_ROUNDS_LINES_H

/** Count the lines of a C source that hold more than space and comments. Ends the program if it
 * cannot be read. Shapes: path: from the root of the sources. */
int rounds_count_lines(const char *path);

#endif
