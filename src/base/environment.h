#ifndef POLYTILE_BASE_ENVIRONMENT_H
#define POLYTILE_BASE_ENVIRONMENT_H

#include "base/context.h"

/** Whether plans are proved unless POLYTILE_CHECK says otherwise: in builds for debugging, which
 * have assertions. */
#ifdef NDEBUG
enum { PTI_CHECKS_PLANS = 0 };
#else
enum { PTI_CHECKS_PLANS = 1 };
#endif

/**
 * Read every POLYTILE_* variable into settings; warns on stderr about names that mean nothing.
 *
 * False when a variable's value is not understood; stderr then says which, and what it may be.
 */
bool pti_environment_read(pti_settings *settings);

#endif
