#ifndef EXAMPLES_CG_KERNELS_H
#define EXAMPLES_CG_KERNELS_H

#include <polytile/implementation.h>

/* Conjugate gradients, beside the product of the matrix and a vector (spmv_kernels.h). Products of
 * vectors lie in arrays of one element, so that no iteration waits for the host.
 *
 * Source  Hestenes and Stiefel, "Methods of conjugate gradients for solving linear systems",
 *         1952. */

/** x = 0, and r = p = b. */
#define CG_BEGIN_DECLARATION "cg_begin[i]: in b[i]; out x[i], r[i], p[i]"
#define CG_DOT_DECLARATION   "cg_dot[i]: in a[i], b[i]; out sum s[0]"
/** x = x + step p, r = r - step q, where step = rr / pq. */
#define CG_STEP_DECLARATION "cg_step[i]: in rr[0], pq[0], p[i], q[i]; inout x[i], r[i]"
/** p = r + rr / before p. */
#define CG_TURN_DECLARATION "cg_turn[i]: in rr[0], before[0], r[i]; inout p[i]"

#ifdef __cplusplus
extern "C" {
#endif

const polytile_implementation *cg_begin_implementation(void);
const polytile_implementation *cg_dot_implementation(void);
const polytile_implementation *cg_step_implementation(void);
const polytile_implementation *cg_turn_implementation(void);

#ifdef __cplusplus
}
#endif

#endif
