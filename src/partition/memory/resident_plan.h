#ifndef POLYTILE_PARTITION_MEMORY_RESIDENT_PLAN_H
#define POLYTILE_PARTITION_MEMORY_RESIDENT_PLAN_H

#include "partition/memory/resident_future.h"

/**
 * Turn steps into operations, superblock by superblock, of a schedule that has been begun.
 *
 * Memory for the next superblocks is found, and what lies there downloaded, before a superblock is
 * launched, so that moving overlaps computing. emit->builder says whether memory ran out.
 */
void pti_resident_run(pti_resident_emit *emit, pti_future *future, int n_steps,
                      const pti_step *steps, const polytile_link *link);

#endif
