#ifndef POLYTILE_PARTITION_CHOOSE_KEPT_CUTS_H
#define POLYTILE_PARTITION_CHOOSE_KEPT_CUTS_H

#include "partition/choose/grain.h"

/* How launches were cut, for others that are as large: those of the members of a group are boxes of
 * one launch, on devices that are mostly alike, and cutting one may take ten milliseconds. */

typedef struct pti_kept_cuts pti_kept_cuts;

/** NULL when memory runs out. The caller frees it with pti_kept_cuts_free(). */
pti_kept_cuts *pti_kept_cuts_create(void);
void pti_kept_cuts_free(pti_kept_cuts *cuts);

/**
 * Cut a launch as a kept one was cut that differs only in where its threads lie, if each of its
 * superblocks fits the arena here, too; with arrays as declared.
 *
 * Returns whether it is cut. The caller frees *partition then with pti_partition_free().
 */
bool pti_kept_cuts_find(const pti_kept_cuts *cuts, const pti_grain_request *request,
                        pti_partition *partition);

/** Keep how a launch was cut with arrays as declared, in place of the cut that was kept first if
 * there are many. Nothing happens where memory runs out. */
void pti_kept_cuts_add(pti_kept_cuts *cuts, const pti_grain_request *request,
                       const pti_partition *partition);

#endif
