#ifndef POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H
#define POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H

#include "distribute/group/group.h"
#include "distribute/mpi/spread.h"

/* The beginning and the end of every call on arrays of polytile_mpi_array_create(). */

/** What a call does to the elements of each rank. Elements to be replaced are in the host's memory
 * before, so nothing is lost if the call fails before it begins. */
typedef enum pti_array_use {
    PTI_ARRAY_READS,        /* all of them */
    PTI_ARRAY_REPLACES,     /* all of them */
    PTI_ARRAY_READS_SOME,   /* after pti_array_bring() */
    PTI_ARRAY_REPLACES_SOME /* the same */
} pti_array_use;

/** An array while the program accesses its elements. */
typedef struct pti_open_array {
    polytile_array *array;
    pti_group *group;
    pti_boxes owned; /* by this rank; owned */
    pti_array_use use;
    pti_spread spread;
} pti_open_array;

/** Return the group of a queue over a communicator; NULL: none. */
pti_group *pti_group_over_mpi(const polytile_queue *queue);

/** Check that all ranks make the same call, which words describe. Errors: INVALID, DEVICE. */
polytile_status pti_mpi_compare_words(pti_transport *transport, const char *words);

/**
 * Open an array, after all launches are done; collective.
 *
 * words: describe the call; ranks compare them.
 * Errors  INVALID (another kind of array; ranks make different calls), NO_MEMORY, and those of the
 *         launches; the same on all ranks. Close it all the same.
 */
polytile_status pti_array_open(polytile_array *array, pti_array_use use, const char *words,
                               pti_open_array *open);

/** Fetch elements that this rank owns to the host's memory; not collective. Errors: NO_MEMORY,
 * those of the device. */
polytile_status pti_array_bring(pti_open_array *open, const pti_boxes *boxes);

/**
 * Close an array; later launches see the changes.
 *
 * status: agreed upon. has_begun: elements may have changed, so on failure the array is incomplete.
 * changed: on this rank, for PTI_ARRAY_REPLACES_SOME.
 * Errors  NO_MEMORY, agreed upon, if status is a success; else that.
 */
polytile_status pti_array_close(pti_open_array *open, polytile_status status, bool has_begun,
                                const pti_boxes *changed);

#endif
