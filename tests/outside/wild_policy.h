#ifndef OUTSIDE_WILD_POLICY_H
#define OUTSIDE_WILD_POLICY_H

#include <polytile/polytile.h>

namespace outside {

/* Policies of a program's own that answer anything, and always the same to the same question. */

constexpr const char *WILD_POLICY = "wild";          /* takes */
constexpr const char *WILD_WEIGHTS = "wild-weights"; /* weighs */

polytile_status register_wild_policies(polytile_context *ctx);

} // namespace outside

#endif
