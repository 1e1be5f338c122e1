#ifndef EXAMPLES_RANKS_H
#define EXAMPLES_RANKS_H

#include <polytile/queue.h>

/* The processes that run an example together: one alone, or the ranks of MPI. */

typedef struct ranks {
    bool is_job; /* started under mpiexec, maybe as a job of one */
    int n;       /* 1: this process is alone */
    int rank;
    int n_here; /* of them on this machine */
    int here;   /* which of those this one is */
} ranks;

/** Join the other ranks if mpiexec started the program; else MPI is left alone. */
void ranks_join(ranks *r);
void ranks_leave(const ranks *r);

/** Run the same command line again, as n ranks under mpiexec. Returns only on failure, with the
 * reason. */
const char *ranks_restart(int64_t n, char **argv);

/**
 * Share this rank's status with all ranks.
 *
 * status: 0 if this rank goes on. If some do not, all get the status and the text, of text_bytes,
 * of the lowest of them, whose number is returned; else -1.
 */
int ranks_agree(const ranks *r, int *status, char *text, int text_bytes);

/** Return on all ranks the lowest one whose number is not rank 0's; -1: none. */
int ranks_find_stranger(const ranks *r, uint64_t number);

/** Send what one rank has in this memory to the others. */
void ranks_tell(const ranks *r, int from, char *bytes, int n_bytes);

/** Return the largest of all ranks' numbers on all of them. */
double ranks_largest(const ranks *r, double number);

/** Make each number the sum of all ranks' own, on all of them. */
void ranks_add(const ranks *r, int n, double *numbers);

/** Create a queue over all ranks, each on its own device; policy: NULL for the default. Errors: see
 * polytile/mpi.h. */
polytile_status ranks_create_queue(polytile_context *ctx, const char *device_text,
                                   const char *policy, polytile_queue **queue);

#endif
