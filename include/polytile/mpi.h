#ifndef POLYTILE_MPI_H
#define POLYTILE_MPI_H

#include <mpi.h>
#include <polytile/queue.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Queues over the processes of an MPI communicator. Link polytile_mpi beside polytile; programs
 * without MPI need neither this header nor that library.
 *
 * Calls on such a queue and its arrays are collective: every rank makes them in the same order,
 * with the same declarations, domains and options, which is checked. They call MPI from the thread
 * they are called from: MPI_THREAD_FUNNELED is enough. A rank that fails, by what polytile returns,
 * makes every rank return the same error. A rank that ends or is killed ends the job, as MPI does
 * by itself.
 */

/** How ranks share a queue. Zeros are the defaults. */
typedef struct polytile_mpi_options {
    const char *grid;   /* of ranks, as "4x2", for arrays of as many dimensions; NULL: as
                               MPI_Dims_create() makes it for the dimensions of an array that leave
                               every rank 8 indices or more, short ones whole */
    const char *layout; /* of arrays over the grid: "block", "block(dim=0)", "cyclic(64)",
                               "weighted(2,1)" or "weighted" (by measured speed); NULL: "block" */
    int64_t launches_per_exchange; /* at most, computing borders twice; 0: chosen, 1: never twice */
} polytile_mpi_options;

/**
 * Open a device on every rank for the launches of one queue.
 *
 * An array that is attached has all its elements on every rank, the same ones; ranks compute parts
 * of it, and all have all of it again when it is detached. polytile_mpi_array_create() makes arrays
 * of which each rank holds a part.
 *
 * Shapes  device_text: one device, as in polytile_device_open(); ranks may give different ones.
 * Errors  Those of polytile_queue_create(); INVALID (MPI is not initialised, or for fewer threads
 *         than MPI_THREAD_FUNNELED; a list of devices; a grid of another number of ranks; an
 *         unknown layout).
 * Owns    The communicator is duplicated. The context owns the queue, which must be destroyed
 *         before MPI_Finalize().
 */
polytile_status polytile_mpi_queue_create(polytile_context *ctx, MPI_Comm comm,
                                          const char *device_text,
                                          const polytile_mpi_options *options,
                                          polytile_queue **queue);

/**
 * Make an array of which each rank holds what it owns, and what it needs of its neighbours'; all
 * elements are zero. It belongs to the queue until polytile_array_destroy(), and launches use it as
 * any other array.
 *
 * Shapes  layout: as in the options, but weights are given as numbers; NULL: the queue's.
 * Errors  INVALID (not a queue over a communicator; an unknown layout; another number of weights
 *         than parts; those of polytile_array_wrap()), OVERFLOW, NO_MEMORY.
 * Owns    The queue owns the array.
 */
polytile_status polytile_mpi_array_create(polytile_queue *queue, const char *name,
                                          polytile_type type, int n_dims, const int64_t *extents,
                                          const char *layout, polytile_array **array);

/* What follows is for arrays of polytile_mpi_array_create() alone, others are INVALID. All but the
 * first two are collective, and first wait for all launches of the queue: if one has failed, they
 * return its error as polytile_queue_wait() does, and do nothing else.
 *
 * An array of which only a part was replaced when scattering or reading failed is incomplete: see
 * polytile_array_is_complete(). Every call that replaces all elements makes it complete again. */

/** The boxes of elements that the calling rank owns, of steps 1 and in C order; not collective. */
int polytile_mpi_array_count_boxes(const polytile_array *array);
/** The k-th of them; an empty one if there is none. */
polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k);

/** Write one element, whose indices are given, and nothing else. Threads call it at the same time,
 * for different elements; it must not call MPI. */
typedef void polytile_mpi_element(const int64_t *index, void *element, void *user);

/** Set every element by a function; each rank calls it for what it owns. Errors: INVALID. */
polytile_status polytile_mpi_array_fill(polytile_array *array, polytile_mpi_element *element,
                                        void *user);

/**
 * Copy a box of what the calling rank owns from or to memory.
 *
 * Shapes  box: of steps 1, inside what the rank owns, also across several of its boxes; NULL or
 *         empty: nothing, as ranks give that have nothing to copy. elements: those of the box in C
 *         order; NULL if there are none.
 * Errors  INVALID (elements of another rank; a step), NO_MEMORY; nothing is copied on any rank
 *         then.
 */
polytile_status polytile_mpi_array_put(polytile_array *array, const polytile_domain *box,
                                       const void *elements);
polytile_status polytile_mpi_array_get(polytile_array *array, const polytile_domain *box,
                                       void *elements);

/**
 * Hand out all elements from the memory of one rank, the root, and collect them there.
 *
 * Shapes  elements: all of the array's in C order; looked at on the root alone.
 * Errors  INVALID (no such rank; the root gave NULL), NO_MEMORY, DEVICE (of MPI, with its text).
 */
polytile_status polytile_mpi_array_scatter(polytile_array *array, int root, const void *elements);
polytile_status polytile_mpi_array_gather(polytile_array *array, int root, void *elements);

/**
 * Read and write an array as one file, every rank its part, by MPI-IO.
 *
 * A file is written as PATH.part, and gets its name, replacing an old file, when it is whole: what
 * has its name is complete, and what a killed job leaves is called PATH.part.
 *
 * Shapes  path: all ranks give the same, and find the same file under it. NumPy's format if it ends
 *         in .npy, else nothing but the elements in C order.
 * Errors  IO (with the system's or MPI's text; no PATH.part is left), INVALID (the file has another
 *         type, shape or size), UNSUPPORTED (elements in Fortran order, or of a type that arrays or
 *         NumPy do not have).
 */
polytile_status polytile_mpi_array_read(polytile_array *array, const char *path);
polytile_status polytile_mpi_array_write(polytile_array *array, const char *path);

#ifdef __cplusplus
}
#endif

#endif
