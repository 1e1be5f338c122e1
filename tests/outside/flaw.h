#ifndef OUTSIDE_FLAW_H
#define OUTSIDE_FLAW_H

/* Kernels with a mistake in their parameters. */
#include "outside/model.h"

#include <polytile/polytile.h>

namespace outside {

/** Create a kernel with its flaw; what is wrong with the answer, or "". */
std::string try_flaw(polytile_context *ctx, const Kernel &kernel);

} // namespace outside

#endif
