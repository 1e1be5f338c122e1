#ifndef POLYTILE_PARTITION_ARENA_ARENA_H
#define POLYTILE_PARTITION_ARENA_ARENA_H

#include "partition/cut/partition.h"
#include "partition/schedule/builder.h"

/* partition/arena: the schedule of one launch by itself. Its arena is divided into cells or regions
 * before the first superblock (this header); build.h moves pieces through them. Nothing stays on
 * the device afterwards: partition/memory has what lies there between launches. */

/** A place for pieces, one at a time, with the last operations that use it. */
typedef struct pti_cell {
    int64_t offset_bytes;
    pti_last users;
} pti_cell;

/**
 * The arena of a partition, divided by cells of operands or by regions of superblocks.
 *
 * Where one piece of an operand contains all others, as that of x[0:i] for the last superblock
 * does, all superblocks have this one, which stays and is filled step by step. It has a cell;
 * beside regions too, where that leaves room. A further way to divide touches pti_demand_divide(),
 * which chooses, and what reads division.by_cells or is_kept here.
 */
typedef struct pti_arena {
    const pti_instance *instance;
    const pti_partition *partition;
    pti_division division;
    int64_t cell_bytes[PTI_MAX_OPERANDS];
    bool is_kept[PTI_MAX_OPERANDS];            /* all superblocks have one piece of the operand */
    polytile_domain kept[PTI_MAX_OPERANDS];    /* its hull */
    int by_alignment[PTI_MAX_OPERANDS];        /* operands in the order in which they are packed */
    pti_cell *operand_cells[PTI_MAX_OPERANDS]; /* of each operand; regions: all the same */
    pti_cell cell[PTI_MOST_CELLS];
    int64_t next_offset[PTI_MAX_OPERANDS]; /* regions: where the superblock's pieces go */
} pti_arena;

/** Divide an arena; false, with division.arena_bytes as the need, when the limit is too small. */
bool pti_arena_divide(pti_arena *arena, const pti_instance *instance,
                      const pti_partition *partition, int64_t limit_bytes);

/** Find an operand's piece for a superblock: the hull of what it touches, or the piece that is
 * kept. Returns false, with an empty hull, if it touches nothing. */
bool pti_arena_find_piece(const pti_arena *arena, int operand, const polytile_domain *threads,
                          polytile_domain *hull);

/** Return whether an operand's pieces have cells. */
bool pti_arena_has_cells(const pti_arena *arena, int operand);

/** The cell of an operand that a new piece takes after one in `cell` (-1: it is the first). */
int pti_arena_next_cell(const pti_arena *arena, int operand, int64_t superblock, int cell);

/** Get ready for a superblock's pieces: in regions, pack them. */
void pti_arena_prepare(pti_arena *arena, int64_t superblock);

/** Where a piece of an operand that takes a cell begins. */
int64_t pti_arena_offset(const pti_arena *arena, int operand, int cell);

#endif
