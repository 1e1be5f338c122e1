#ifndef POLYTILE_PARTITION_CHOOSE_CERTIFICATE_H
#define POLYTILE_PARTITION_CHOOSE_CERTIFICATE_H

#include "base/context.h"
#include "partition/cut/candidate.h"

/* Why nothing fits, and which limit would do. */

/** In bytes; what is more cannot be given as a limit. */
static const int64_t PTI_LARGEST_ADVICE = INT64_MAX - (INT64_C(1) << 40);

/** Round bytes up to whole quarters of the unit in which they are written, so that the text says
 * exactly as much, and can be given as a limit. */
int64_t pti_advisable(int64_t bytes);

/** The least advisable limit within which any one block fits; 0: there is none. */
int64_t pti_certificate_limit(const pti_problem *problem, int n_buffers);

/** Stands for a limit to advise: some limit may do, but none is known to. */
enum { PTI_NO_ADVICE = -1 };

/**
 * Say why not even one block fits: each array's share of the worst block, the limit, and what would
 * help. advised_bytes: a limit that would do, 0 if none would, or PTI_NO_ADVICE.
 *
 * Returns NO_FIT.
 */
polytile_status pti_certificate(polytile_context *ctx, const pti_problem *problem, int n_buffers,
                                int64_t advised_bytes);

#endif
