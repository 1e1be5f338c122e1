#ifndef OUTSIDE_SHRINK_H
#define OUTSIDE_SHRINK_H

#include "outside/model.h"

namespace outside {

/** The smallest program found that fails in the same way, tried so many times each; its failure is
 * "" if the given one does not fail. */
Program shrink(Program program, int n_tries, int seconds, std::string &failure);

} // namespace outside

#endif
