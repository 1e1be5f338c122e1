#ifndef POLYTILE_MPI_H
#define POLYTILE_MPI_H

#include <mpi.h>
#include <polytile/queue.h>
#include <polytile/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Queues and streams over the processes of an MPI communicator. Link polytile_mpi beside polytile;
 * programs without MPI need neither this header nor that library.
 *
 * Calls on such a queue and its arrays are collective: every rank makes them in the same order,
 * with the same declarations, domains and options, which is checked. They call MPI from the calling
 * thread alone: MPI_THREAD_FUNNELED is enough. With MPI_THREAD_SERIALIZED or more the slots of
 * team kernels on hosts call it, too, and the threads that launched them, one at a time, while the
 * calling thread waits. If a call of polytile fails on one rank, every rank returns the same error.
 * A rank that ends or is killed ends the job, as MPI does by itself.
 */

/**
 * Open a device, or a list of devices, on every rank for the launches of one queue.
 *
 * Every rank attaches an array with all its elements, which are the same. Ranks compute parts of
 * it, and all have all of it again when it is detached. Arrays of polytile_mpi_array_create() have
 * only a part on each rank.
 *
 * Shapes  device_text: as in polytile_queue_create(); ranks may give different devices, but as
 *         many. The options' grid and weights are of the devices of all ranks, those of a rank one
 *         after the other.
 * Errors  Those of polytile_queue_create(); INVALID (MPI is not initialised, or for fewer threads
 *         than MPI_THREAD_FUNNELED; another number of devices than on other ranks; a grid of
 *         another number of devices; an unknown layout).
 * Owns    The communicator is duplicated. The context owns the queue, which must be destroyed
 *         before MPI_Finalize().
 */
polytile_status polytile_mpi_queue_create(polytile_context *ctx, MPI_Comm comm,
                                          const char *device_text,
                                          const polytile_share_options *options,
                                          polytile_queue **queue);

/**
 * Make an array of which each rank holds what it owns, and ghost cells; all elements are zero.
 * Launches use it as any other array.
 *
 * Shapes  layout: as in the options, but weights are given as numbers; NULL: the queue's.
 * Errors  INVALID (not a queue over a communicator; an unknown layout; another number of weights
 *         than parts; those of polytile_array_wrap()), OVERFLOW, NO_MEMORY.
 * Owns    The queue owns the array, which polytile_array_destroy() can end sooner.
 */
polytile_status polytile_mpi_array_create(polytile_queue *queue, const char *name,
                                          polytile_type type, int n_dims, const int64_t *extents,
                                          const char *layout, polytile_array **array);

/*
 * The functions below take arrays of polytile_mpi_array_create() alone; others are INVALID. All but
 * the first two are collective, and first wait for all launches of the queue. If a launch has
 * failed, they return its error as polytile_queue_wait() does, and do nothing else.
 *
 * If scattering or reading fails halfway, the array is incomplete: see
 * polytile_array_is_complete(). Every call that replaces all elements makes it complete again.
 */

/** Count the boxes of elements that the calling rank owns, of steps 1 and in C order; not
 * collective. */
int polytile_mpi_array_count_boxes(const polytile_array *array);
/** Return the k-th of these boxes; an empty one if there is none. */
polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k);

/** Write the element with the given indices, and nothing else. Threads call it at the same time for
 * different elements. It must not call MPI. */
typedef void polytile_mpi_element(const int64_t *index, void *element, void *user);

/** Set every element by a function, which each rank calls for what it owns. Errors: INVALID. */
polytile_status polytile_mpi_array_fill(polytile_array *array, polytile_mpi_element *element,
                                        void *user);

/**
 * Copy a box of what the calling rank owns from or to memory.
 *
 * Shapes  box: of steps 1, inside what the rank owns, also across several of its boxes; NULL or
 *         empty: this rank copies nothing. elements: those of the box in C order; NULL if there are
 *         none.
 * Errors  INVALID (elements of another rank; a step), NO_MEMORY; then no rank copies anything.
 */
polytile_status polytile_mpi_array_put(polytile_array *array, const polytile_domain *box,
                                       const void *elements);
polytile_status polytile_mpi_array_get(polytile_array *array, const polytile_domain *box,
                                       void *elements);

/**
 * Scatter all elements from the memory of one rank, the root, and gather them there.
 *
 * Shapes  elements: all of the array's in C order, on the root; ignored on other ranks.
 * Errors  INVALID (no such rank; the root gave NULL), NO_MEMORY, DEVICE (of MPI, with its text).
 */
polytile_status polytile_mpi_array_scatter(polytile_array *array, int root, const void *elements);
polytile_status polytile_mpi_array_gather(polytile_array *array, int root, void *elements);

/**
 * Read and write an array as one file, every rank its part, by MPI-IO.
 *
 * A file is written as PATH.part. When it is whole, it gets its name and replaces an old file. A
 * killed job leaves PATH.part.
 *
 * Shapes  path: all ranks give the same, and find the same file under it. NumPy's format if it ends
 *         in .npy, else nothing but the elements in C order.
 * Errors  IO (with the system's or MPI's text; no PATH.part is left), INVALID (the file has another
 *         type, shape or size), UNSUPPORTED (elements in Fortran order, or of a type that arrays or
 *         NumPy do not have).
 */
polytile_status polytile_mpi_array_read(polytile_array *array, const char *path);
polytile_status polytile_mpi_array_write(polytile_array *array, const char *path);

/**
 * Begin to run a graph whose units are on the ranks of a communicator.
 *
 * Collective, with the same plan of the same graph on all ranks, which is checked. Each rank runs
 * the actors of its own units, and needs to bind these alone: after planning, since predictions
 * depend on what is bound, or before where the graph has seconds=. What goes to a unit of another
 * rank is sent, as soon as there is room for it. The calls of polytile/stream.h are as in one
 * process, except:
 *
 * - Every rank makes the same calls in the same order. It pushes, in the graph's order, the inputs
 *   whose first reader is on one of its units, and pulls the outputs whose producer is; a rank
 *   without any pushes and pulls no arrays.
 * - MPI is called from the program's thread alone, inside push, pull, peek and destroy:
 *   MPI_THREAD_FUNNELED is enough. Between these calls nothing is sent and nothing received.
 * - No more frames are in flight than polytile_stream_get_depth() says.
 * - With drops_when_full the rank of the first input decides, and all others do as it does.
 * - An error marks the frame on the ranks that need what failed. So does a frame whose index arrays
 *   look something up outside: it is pushed, and pulled with that error.
 * - Reports are of the rank's own units, and of both directions of its links.
 *
 * Errors  Those of polytile_stream_create(), which all ranks return, but for NULL arguments, which
 *         have to be NULL on all ranks or on none; INVALID (MPI is not initialised, or for fewer
 *         threads than MPI_THREAD_FUNNELED; another graph or plan than on other ranks; a unit of a
 *         rank that there is not), UNSUPPORTED (index arrays of one actor that several
 *         ranks feed; a link of two ranks' GPU memories; ports on several ranks in turn). Later
 *         calls return DEVICE where MPI fails, on any rank, which the text names with the call; or
 *         another rank has ended its stream and its frames are awaited.
 * Owns    The communicator is duplicated. polytile_stream_destroy(), or the end of the context, is
 *         collective, and comes before MPI_Finalize(). Until all ranks are there, actors may fire.
 */
polytile_status polytile_mpi_stream_create(const polytile_graph *graph,
                                           const polytile_graph_plan *plan, MPI_Comm comm,
                                           const polytile_stream_options *options,
                                           polytile_stream **stream);

#ifdef __cplusplus
}
#endif

#endif
