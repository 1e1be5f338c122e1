#ifndef POLYTILE_DISTRIBUTE_MPI_FILE_ROUNDS_H
#define POLYTILE_DISTRIBUTE_MPI_FILE_ROUNDS_H

#include "base/text.h"
#include "distribute/file/rounds.h"
#include "distribute/mpi/spread.h"

/* The elements of all ranks to and from an open file, in rounds: in each, a view of the file shows
 * a rank its next elements as contiguous. */

/** An open file, and the rounds in which its elements move. */
typedef struct pti_file_rounds {
    const pti_spread *spread; /* borrowed */
    const char *path;         /* for texts; borrowed */
    bool writes;
    int64_t offset_bytes; /* of the array's first element in the file */
    pti_text name;        /* the path for MPI; owned */
    MPI_File file;        /* closed with the rest */
    pti_rounds rounds;
    int *length; /* bytes of the runs of a view, and where they are; owned */
    MPI_Aint *at;
} pti_file_rounds;

/** Allocate all memory; spread, path, writes and offset_bytes are set. Not collective. Errors:
 * NO_MEMORY. */
polytile_status pti_file_rounds_prepare(pti_file_rounds *rounds);
/** Open the file; collective, and agreed upon. Errors: IO. */
polytile_status pti_file_rounds_open(pti_file_rounds *rounds);
/** Move everything, and close the file; collective, and agreed upon: a rank that fails keeps all
 * from the next round. Errors: IO. */
polytile_status pti_file_rounds_move(pti_file_rounds *rounds);
/** Free everything; collective if the file is still open. */
void pti_file_rounds_end(pti_file_rounds *rounds);

#endif
