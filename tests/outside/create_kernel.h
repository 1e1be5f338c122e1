#ifndef OUTSIDE_CREATE_KERNEL_H
#define OUTSIDE_CREATE_KERNEL_H

#include "outside/body.h"

namespace outside {

/** Create the library's kernel of a body, from text or by calls. */
polytile_status create_kernel(polytile_context *ctx, const Body &body, polytile_kernel **kernel);

} // namespace outside

#endif
