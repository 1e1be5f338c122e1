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
 * Calls on such a queue and its arrays are collective: every rank makes them in the same order, with
 * the same declarations, domains and options, which is checked. They call MPI from the thread they
 * are called from: MPI_THREAD_FUNNELED is enough. A rank that fails, by what polytile returns, makes
 * every rank return the same error. A rank that ends or is killed ends the job, as MPI does by itself.
 */

/** How ranks share a queue. Zeros are the defaults. */
typedef struct polytile_mpi_options {
    const char *grid;   /* of ranks, as "4x2", for arrays of as many dimensions; NULL: as
                               MPI_Dims_create() makes it for each number of dimensions */
    const char *layout; /* of arrays over the grid: "block", "block(dim=0)", "cyclic(64)",
                               "weighted(2,1)" or "weighted" (by measured speed); NULL: "block" */
    int64_t launches_per_exchange; /* at most, computing borders twice; 0: chosen, 1: never twice */
} polytile_mpi_options;

/**
 * Open a device on every rank for the launches of one queue.
 *
 * An array that is attached has all its elements on every rank, the same ones; ranks compute parts of
 * it, and all have all of it again when it is detached. polytile_mpi_array_create() makes arrays of
 * which each rank holds a part.
 *
 * Shapes  device_text: as in polytile_queue_create(); ranks may give different ones.
 * Errors  Those of polytile_queue_create(); INVALID (MPI is not initialised, or for fewer threads than
 *         MPI_THREAD_FUNNELED; a grid of another number of ranks; an unknown layout).
 * Owns    The communicator is duplicated. The context owns the queue, which must be destroyed before
 *         MPI_Finalize().
 */
polytile_status polytile_mpi_queue_create(polytile_context *ctx, MPI_Comm comm,
                                          const char *device_text,
                                          const polytile_mpi_options *options,
                                          polytile_queue **queue);

/**
 * Make an array of which each rank holds what it owns, and what it needs of its neighbours'; all
 * elements are zero. It is attached to the queue until polytile_array_destroy().
 *
 * Shapes  layout: as in the options; NULL: the queue's.
 * Errors  INVALID, OVERFLOW, NO_MEMORY.
 * Owns    The queue owns the array.
 */
polytile_status polytile_mpi_array_create(polytile_queue *queue, const char *name,
                                          polytile_type type, int n_dims, const int64_t *extents,
                                          const char *layout, polytile_array **array);

/** The boxes of elements that the calling rank owns; not collective. */
int polytile_mpi_array_count_boxes(const polytile_array *array);
polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k);

/** Write one element, whose indices are given. Called for each element of a rank, from threads. */
typedef void polytile_mpi_element(const int64_t *index, void *element, void *user);

/** Set every element by a function. Waits. Errors: those of polytile_queue_wait(). */
polytile_status polytile_mpi_array_fill(polytile_array *array, polytile_mpi_element *element,
                                        void *user);

/** Copy a box of what the calling rank owns from or to memory, in C order. Collective all the same:
 * a rank without elements gives an empty box. Waits. Errors: INVALID (elements of another rank), those
 * of polytile_queue_wait(). */
polytile_status polytile_mpi_array_put(polytile_array *array, const polytile_domain *box,
                                       const void *elements);
polytile_status polytile_mpi_array_get(polytile_array *array, const polytile_domain *box,
                                       void *elements);

/** Hand out all elements from a root's memory, in C order, and collect them there. Waits.
 * elements: NULL on other ranks. */
polytile_status polytile_mpi_array_scatter(polytile_array *array, int root, const void *elements);
polytile_status polytile_mpi_array_gather(polytile_array *array, int root, void *elements);

/**
 * Read and write an array as one file, every rank its part (MPI-IO): NumPy's format if the name ends in
 * .npy, else the elements in C order. Waits.
 *
 * Errors  INVALID (the file has another type, shape, order or size), DEVICE (of MPI, with its text).
 *         A file that could not be written whole is left with a wrong size, which reading refuses.
 */
polytile_status polytile_mpi_array_read(polytile_array *array, const char *path);
polytile_status polytile_mpi_array_write(polytile_array *array, const char *path);

#ifdef __cplusplus
}
#endif

#endif
