#ifndef POLYTILE_PARTITION_PROVE_PROGRAMS_SLAB_PROGRAM_H
#define POLYTILE_PARTITION_PROVE_PROGRAMS_SLAB_PROGRAM_H

#include "partition/schedule/schedule.h"

/* partition/prove/programs: schedules as devices run them that run several launches as one, or
 * column by column, for the checker alone; and what tiles of slabs load. It proves these as it
 * proves any. */

/*
 * A schedule as a device runs it that runs the launches of each slab as one (schedule/tiling.h).
 *
 * It has the operations of the schedule. The last launch in tiles is a launch for each slab, which
 * reads what the slab's tiles load, and writes its own threads' elements; launches before it in the
 * tiles touch nothing. Memory aside is an array of its own there, one for each array, which nobody
 * needs at the end. So it can be proved as any schedule is.
 */
typedef struct pti_slab_program {
    pti_schedule *schedule; /* owned, as all below */
    pti_instance arrays;    /* with those aside, if there are any; its operands are owned */
    int *array;             /* of operands, PTI_SLAB_PIECES each */
    pti_instance *instance; /* of each launch that is not the other's, too */
    pti_operand *operand;   /* theirs, PTI_SLAB_PIECES each */
    pti_section **section;  /* theirs, a list each */
    int n_instances, n_most;
} pti_slab_program;

/** Arrays of a launch that stands for tiles at most, and its operands: in a ring two arrays with a
 * further piece of each, else some with memory aside. */
enum { PTI_SLAB_OPERANDS = 4, PTI_SLAB_PIECES = 2 * PTI_SLAB_OPERANDS };

/**
 * Make the program of a schedule whose tiles are well formed (tiles.h).
 *
 * False when memory runs out. The caller frees it with pti_slab_program_free() in both cases.
 */
bool pti_slab_program_make(const pti_schedule *schedule, pti_slab_program *program);
void pti_slab_program_free(pti_slab_program *program);

#endif
