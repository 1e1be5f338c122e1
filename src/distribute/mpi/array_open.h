#ifndef POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H
#define POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H

#include "distribute/mpi/spread.h"
#include "distribute/team/team.h"

/* What every function of polytile_mpi_array_create()'s arrays begins and ends with. */

/** What a call does to the elements of each rank. Elements that are to be replaced are in the
 * host's memory before: so nothing is lost if that fails before it begins. */
typedef enum pti_array_use {
    PTI_ARRAY_READS,        /* all of them */
    PTI_ARRAY_REPLACES,     /* all of them */
    PTI_ARRAY_READS_SOME,   /* after pti_array_bring() */
    PTI_ARRAY_REPLACES_SOME /* the same */
} pti_array_use;

/** An array while the program gets at its elements. */
typedef struct pti_open_array {
    polytile_array *array;
    pti_team *team;
    polytile_array *member; /* this rank's; NULL: it owns nothing */
    pti_boxes owned;        /* by this rank; owned */
    pti_array_use use;
    pti_spread spread;
} pti_open_array;

/** The team of a queue over a communicator; NULL: it is none. */
pti_team *pti_team_over_mpi(const polytile_queue *queue);

/** See whether all ranks make the same call, which words tell. Errors: INVALID, DEVICE. */
polytile_status pti_mpi_compare_words(pti_transport *transport, const char *words);

/**
 * Open an array: all launches are done, and all ranks make this call.
 *
 * words: tell the call from others; compared between ranks.
 * Errors  INVALID (another kind of array; ranks call for different things), NO_MEMORY, and those of
 *         the launches; the same on all ranks. Closing is needed all the same.
 */
polytile_status pti_array_open(polytile_array *array, pti_array_use use, const char *words,
                               pti_open_array *open);

/** Bring elements that this rank owns to the host's memory. Not collective. Errors: NO_MEMORY,
 * those of the device. */
polytile_status pti_array_bring(pti_open_array *open, const pti_boxes *boxes);

/**
 * Close an array: launches see what was changed.
 *
 * status: agreed upon; has_begun: elements may have changed, although it is no success: the array
 * is incomplete then. changed: on this rank, in case of PTI_ARRAY_REPLACES_SOME.
 * Errors  NO_MEMORY, agreed upon, if status is a success; else that.
 */
polytile_status pti_array_close(pti_open_array *open, polytile_status status, bool has_begun,
                                const pti_boxes *changed);

#endif
