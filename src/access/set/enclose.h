#ifndef POLYTILE_ACCESS_SET_ENCLOSE_H
#define POLYTILE_ACCESS_SET_ENCLOSE_H

#include "access/set/boxes.h"

/* Boxes around others with steps of 1, as launches have them. */

/** The smallest around two boxes, of which any may be empty. */
polytile_domain pti_enclose(const polytile_domain *a, const polytile_domain *b);

/** The smallest around all boxes of a set, which may be empty. */
polytile_domain pti_enclose_all(const pti_boxes *set, int n_dims);

#endif
