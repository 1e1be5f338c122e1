#ifndef OUTSIDE_MISTAKES_H
#define OUTSIDE_MISTAKES_H

/* Declarations with mistakes: read or refused with a place, whatever they are. */
#include "outside/run.h"

namespace outside {

/** The declaration of a seed: a right one, with changes. */
std::string draw_text(uint64_t seed);

/** Give it to polytile_kernel_create(), and see whether the answer is one. */
Outcome run_text(uint64_t seed);

} // namespace outside

#endif
