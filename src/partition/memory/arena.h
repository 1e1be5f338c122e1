#ifndef POLYTILE_PARTITION_MEMORY_ARENA_H
#define POLYTILE_PARTITION_MEMORY_ARENA_H

#include "partition/cut/partition.h"
#include "partition/schedule/builder.h"

/* Device memory while a schedule is laid out: who has which bytes, and who used them last. */

/** A place for pieces, one at a time, with the last operations that use it. */
typedef struct pti_cell {
    int64_t offset_bytes;
    pti_last users;
} pti_cell;

/** The arena of a partition, divided by slots of operands or by regions of superblocks. A further
 * way to divide touches what reads division.by_slots: pti_demand_divide(), which chooses, arena.c,
 * and in build.c what stays and what may be copied. */
typedef struct pti_arena {
    const pti_instance *instance;
    const pti_partition *partition;
    pti_division division;
    int64_t slot_bytes[PTI_MAX_OPERANDS];
    int by_alignment[PTI_MAX_OPERANDS]; /* operands in the order in which they are packed */
    pti_cell *slots[PTI_MAX_OPERANDS];  /* of each operand; regions: all the same */
    pti_cell cell[PTI_MAX_OPERANDS * PTI_MOST_STRIPS];
    int64_t next_offset[PTI_MAX_OPERANDS]; /* regions: where the superblock's pieces go */
} pti_arena;

/** Divide an arena; false, with division.arena_bytes as the need, when the limit is too small. */
bool pti_arena_divide(pti_arena *arena, const pti_instance *instance,
                      const pti_partition *partition, int64_t limit_bytes);

/** The slot of an operand that a new piece takes after one in `slot` (-1: it is the first). */
int pti_arena_next_slot(const pti_arena *arena, int operand, int64_t superblock, int slot);

/** Get ready for a superblock's pieces: in regions, pack them. */
void pti_arena_prepare(pti_arena *arena, int64_t superblock);

/** Where a piece of an operand that takes a slot begins. */
int64_t pti_arena_offset(const pti_arena *arena, int operand, int slot);

#endif
