#ifndef POLYTILE_PARTITION_CHOOSE_CERTIFICATE_H
#define POLYTILE_PARTITION_CHOOSE_CERTIFICATE_H

#include "base/context.h"
#include "partition/cut/candidate.h"

/**
 * Say why not even one block fits: each array's share of the worst block, the limit, and what would
 * help.
 *
 * Returns NO_FIT.
 */
polytile_status pti_certificate(polytile_context *ctx, const pti_problem *problem, int n_buffers);

#endif
