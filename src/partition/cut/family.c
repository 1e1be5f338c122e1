#include "partition/cut/family.h"

const pti_family *const pti_families[] = {
    &pti_family_plain,   /* equal boxes of blocks */
    &pti_family_strips,  /* parts of a box along one index, with accumulators of their own */
    &pti_family_lines,   /* boxes along one index, while what does not depend on it stays */
    &pti_family_tapered, /* equal boxes, but for small ones at both ends */
    &pti_family_varying, /* boxes along one index, each as long as fits */
    &pti_family_paper,   /* equal boxes by the paper's literal equations */
};
