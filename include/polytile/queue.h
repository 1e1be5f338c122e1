#ifndef POLYTILE_QUEUE_H
#define POLYTILE_QUEUE_H

#include <polytile/device.h>

#ifdef __cplusplus
extern "C++" {
#include <initializer_list>
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An ordered stream of launches over arrays that stay on the device between them.
 *
 * Launches return at once and run on a thread of the queue. Those that do not touch the same
 * elements, or only read them, may run in another order or overlap; the results are those of
 * running all of them in order. Arrays are attached first: from there until they are detached the
 * program leaves their memory alone, and what launches read and write stays on the device as far as
 * it fits.
 *
 *     polytile_queue_attach(queue, POLYTILE_ARRAYS(A, B));
 *     for (int step = 0; step < 100; step += 2) {
 *         polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(A, B), NULL);
 *         polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(B, A), NULL);
 *     }
 *     polytile_queue_detach(queue, POLYTILE_ARRAYS(A, B));
 *
 * moves each array once there and once back, if the device has room for both.
 *
 * A queue, like everything of a context, is used by one host thread at a time.
 *
 * Source  Alonso-Mayo et al., "Communicators: An abstraction to ease the use of hardware
 *         accelerators", sections 2 and 3: a queue is their communicator.
 */
typedef struct polytile_queue polytile_queue;

/** A list of arrays as two arguments, a count and a pointer: POLYTILE_ARRAYS(x, y, z). It lasts
 * as long as the call; in C, as the block. C++ evaluates each array twice. */
#ifdef __cplusplus
#define POLYTILE_ARRAYS(...)                                                                       \
    static_cast<int>(std::initializer_list<polytile_array *>{__VA_ARGS__}.size()),                 \
        std::initializer_list<polytile_array *>{__VA_ARGS__}.begin()
#else
#define POLYTILE_ARRAYS(...)                                                                       \
    (int)(sizeof((polytile_array *const[]){__VA_ARGS__}) / sizeof(polytile_array *)),              \
        (polytile_array *const[]) {                                                                \
        __VA_ARGS__                                                                                \
    }
#endif

/** In place of a list of arrays: of each name in the kernel's declaration the attached or internal
 * array that has it. */
#define POLYTILE_BY_NAME 0, NULL

/**
 * Open a device for the launches of a queue, by its text as in polytile_device_open(); or several
 * with commas between them, which share its arrays in equal blocks.
 *
 * Errors  Those of polytile_device_open(); DEVICE (the thread does not start).
 * Owns    The context owns the queue, which polytile_queue_destroy() can end sooner; the queue owns
 *         its device.
 */
polytile_status polytile_queue_create(polytile_context *ctx, const char *device_text,
                                      polytile_queue **queue);

/** How several devices share a queue, as ranks do in polytile/mpi.h. Zeros are the defaults. */
typedef struct polytile_share_options {
    const char *grid;   /* of devices, as "2x2", for arrays of as many dimensions; NULL: balanced */
    const char *layout; /* of arrays over the grid: "block", "block(dim=0)", "cyclic(64)",
                           "weighted(3,1)" or "weighted" (by measured speed); or "pool", where a
                           device takes the next piece of a launch when it is done with one; NULL:
                           "block" */
    int64_t launches_per_exchange; /* at most, computing borders twice; 0: chosen, 1: never twice */
} polytile_share_options;

/**
 * Open several devices for the launches of one queue, and say how they share them.
 *
 * With "weighted" shares follow from how fast the devices are: measured here (devices of the same
 * text once), and weighed when the first launches run, by what those touch and move. A share may be
 * nothing. POLYTILE_LOG=info tells the weights, which give the same shares again as a layout. With
 * "pool" launches that cannot be cut into such pieces are shared in blocks; the log says why.
 *
 * Shapes  device_text: "cuda:0,cuda:1", "cuda:0,host(threads=8)"; one device has all of it.
 * Errors  Those of polytile_queue_create(); INVALID (a grid of another number of devices; an
 *         unknown layout; another number of weights than parts; more devices than can be weighed).
 */
polytile_status polytile_queue_create_shared(polytile_context *ctx, const char *device_text,
                                             const polytile_share_options *options,
                                             polytile_queue **queue);

/** Run what is queued, detach every array, and end the queue; NULL does nothing. Errors that nobody
 * waited for are written to stderr. */
void polytile_queue_destroy(polytile_queue *queue);

/** The queue's device, to ask about and to trace; only the queue runs on it. Of a queue over
 * several devices it is the first. */
polytile_device *polytile_queue_get_device(const polytile_queue *queue);

/**
 * Hand arrays to the queue. Nothing moves yet: the first launch that reads an element uploads it.
 *
 * Until it is detached the program neither reads nor writes the memory of an attached array;
 * POLYTILE_CHECK=attach makes that a segmentation fault at the very access.
 *
 * Errors  INVALID (an array of another context, without memory, of a queue already, twice in the
 *         list, or sharing memory with another array of it or an attached one of any queue of the
 *         context; no arrays; memory that POLYTILE_CHECK=attach cannot protect), NO_MEMORY. All or
 *         none are attached. Contexts do not know of each other: memory that is attached in one
 *         must not be used in another either, which is not checked.
 */
polytile_status polytile_queue_attach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays);

/**
 * Wait for the launches that use the arrays, bring what they wrote back to the host's memory, and
 * hand the arrays back to the program. What was not written does not move.
 *
 * Errors  INVALID (an array that is not attached here: none is detached then), and those that
 *         polytile_queue_wait() reports. Unless INVALID the arrays are detached; those whose
 *         elements were lost are marked incomplete and named in the text.
 */
polytile_status polytile_queue_detach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays);

/**
 * Say that nobody needs what arrays hold behind the launches so far: none of it is brought back, nor
 * kept when memory runs short. Later launches may write the arrays, and read what they wrote; other
 * elements have no particular value until then.
 *
 * This returns at once. Launches that are not running yet are planned knowing it. Scratch that is
 * used on, such as the second field of a stencil between two waits, is discarded before the wait.
 *
 * Shapes  arrays: attached to the queue or internal to it.
 * Errors  INVALID (an array of no or another queue, read-only, or twice in the list; no arrays):
 *         nothing is discarded then; NO_MEMORY. Once the launches before it are done each array is
 *         incomplete, until a launch overwrites all of it.
 */
polytile_status polytile_queue_discard(polytile_queue *queue, int n_arrays,
                                       polytile_array *const *arrays);

/**
 * Make an array that only launches of this queue use: elements that none of them wrote are zero,
 * and nothing of it ever reaches the program. It has no host memory as long as it fits the device;
 * parts that do not are kept in memory of the library's own.
 *
 * Errors  As polytile_array_wrap().
 * Owns    The queue owns the array; polytile_array_destroy() ends it sooner, without waiting: what
 *         it holds behind the launches that use it is dead, which those that are not running yet are
 *         planned for. On a queue over several devices it waits for them.
 */
polytile_status polytile_queue_create_array(polytile_queue *queue, const char *name,
                                            polytile_type type, int n_dims, const int64_t *extents,
                                            polytile_array **array);

/**
 * Queue a launch: it runs after those before it whose results it needs.
 *
 * The declaration, the arrays and the plan are checked here; a launch that is refused changes
 * nothing. Everything is copied, so that the kernel may be destroyed while its launches are queued,
 * but for what its implementation points to, which must live until they are done.
 *
 * Shapes  domain, options: as polytile_run(), but limit_bytes is 0, since the arrays share the
 *         device's memory; arrays: n_arrays of them in the order of
 *         polytile_kernel_get_array_name(), or POLYTILE_BY_NAME. One array may stand for several
 *         operands that are only read.
 * Errors  As polytile_plan_create(); INVALID (a wrong number of arrays; one that is of another
 *         context or queue, not attached, or of another element type than the kernel's body; a
 *         written array that is read-only, or also another operand; a name that no array of the
 *         queue has, or two); UNSUPPORTED (no implementation for the device). What goes wrong later
 *         is told by the next wait.
 */
polytile_status polytile_queue_launch(polytile_queue *queue, const polytile_kernel *kernel,
                                      const polytile_domain *domain, int n_arrays,
                                      polytile_array *const *arrays,
                                      const polytile_plan_options *options);

/**
 * Wait until everything queued is done.
 *
 * Errors  Of the first launch that failed since the last wait, with its name; the launches behind
 *         it were not run. Arrays that lost elements are incomplete and named. The queue can be
 *         used on.
 */
polytile_status polytile_queue_wait(polytile_queue *queue);

/**
 * Wait only until the launches that use an array are done; others that have no array in common with
 * them, directly or through others, may be put off. The array stays attached.
 *
 * Errors  As polytile_queue_wait(); INVALID (not of this queue).
 */
polytile_status polytile_queue_wait_for(polytile_queue *queue, polytile_array *array);

/**
 * Keep launches back until polytile_queue_resume(), or until something is waited for.
 *
 * What is queued together is planned together: knowing what comes later, the queue keeps on the
 * device what is needed soonest.
 */
void polytile_queue_pause(polytile_queue *queue);
void polytile_queue_resume(polytile_queue *queue);

/** What a queue did since it was created, or last told. */
typedef struct polytile_queue_report {
    int64_t n_launches; /* that are done; on a device with memory of its own none of those that were
                           planned together with one that failed */
    int64_t n_kernels;  /* sub-kernels that ran, of whatever launches */
    int64_t h2d_bytes;
    int64_t d2h_bytes;
    int64_t p2p_bytes;         /* from the memory of linked devices, over several of them */
    int64_t peak_device_bytes; /* at a time; over several devices, of the one with the most */
    double enqueue_s;          /* of the program's thread, in polytile_queue_launch() */
    double plan_s;             /* of the queue's thread */
    double run_s;              /* from the begin of each group of launches to its end, added up */
    double compute_s;          /* as in polytile_report */
    double transfer_s;
} polytile_queue_report;

/** Wait for the queue and tell what it did; with reset the counts begin anew. Errors are left for
 * polytile_queue_wait(). */
void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_queue_report *report);

#ifdef __cplusplus
}
#endif

#endif
