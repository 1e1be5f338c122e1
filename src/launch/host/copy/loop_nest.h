#ifndef POLYTILE_LAUNCH_HOST_COPY_LOOP_NEST_H
#define POLYTILE_LAUNCH_HOST_COPY_LOOP_NEST_H

#include "launch/device/device.h"

/* A move as a nest of loops over runs, bytes that are contiguous on both sides. */

/** Steps in bytes. */
typedef struct pti_loop {
    int64_t count;
    int64_t to_step;
    int64_t from_step;
} pti_loop;

/** loops[0] is outermost; there is always at least one, of one turn if all is one run. */
typedef struct pti_loop_nest {
    int n_loops;
    pti_loop loops[POLYTILE_MAX_DIMS + 1];
    int64_t run_bytes;
    int64_t n_runs;
    char *to; /* the first run */
    const char *from;
} pti_loop_nest;

/** Return the fewest loops over the largest runs that move a non-empty box. */
pti_loop_nest pti_loop_nest_of(const pti_move *move);

/** Return the same for a box of an array whose first element is at `first`, and its elements packed
 * one after the other in C order, from packed on; is_in: into these. */
pti_loop_nest pti_loop_nest_of_packed(const polytile_domain *box, const pti_memory_layout *layout,
                                      int64_t element_bytes, char *first, char *packed, bool is_in);

/** Copy all runs, in the calling thread. */
void pti_loop_nest_copy(const pti_loop_nest *nest);

/** Find where a run, counted in C order, begins on both sides. Returns how many are left in its
 * row, with itself. */
int64_t pti_loop_nest_locate(const pti_loop_nest *nest, int64_t run, char **to, const char **from);

#endif
