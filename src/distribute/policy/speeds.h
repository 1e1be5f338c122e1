#ifndef POLYTILE_DISTRIBUTE_POLICY_SPEEDS_H
#define POLYTILE_DISTRIBUTE_POLICY_SPEEDS_H

#include "base/context.h"

/* How fast units ran the rows of kernels, kept by the context for later launches. */

/** The speed of a unit and a kind of rows, rows a second; 0: none is kept. */
double pti_speeds_find(const polytile_context *ctx, uint64_t key);

/** Keep a speed, in place of an older one, or of that which was kept first if there are many. A
 * speed that memory runs out for is not kept. */
void pti_speeds_keep(polytile_context *ctx, uint64_t key, double rows_per_s);

#endif
