#ifndef POLYTILE_PARTITION_SKEW_TILED_H
#define POLYTILE_PARTITION_SKEW_TILED_H

#include "partition/ping_pong/tile_cost.h"
#include "partition/skew/chain.h"

/*
 * Sequences of a chain's launches that are ping-pong over two arrays, or whose arrays change roles
 * in turn, and that run several as one in each slab, tile by tile (schedule/tiling.h).
 *
 * A group of T launches from A to B is like one launch that reads T times as far: a slab of it
 * loads rows of A, its own and those around them, and stores those rows of B which its last launch
 * has there. Nothing between is stored, neither inside of a slab nor at its edges: what the slab
 * before computed there is computed again. So A must stay as it was until the slabs after have read
 * it. The launches after a group get longer offsets for that, and bands more rows:
 *
 *      rows ->          slab k of the last launch
 *      loads   |<- T r ->|<------ S ------>|<- T r ->|
 *      stores            |<------ S ------>|
 *
 * What all launches of a group but the last wrote is lost. So the last launch of a sequence is none
 * of a group, unless nobody reads the array that it loads before it is written again.
 *
 * Where several arrays are alive, as two of a wave equation, a group stores arrays that it loads.
 * These have memory aside, of as many rows. Groups store aside and where the arrays are in turn;
 * there is an even number of them in each pass. Each has a multiple of the launches after which
 * arrays have their roles again, so that the same arrays are alive after each group. The offsets
 * are those above, with memory aside in place of B.
 *
 * With these offsets the launches may as well run one by one, if those of all groups do.
 */

/** Launches that follow one another in a chain; of a folded one both halves of each. */
typedef struct pti_tiled_sequence {
    int first, end;
    int n_halves;      /* of each of the program's launches: 1, or 2 */
    int64_t lag;       /* of each after the one before */
    bool is_lost_well; /* nobody needs what the last one loads, once the chain has ended */
    int n_together;    /* of the program's, that run as one at most */
    pti_role_change change;
    pti_ping_pong ping_pong;
} pti_tiled_sequence;

/** Return how many arrays have memory aside. */
static inline int pti_tiled_n_aside(const pti_tiled_sequence *sequence) {
    return sequence->change.n_alive > 1 ? sequence->change.n_alive : 0;
}

/** The sequences of a chain whose launches run several as one. */
typedef struct pti_tiled_chain {
    pti_tile_room room;
    int n_sequences;
    pti_tiled_sequence *sequence; /* in order; owned */
} pti_tiled_chain;

/** Return whether a sequence has memory aside: there is one such. */
bool pti_tiled_has_aside(const pti_tiled_chain *tiled);

/** Some launches of a pass that follow one another: a group that runs as one, or a single one.
 * Those of a folded chain are halves. */
typedef struct pti_tiled_unit {
    int first, n_launches;
    const pti_tiled_sequence *sequence; /* NULL: of none */
    int64_t delay;                      /* by which it is later than the chain's offset says */
    bool is_from_aside; /* it loads arrays from memory aside; else it stores them there, if the
                           sequence has any */
} pti_tiled_unit;

/** List the arrays of a pass that have memory aside: those of the unit of several launches that has
 * such. Returns how many they are. */
int pti_tiled_list_aside(const pti_chain *chain, const pti_tiled_unit *unit, int n_units,
                         int array[PTI_TILE_MOST_STORED]);

/**
 * Let launches of a chain along its first index run as one where that pays.
 *
 * Shapes  tiles: of each launch of the chain; dropped: of each array, whether what it holds
 *         at the end does not matter.
 * Errors  NO_MEMORY, without a text. Owns    The chain has what is found.
 */
polytile_status pti_tiled_find(const pti_tile_room *room, const pti_tile_kernel *tiles,
                               const bool *dropped, pti_chain *chain);

void pti_tiled_free(pti_tiled_chain *tiled);

/** Cut launches first .. end - 1 of a chain into units. Shapes  unit: has room for as many as there
 * are launches. Returns how many units there are. */
int pti_tiled_cut(const pti_chain *chain, int first, int end, pti_tiled_unit *unit);

/** Return how many of the program's launches a unit of a sequence has, in which they may be
 * halves. */
int pti_tiled_n_launches(const pti_tiled_unit *unit);

/** Return how far, at most, a launch of a sequence reads along the slabs. */
int64_t pti_tiled_reach(const pti_tiled_sequence *sequence);

/** Return the own rows of the largest tile that runs a unit of several launches; 0: there is
 * none. */
int64_t pti_tiled_most_rows(const pti_tiled_unit *unit);

/** Return what a launch of a group costs in slabs of `slab` rows, in passes of the array through
 * memory. Shapes  alone: what part of the slabs has none beside it, on another stream. */
double pti_tiled_cost(const pti_tiled_unit *unit, int64_t slab, double alone);

/** Return what runs as one in a slab, with the program's launches and arrays; first_op and n_ops
 * are still to be set. Shapes  own: threads of the last launch; empty if it has none; of the lower
 * and the upper half if the chain is folded. */
pti_tiles pti_tiled_tiles(const pti_chain *chain, const pti_tiled_unit *unit, int64_t slab,
                          const polytile_domain *own);

#endif
