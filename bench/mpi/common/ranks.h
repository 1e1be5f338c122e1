#ifndef BENCH_MPI_COMMON_RANKS_H
#define BENCH_MPI_COMMON_RANKS_H

#include "common/bench.h"

/** Begin a benchmark of n_ranks processes, and MPI unless it has begun. Rank 0 reports: what the
 * others print goes nowhere. Of another number of processes it ends them all, and says how to call
 * it. options: what else than --json the command line takes, for that. Returns the rank. */
int bench_begin_ranks(bench *b, const char *name, int n_ranks, const char *options, int argc,
                      char **argv);

/** End MPI and the benchmark; returns the exit code. */
int bench_end_ranks(bench *b);

#endif
