#ifndef BENCH_MPI_COMMON_RANKS_H
#define BENCH_MPI_COMMON_RANKS_H

#include "common/bench.h"

/** Take an option of so many words off the front of the arguments; argv[0] is its last one then. */
bool bench_take_option(const char *name, int n_words, int *argc, char ***argv);

/** Return the part of "A+B" that is the device of a rank, A of the first one; other texts as they
 * are. own: room for it. */
const char *bench_find_device(const char *text, int rank, char *own, size_t n_bytes);

/** Begin a benchmark of n_ranks processes, and MPI unless it has begun. Rank 0 reports: what the
 * others print goes nowhere. Of another number of processes it ends them all, and says how to call
 * it. options: what else than --json the command line takes, for that. Returns the rank. */
int bench_begin_ranks(bench *b, const char *name, int n_ranks, const char *options, int argc,
                      char **argv);

/** End MPI and the benchmark; returns the exit code. */
int bench_end_ranks(bench *b);

#endif
