#ifndef POLYTILE_ACCESS_POINT_H
#define POLYTILE_ACCESS_POINT_H

#include "access/access_text.h"

#include <isl/map.h>
#include <isl/set.h>

/* Points that show what is wrong with a launch, and how errors write them. */

/** The first point of a set, or where isl does not find it any point; false if the set is empty or
 * isl fails. The point has as many coordinates as the set has dimensions. */
bool pti_first_point(__isl_take isl_set *set, int64_t *point);

/** The first pair of a bounded relation, { [from] -> [to] } in coordinates; false as above. */
bool pti_first_pair(__isl_take isl_map *map, int64_t *from, int64_t *to);

/** An access as it was declared, in braces only where no section says the same. */
void pti_access_write_exactly(pti_text *text, const polytile_declaration *declaration,
                              const pti_access *access);

#endif
