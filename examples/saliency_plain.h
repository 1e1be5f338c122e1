#ifndef EXAMPLES_SALIENCY_PLAIN_H
#define EXAMPLES_SALIENCY_PLAIN_H

#include "common/session.h"

/** Find the saliency of a frame in f64, with sums in place of fast transforms. extent: its rows and
 * columns; saliency: as many elements. Errors: NO_MEMORY. */
polytile_status saliency_plain(session *s, const int64_t *extent, const float *frame,
                               double *saliency);

#endif
