#ifndef POLYTILE_DISTRIBUTE_MPI_WINDOW_H
#define POLYTILE_DISTRIBUTE_MPI_WINDOW_H

#include "base/context.h"
#include <mpi.h>

/** A window of MPI's, which all ranks lock from its beginning to its end. */
typedef struct pti_mpi_window pti_mpi_window;

/** Have what a window needs, before all ranks make it. Errors: NO_MEMORY, DEVICE. */
polytile_status pti_mpi_window_begin(polytile_context *ctx, pti_mpi_window **window);

/** Take over the window that all ranks have made, and lock it. Errors: DEVICE. */
polytile_status pti_mpi_window_open(polytile_context *ctx, MPI_Win made, pti_mpi_window *window);

/** Free what a window needs that was not made. One that not all ranks could open stays until MPI
 * ends. NULL does nothing. */
void pti_mpi_window_give_up(pti_mpi_window *window);

/** End a window that all ranks have opened: now, if they all do so together, else when MPI ends. */
void pti_mpi_window_end(pti_mpi_window *window, bool together);

#endif
