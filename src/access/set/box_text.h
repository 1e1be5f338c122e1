#ifndef POLYTILE_ACCESS_SET_BOX_TEXT_H
#define POLYTILE_ACCESS_SET_BOX_TEXT_H

#include "base/text.h"
#include <polytile/domain.h>

/** Write a box as in a declaration: "[1:8190, 0:98:2, 7]"; a single index is written once. */
void pti_box_write(pti_text *text, const polytile_domain *box);

#endif
