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

/** Join the others, if the program was started under mpiexec; without, MPI is left alone. */
void ranks_join(ranks *r);
void ranks_leave(const ranks *r);

/** Run the same command line anew, as n ranks under mpiexec. Returns only if that fails: why. */
const char *ranks_restart(int64_t n, char **argv);

/**
 * Tell all ranks how this one stands, and hear how they do.
 *
 * status: 0 if it goes on. Where ranks do not, all get the status and the text, of text_bytes, of
 * the lowest of them, whose number is returned; else -1.
 */
int ranks_agree(const ranks *r, int *status, char *text, int text_bytes);

/** The lowest rank whose number is not that of rank 0, on all of them; -1: there is none. */
int ranks_find_stranger(const ranks *r, uint64_t number);

/** Give the others what one rank has in this memory. */
void ranks_tell(const ranks *r, int from, char *bytes, int n_bytes);

/** The largest of all ranks' numbers, on all of them. */
double ranks_largest(const ranks *r, double number);

/** Make each number the sum of all ranks' own, on all of them. */
void ranks_add(const ranks *r, int n, double *numbers);

/** A queue over all ranks, each on the device that it gives; layout: NULL for the default. Errors:
 * see polytile/mpi.h. */
polytile_status ranks_create_queue(polytile_context *ctx, const char *device_text,
                                   const char *layout, polytile_queue **queue);

#endif
