#ifndef POLYTILE_BASE_ENVIRONMENT_H
#define POLYTILE_BASE_ENVIRONMENT_H

#include "base/context.h"

/**
 * Read every POLYTILE_* variable into settings; warns on stderr about names that mean nothing.
 *
 * False when a variable's value is not understood; stderr then says which, and what it may be.
 */
bool pti_environment_read(pti_settings *settings);

#endif
