#ifndef OUTSIDE_VALUE_H
#define OUTSIDE_VALUE_H

/*
 * Elements: what threads make of them. Integers of 8 and 16 bits and unsigned ones wrap around; of
 * the others, sums and products stay so small that they are exact in any order.
 */
#include "outside/model.h"

namespace outside {

/** How many threads may add to an element of a real type of two bytes, so that sums are exact. */
enum { MOST_NARROW_SUMMANDS = 120 };

/** Real numbers of two bytes. */
bool is_narrow(polytile_type type);

/** The bits of an element, of floats those of its value as a double, 0 for either zero. */
uint64_t load(polytile_type type, const void *element);

/** Store a value that follows from bits. */
void store(polytile_type type, void *element, uint64_t bits);

/** Combine a value that follows from bits into an element. */
void combine(polytile_type type, polytile_role role, void *element, uint64_t bits);

/** Store what a reduction starts from. */
void store_identity(polytile_type type, polytile_role role, void *element);

/** The integer that an element of an index array holds; to store one. */
int64_t load_index(polytile_type type, const void *element);
void store_index(polytile_type type, void *element, int64_t index);

/** The element for people. */
std::string to_text(polytile_type type, const void *element);

} // namespace outside

#endif
