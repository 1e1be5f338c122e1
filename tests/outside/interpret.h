#ifndef OUTSIDE_INTERPRET_H
#define OUTSIDE_INTERPRET_H

/* The interpreter: launches over plain vectors, in turn, thread after thread. */
#include "outside/model.h"

namespace outside {

using Bytes = std::vector<unsigned char>;

/** What an array holds at first, or after the program changed it. */
Bytes contents(const Shape &shape, uint64_t seed);

/** What an internal array holds at first. */
Bytes zeros(const Shape &shape);

/** The values of a launch, whose index arrays hold what the memories have. */
Values values_in(const Kernel &kernel, const Launch &launch, const std::vector<Number> &numbers,
                 const std::vector<Bytes> &memories);

/** Run a launch with the values of parameters; memories: one an array of the program. */
void interpret(const Kernel &kernel, const Launch &launch, const std::vector<Number> &numbers,
               std::vector<Bytes> &memories);

} // namespace outside

#endif
