#ifndef POLYTILE_PARTITION_PROVE_PROGRAMS_SLAB_LOADS_H
#define POLYTILE_PARTITION_PROVE_PROGRAMS_SLAB_LOADS_H

#include "access/set/boxes.h"
#include "partition/schedule/schedule.h"

/** Return the last launch of tiles. */
static inline int pti_slab_last_launch(const pti_tiles *tiles) {
    return tiles->first_launch + tiles->n_launches - 1;
}

/** Put what tiles with these own threads load of an array into a set, in place of what it has. */
void pti_slab_loads(const pti_schedule *schedule, const pti_tiles *tiles,
                    const polytile_domain *own, int array, pti_boxes *loads);

/** Put what launches of tiles write of an array into a set, in place of what it has. */
void pti_slab_writes(const pti_schedule *schedule, const pti_tiles *tiles, int array,
                     pti_boxes *writes);

#endif
