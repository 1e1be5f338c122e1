#ifndef POLYTILE_QUEUE_H
#define POLYTILE_QUEUE_H

#include <polytile/device.h>
#include <polytile/report.h>
#include <polytile/share.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An ordered stream of launches over arrays that stay on the device between them.
 *
 * Launches return at once and run on a thread of the queue. Launches that touch different elements,
 * or only read them, may overlap or change places; the results are those of running all in order.
 * The program attaches arrays first, and leaves their memory alone until it detaches them. What
 * launches read and write stays on the device as far as it fits.
 *
 *     polytile_queue_attach(queue, POLYTILE_ARRAYS(A, B));
 *     for (int step = 0; step < 100; step += 2) {
 *         polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(A, B), NULL);
 *         polytile_queue_launch(queue, jacobi, &interior, POLYTILE_ARRAYS(B, A), NULL);
 *     }
 *     polytile_queue_detach(queue, POLYTILE_ARRAYS(A, B));
 *
 * moves each array once each way, if both fit the device.
 *
 * One host thread at a time uses a queue, like all objects of a context.
 *
 * Source  Alonso-Mayo et al., "Communicators: An abstraction to ease the use of hardware
 *         accelerators", sections 2 and 3: a queue is their communicator.
 */
typedef struct polytile_queue polytile_queue;

/** Stands for a list of arrays: for each name in the kernel's declaration, the attached or internal
 * array of that name. */
#define POLYTILE_BY_NAME 0, NULL

/**
 * Open a device for the launches of a queue, by its text as in polytile_device_open(). Several
 * devices, with commas between them, share its launches: those that differ in
 * more than their number by the policy "guided", others in equal blocks.
 *
 * Errors  Those of polytile_device_open(); DEVICE (the thread does not start).
 * Owns    The context owns the queue, which polytile_queue_destroy() can end sooner; the queue owns
 *         its device.
 */
polytile_status polytile_queue_create(polytile_context *ctx, const char *device_text,
                                      polytile_queue **queue);

/**
 * Open several devices for the launches of one queue, and say how they share them.
 *
 * With "weighted", shares follow the speeds of the devices. These are measured here (devices of the
 * same text once), and weighed by what the first launches touch and move. A share may be nothing.
 * POLYTILE_LOG=info logs the weights; as a layout they give the same shares again. docs/policies.md
 * has the policies.
 *
 * Shapes  device_text: "cuda:0,cuda:1", "cuda:0,host(threads=8)"; one device has all of it.
 * Errors  Those of polytile_queue_create(); INVALID (a grid of another number of devices; an
 *         unknown layout or policy; another number of weights than parts; more devices than can be
 *         weighed).
 */
polytile_status polytile_queue_create_shared(polytile_context *ctx, const char *device_text,
                                             const polytile_share_options *options,
                                             polytile_queue **queue);

/** Run what is queued, detach every array, and end the queue; NULL does nothing. Errors that no
 * wait has returned go to stderr. */
void polytile_queue_destroy(polytile_queue *queue);

/** Return the queue's device, or its first one, to ask about. Only the queue runs on it. */
polytile_device *polytile_queue_get_device(const polytile_queue *queue);

/**
 * Write what all devices of a queue do from now on to a file, for chrome://tracing or Perfetto: a
 * process a device, with one track for uploads, one for kernels, one for downloads, and one for
 * planning; and, of several devices, a process for what the program's thread does. NULL finishes
 * the file, as the end of the queue does. Waits for what is queued.
 *
 * Of a queue over ranks each rank traces its own devices, to a file of its own or not at all.
 *
 * Units   microseconds since the call; bytes.
 * Errors  IO (the file cannot be written), NO_MEMORY; INVALID (from a callback of the queue).
 */
polytile_status polytile_queue_trace(polytile_queue *queue, const char *path);

/**
 * Attach arrays to the queue. Nothing moves yet: the first launch that reads an element uploads it.
 *
 * The program neither reads nor writes an attached array's memory. With POLYTILE_CHECK=attach such
 * an access is a segmentation fault.
 *
 * Errors  INVALID (an array of another context, without memory, of a queue already, twice in the
 *         list, or sharing memory with another array of it or an attached one of any queue of the
 *         context; no arrays; memory that POLYTILE_CHECK=attach cannot protect), NO_MEMORY. All or
 *         none are attached. Another context must not use the memory either, which is not checked.
 */
polytile_status polytile_queue_attach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays);

/**
 * Wait for the launches that use the arrays, download what they wrote, and give the arrays back to
 * the program.
 *
 * Errors  INVALID (an array that is not attached here: none is detached then), and those that
 *         polytile_queue_wait() reports. Unless INVALID the arrays are detached; those whose
 *         elements were lost are marked incomplete and named in the text.
 */
polytile_status polytile_queue_detach(polytile_queue *queue, int n_arrays,
                                      polytile_array *const *arrays);

/**
 * Discard what arrays hold after the launches so far: it is not downloaded, nor kept when memory
 * runs short. Later launches may write the arrays, and read what they wrote; other elements have no
 * particular value.
 *
 * This returns at once. Launches that do not run yet are planned with it. Discard scratch before a
 * wait, such as the second field of a stencil.
 *
 * Shapes  arrays: attached to the queue or internal to it.
 * Errors  INVALID (an array of no or another queue, read-only, or twice in the list; no arrays):
 *         nothing is discarded then; NO_MEMORY. Once the launches before it are done each array is
 *         incomplete, until a launch overwrites all of it.
 */
polytile_status polytile_queue_discard(polytile_queue *queue, int n_arrays,
                                       polytile_array *const *arrays);

/**
 * Make an internal array, which only launches of this queue use. Elements that none of them wrote
 * are zero. As long as it fits the device it has no host memory; what does not fit is kept in
 * memory of the library.
 *
 * Errors  As polytile_array_wrap().
 * Owns    The queue owns the array; polytile_array_destroy() can end it sooner, without waiting.
 *         Launches that do not run yet are then planned knowing that nobody needs its contents. On
 *         a queue over several devices it waits for them.
 */
polytile_status polytile_queue_create_array(polytile_queue *queue, const char *name,
                                            polytile_type type, int n_dims, const int64_t *extents,
                                            polytile_array **array);

/**
 * Queue a launch: it runs after those before it whose results it needs.
 *
 * The declaration, the arrays and the plan are checked here; a refused launch changes nothing.
 * Everything is copied, so the kernel may be destroyed while its launches are queued. What its
 * implementation points to must live until they are done.
 *
 * Shapes  domain, options: as polytile_run(), but plan.limit_bytes is 0, since the arrays share the
 *         device's memory; arrays: n_arrays of them in the order of
 *         polytile_kernel_get_array_name(), or POLYTILE_BY_NAME. One array may stand for several
 *         operands; where one of them is written, they touch different elements.
 * Errors  As polytile_plan_create(); INVALID (a wrong number of arrays; one that is of another
 *         context or queue, not attached, or of another element type than the kernel's body; a
 *         written array that is read-only; a name that no array of the queue has, or two);
 *         CONFLICT (operands that are one array); UNSUPPORTED (no implementation for the device).
 *         The next wait returns what goes wrong later. Where subscripts hold elements of an array
 *         that an earlier launch writes, this waits for that one, and returns its errors.
 */
polytile_status polytile_queue_launch(polytile_queue *queue, const polytile_kernel *kernel,
                                      const polytile_domain *domain, int n_arrays,
                                      polytile_array *const *arrays,
                                      const polytile_launch_options *options);

/**
 * Wait until all launches are done.
 *
 * Errors  Of the first launch that failed since the last wait, with its name; the launches after
 *         it did not run. Arrays that lost elements are incomplete and named. The queue can be used
 *         on.
 */
polytile_status polytile_queue_wait(polytile_queue *queue);

/**
 * Wait until the launches that use an array are done. Launches that share no array with them,
 * directly or through others, may run later. The array stays attached.
 *
 * Errors  As polytile_queue_wait(); INVALID (not of this queue).
 */
polytile_status polytile_queue_wait_for(polytile_queue *queue, polytile_array *array);

/*
 * Not blocking. A program can ask whether something is done, be called when it is, ask how far the
 * queue is, and end it before it is done:
 *
 *     polytile_queue_notify(queue, norm, has_norm, &state);  after the launches that write norm
 *     while (!polytile_queue_test(queue, norm))
 *         do_something_else();
 *
 * A queue over several devices runs its launches in calls of the program, on its thread: there
 * polytile_queue_test() and polytile_queue_notify() run them, and return when they are done.
 */

/**
 * Return whether everything that is queued is done, or, given an array, all that uses it.
 *
 * This does not wait. What failed is done: polytile_queue_wait() then returns the error at once. A
 * queue that is paused does nothing. array: NULL for everything; one that is not of this queue has
 * nothing to be done.
 */
bool polytile_queue_test(polytile_queue *queue, const polytile_array *array);

/** A function of the program's that a queue calls; status: POLYTILE_OK, or what went wrong. */
typedef void polytile_queue_callback(polytile_status status, void *user);

/**
 * Have a function called once the launches so far that use an array are done, and its newest
 * elements are in its memory. This returns at once.
 *
 * The function runs on a thread of the queue, which waits for it before it does anything else; what
 * is queued meanwhile follows. It may read the array's memory, and call polytile_queue_cancel(),
 * but nothing else of the context. It is called exactly once, also where a launch failed or was
 * cancelled; then the memory has no particular elements.
 *
 * Errors  INVALID (an array that is not attached here; no function), NO_MEMORY, UNSUPPORTED (a
 *         queue over ranks, where only the program's own calls run launches and send messages: wait
 *         for the array there). The function is not called then.
 */
polytile_status polytile_queue_notify(polytile_queue *queue, polytile_array *array,
                                      polytile_queue_callback *callback, void *user);

/** How far a queue is with what it had to do since it last had nothing. */
typedef struct polytile_progress {
    double fraction;     /* 0 to 1, by the bytes that launches touch; 1: nothing is queued */
    double left_s;       /* if it goes on as it went so far; infinite: nothing is known yet */
    int64_t reserved[4]; /* zeros */
} polytile_progress;

/** Return how far the queue is. Any thread may call this while the queue lives. */
polytile_progress polytile_queue_get_progress(polytile_queue *queue);

/**
 * Cancel all that is queued, as if it had failed. This returns at once.
 *
 * Sub-kernels that run, or that a GPU was handed, end first, and a team kernel runs to its end. One
 * in place on the host ends within some milliseconds and leaves threads out; of a chain in columns
 * there each thread ends the part of a launch that it is in. The next wait returns
 * POLYTILE_CANCELLED, and what is queued until then does not run either. Afterwards
 * polytile_array_get_state() tells arrays apart: those for which all launches are done, those that
 * are as the launches before left them, and those that lost elements. Where nothing is queued this
 * does nothing. Over ranks all of them end as soon as they hear of it, with the rank in the text.
 *
 * Any thread may call this while the queue lives, and handlers of signals.
 */
void polytile_queue_cancel(polytile_queue *queue);

/**
 * Keep launches back until polytile_queue_resume(), or until a wait.
 *
 * What is queued together is planned together: the queue then keeps on the device what it needs
 * soonest.
 */
void polytile_queue_pause(polytile_queue *queue);
void polytile_queue_resume(polytile_queue *queue);

/** Wait for the queue and report what it did since it was created, or since the last report with
 * reset. polytile_queue_wait() still returns the errors. */
void polytile_queue_get_report(polytile_queue *queue, bool reset, polytile_report *report);

#ifdef __cplusplus
}
#endif

#endif
