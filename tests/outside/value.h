#ifndef OUTSIDE_VALUE_H
#define OUTSIDE_VALUE_H

/*
 * Elements: what threads make of them. Integers of 8 and 16 bits and unsigned ones wrap around; of
 * the others, sums and products stay so small that they are exact in any order.
 */
#include "outside/model.h"

namespace outside {

/** The bits of an element, of floats those of its value as a double, 0 for either zero. */
uint64_t load(polytile_scalar type, const void *element);

/** Store a value that follows from bits. */
void store(polytile_scalar type, void *element, uint64_t bits);

/** Combine a value that follows from bits into an element. */
void combine(polytile_scalar type, polytile_role role, void *element, uint64_t bits);

/** Store what a reduction starts from. */
void store_identity(polytile_scalar type, polytile_role role, void *element);

/** The element for people. */
std::string to_text(polytile_scalar type, const void *element);

} // namespace outside

#endif
