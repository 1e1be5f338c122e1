#ifndef POLYTILE_PARTITION_PING_PONG_PING_PONG_H
#define POLYTILE_PARTITION_PING_PONG_PING_PONG_H

#include "base/context.h"
#include "partition/schedule/tiling.h"

/* partition/ping_pong: ping-pong launches, each of which writes the array that the one before has
 * read, as those of a Jacobi method do; further arrays are read by all of them, as a field of
 * coefficients is. Launches whose arrays change roles in turn, as those of a wave equation do. And
 * the tiles in which a device runs several of them as one (schedule/tiling.h). */

/** Fewer launches than these are not worth a group; and how many arrays launches have at most. */
enum { PTI_PING_PONG_LEAST = 3, PTI_PING_PONG_MOST_ARRAYS = 4 };

/** The tiles of an H200, whose link is the default one: plans that know no GPU suppose them. */
extern const pti_tile_room pti_tile_room_default;

/** How arrays change roles from a launch to the next one. Those that do go round in one circle, in
 * which the array is that a launch writes; each of them all launches have. */
typedef struct pti_turns {
    int before[PTI_PING_PONG_MOST_ARRAYS]; /* of each operand: that by which the launch before has
                                              the array */
    int n_phases; /* launches after which each array has its role again; 2: ping-pong, or an array
                     that is updated in place; 3: as three arrays of a wave equation */
    int n_alive;  /* arrays that others have written and a launch reads: all of the circle, but for
                     one that is written without being read */
} pti_turns;

/** Return whether a launch reads arrays of two dimensions, and each thread writes the element of
 * one array that has its indices, of which it may read that element, and nothing else. */
bool pti_turns_may_begin(const pti_instance *instance);

/** Find how arrays change roles between two launches that are alike; false: in no such way. */
bool pti_turns_find(const pti_call *call, const pti_call *before, pti_turns *turns);

/** Return whether arrays change roles in the same way. */
bool pti_turns_are_alike(const pti_turns *one, const pti_turns *other);

/** Return whether a launch reads an array that the one before writes. */
bool pti_turns_reads_written(const pti_call *call, const pti_call *before);

/** Say why a launch and the one before run in no tiles, by their arrays alone; false: they may. */
bool pti_turns_explain(const pti_call *call, const pti_call *before, pti_text *why);

/** List the arrays that the launch after this one reads and launches have written: n_alive. */
void pti_turns_list_alive(const pti_turns *turns, const pti_call *call, int *array);

/** How ping-pong launches are tiled. */
typedef struct pti_ping_pong {
    const pti_instance *instance; /* of each of them, or alike; borrowed */
    const pti_tile_room *room;    /* borrowed */
    pti_margin step;              /* how much longer a launch's margin is than the next one's */
    unsigned rounds;              /* bit d: arrays are periodic along dimension d */
    int n_stored;                 /* arrays that tiles store */
    bool may_go_round;            /* their kernel goes round periodic arrays */
} pti_ping_pong;

/** Return whether a launch reads arrays of two dimensions, and each thread writes the element of
 * another one that has its indices, and nothing else. Where arrays are periodic its threads go once
 * round all of them. */
bool pti_ping_pong_may_begin(const pti_instance *instance);

/** The operands of launches by which they read and write the two arrays between which they go. */
typedef struct pti_ping_pong_operands {
    int from, to;
} pti_ping_pong_operands;

/** Find these operands: a launch reads what the one before wrote, and writes what that has read; of
 * all others both have the same arrays. -1: they do not go back like that. */
pti_ping_pong_operands pti_ping_pong_find_operands(const pti_call *call, const pti_call *before);

/** Return whether a launch is like the one before, from whose written array it goes to the other
 * one. */
bool pti_ping_pong_follows(const pti_call *call, const pti_call *before);

/** Return whether a launch reads what the one before, which is like it, wrote, but arrays do not
 * change roles in turn: the array that is written is of none of the roles before. */
bool pti_ping_pong_takes_other_turns(const pti_call *call, const pti_call *before);

/** Return whether the threads of launches are those of the last one, longer by the later steps,
 * inside those of the first one: tiles of the last launch's threads compute them then. */
bool pti_ping_pong_shrinks_evenly(const pti_margin *step, const pti_call *call, int n_launches);

/**
 * Find the step of ping-pong launches.
 *
 * Shapes  call: the first two of them. Errors  NO_MEMORY, without a text. *is_found is false if
 *         they do not read at constant offsets, or arrays that none of them writes further off
 *         than the others, or are periodic and their kernel does not go round; `why` gets which.
 */
polytile_status pti_ping_pong_find_step(pti_ping_pong *ping_pong, const pti_call *call,
                                        int n_arrays, bool *is_found, pti_text *why);

/** Return whether launches would go round periodic arrays, and their kernel does not; `why` gets
 * it. find_step has found rounds. */
bool pti_ping_pong_lacks_rounds(const pti_ping_pong *ping_pong, const char *kernel, pti_text *why);

/** Return whether the margin of each launch of a tiling is a step longer than the next one's. */
bool pti_ping_pong_has_even_margins(const pti_margin *step, const pti_tiling *tiling);

/** Find the own rows and columns of the largest tile that runs so many launches; false: there is
 * none. */
bool pti_ping_pong_find_tile(const pti_ping_pong *ping_pong, int n_launches, int64_t *tile);

/** Return what a launch costs in tiles of so many own rows, in passes of the array through memory.
 */
double pti_ping_pong_cost(const pti_ping_pong *ping_pong, int n_launches, int64_t own_rows);

/** Return the passes of an array through memory that a launch by itself makes: of all that it
 * reads, and of what it writes. */
int pti_ping_pong_passes_apart(const pti_ping_pong *ping_pong);

/** Choose how many launches run as one at most, an odd number; 0: tiles cost about as much. */
int pti_ping_pong_choose(const pti_ping_pong *ping_pong);

/** Choose it among some number and those a step, two steps, ... above it. */
int pti_ping_pong_choose_among(const pti_ping_pong *ping_pong, int least, int step);

/** How launches are cut into groups of odd numbers, as even as possible. */
typedef struct pti_ping_pong_groups {
    int n_groups;
    int n_launches; /* of each of the first ones */
    int n_longer;   /* the last ones have two launches more */
} pti_ping_pong_groups;

/** Cut launches, one or more, into groups of at most so many. Each has an odd number. */
pti_ping_pong_groups pti_ping_pong_cut(int n_launches, int most);

/** Return how many launches a group has. */
static inline int pti_ping_pong_group(const pti_ping_pong_groups *groups, int group) {
    return groups->n_launches + (group >= groups->n_groups - groups->n_longer ? 2 : 0);
}

#endif
