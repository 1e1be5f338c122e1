#ifndef POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H
#define POLYTILE_DISTRIBUTE_MPI_ARRAY_OPEN_H

#include "distribute/mpi/spread.h"
#include "distribute/team.h"

/* What every function of polytile_mpi_array_create()'s arrays begins and ends with. */

/** What a call does to the elements of each rank. */
typedef enum pti_array_use {
    PTI_ARRAY_READS,  /* all of them */
    PTI_ARRAY_RENEWS, /* sets all of them */
    PTI_ARRAY_CHANGES /* sets some of them */
} pti_array_use;

/** An array while the program gets at its elements, which are in the host's memory. Zero-initialise.
 */
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
 * Errors  INVALID (another kind of array; ranks call for different things), NO_MEMORY, and those of the
 *         launches; the same on all ranks. Closing is needed all the same.
 */
polytile_status pti_array_open(polytile_array *array, pti_array_use use, const char *words,
                               pti_open_array *open);

/**
 * Close an array: launches see what was changed.
 *
 * status: agreed upon; has_begun: elements may have changed, although it is no success: the array is
 * incomplete then. changed: on this rank, in case of PTI_ARRAY_CHANGES.
 * Errors  NO_MEMORY, agreed upon, if status is a success; else that.
 */
polytile_status pti_array_close(pti_open_array *open, polytile_status status, bool has_begun,
                                const pti_boxes *changed);

#endif
