#ifndef POLYTILE_DISTRIBUTE_DEPTH_H
#define POLYTILE_DISTRIBUTE_DEPTH_H
#include "distribute/work.h"
/** placeholder until merge */
int pti_group_depth(const pti_group *group, int most);
#endif
