#ifndef POLYTILE_ACCESS_BIND_UNITE_H
#define POLYTILE_ACCESS_BIND_UNITE_H

#include "access/footprint/instance.h"
#include "base/context.h"

/**
 * Unite sections that are one strided section together, such as x[a*g+k] and x[a*g+k+h], of
 * operands whose written elements take too many boxes otherwise: together they often take one.
 *
 * What the program gave stays with the instance (pti_instance.given).
 *
 * Errors  NO_MEMORY. *instance is then as it was.
 */
polytile_status pti_instance_unite_sections(polytile_context *ctx, pti_instance **instance);

#endif
