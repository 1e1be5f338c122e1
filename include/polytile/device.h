#ifndef POLYTILE_DEVICE_H
#define POLYTILE_DEVICE_H

#include <polytile/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What runs sub-kernels, with a memory of its own or the host's. */
typedef struct polytile_device polytile_device;

/**
 * Open a device by its text: "host", "host(memory=64MiB,threads=2)", "cuda:0(memory=16GiB)".
 *
 * "host" computes in place and copies nothing. With memory= it has an arena of exactly that size
 * and really copies, as a small accelerator would. threads= defaults to OpenMP's number.
 *
 * "cuda:K" is the K-th NVIDIA GPU that the CUDA runtime shows. All memory that is taken of it,
 * except CUDA's own context and the code of kernels, stays within memory=, which defaults to what
 * is free. Of less than 32 MiB it may be up to 4 MiB more, since CUDA allocates in units of 2 MiB.
 * Opening and running leave the GPU current in the calling thread. threads= host threads copy
 * arrays in pageable memory, at most one a processor by default.
 * streams=, 1 to 32 or auto, is on how many streams superblocks of a launch run side by side if
 * each of its threads is much work, as those of a launcher are; the default is 1.
 *
 * Errors  INVALID (unknown device or option; the text lists what there is), NO_MEMORY, DEVICE (the
 *         threads do not start; a call to CUDA failed), UNSUPPORTED (no such GPU, no driver, or a
 *         library that was built without CUDA; "host" is always there).
 * Owns    The context owns the device, which polytile_device_close() can end sooner.
 */
polytile_status polytile_device_open(polytile_context *ctx, const char *text,
                                     polytile_device **device);

/** Close a device; does nothing to NULL and to the device of a queue. */
void polytile_device_close(polytile_device *device);

/**
 * Return the memory that a plan for this device may use, in bytes; 0 when there is no limit.
 *
 * On CUDA it is a few MiB less than memory=, for what streams and events take.
 */
int64_t polytile_device_get_limit(const polytile_device *device);

/** Return the measured figures of the device and its link to the host, for polytile_plan_options.
 * Runs that make their own plan use them. "host" has polytile_link_default. */
const polytile_link *polytile_device_get_link(const polytile_device *device);

/** Return the text the device was opened with. */
const char *polytile_device_get_text(const polytile_device *device);

/**
 * Write what the device does from now on to a file, for chrome://tracing or Perfetto: one track
 * for uploads, one for kernels, one for downloads. NULL finishes the file, as closing does.
 *
 * Units   microseconds since the call; bytes.
 * Errors  IO (the file cannot be written), NO_MEMORY.
 */
polytile_status polytile_device_trace(polytile_device *device, const char *path);

/**
 * Cancel the run that is in progress on a device, or all that is queued on that of a queue.
 *
 * Returns at once. What runs ends as polytile_queue_cancel() says; polytile_run() then returns
 * POLYTILE_CANCELLED, and arrays that it was writing are incomplete. Where nothing runs it does
 * nothing. Any thread may call it, and handlers of signals.
 */
void polytile_device_cancel(polytile_device *device);

/** What polytile_devices_list() says of one device. */
typedef struct polytile_device_info {
    char text[64];         /* for polytile_device_open() */
    char description[128]; /* for people; says why where the device cannot be used */
    int64_t memory_bytes;
    int n_threads;
    polytile_link link; /* of host: measured now, in a fraction of a second; of a GPU: measured once
                           and kept, see POLYTILE_CACHE in docs/environment.md; of a device that
                           cannot be used: zero */
    int64_t reserved[4]; /* zeros */
} polytile_device_info;

/** List the devices of this machine. Writes at most capacity entries; *n_devices is their
 * number. */
polytile_status polytile_devices_list(polytile_context *ctx, int capacity,
                                      polytile_device_info *infos, int *n_devices);

#ifdef __cplusplus
}
#endif

#endif
