#ifndef POLYTILE_ACCESS_ISL_POINT_H
#define POLYTILE_ACCESS_ISL_POINT_H

#include <isl/map.h>
#include <isl/set.h>
#include <stdbool.h>
#include <stdint.h>

/* Points of isl's sets that show what is wrong with a launch. */

/** Find the first point of a set, or any if isl does not find it; false if the set is empty or isl
 * fails. The point has as many coordinates as the set has dimensions. */
bool pti_first_point(__isl_take isl_set *set, int64_t *point);

/** Find the first pair of a bounded relation { [from] -> [to] }; false as above. */
bool pti_first_pair(__isl_take isl_map *map, int64_t *from, int64_t *to);

#endif
