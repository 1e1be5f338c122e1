#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_TRIAL_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_TRIAL_H

#include "launch/access_check/scratch.h"
#include "launch/access_check/survivor.h"
#include "launch/device/device.h"

/** A kernel that is run on copies of its arrays, box by box. */
typedef struct pti_trial {
    const polytile_kernel *kernel; /* borrowed, as instance and block */
    const pti_instance *instance;
    const int64_t *block;    /* as the user asked; NULL: not at all */
    polytile_device *device; /* that runs it */
    polytile_device *own;    /* that device if it was opened for this; NULL: it is the user's */
    pti_survivor survivor;   /* that runs in the kernel's place, if open */
    pti_scratch *scratch;    /* of each operand; owned */
    polytile_domain threads; /* aimed at */
    int n_patterns;          /* of poison that it is run with */
    bool is_whole;           /* arrays are copied whole */
    bool varies;             /* a result came out different by itself */
    int64_t n_runs;          /* of the kernel, so far */
} pti_trial;

/**
 * Get ready to run a kernel for a device: on it, or if that computes on the host, on one thread.
 *
 * Shapes  arrays: one an operand, with memory, which stays as it is.
 * Errors  NO_MEMORY, DEVICE. The trial is to be closed in any case.
 */
polytile_status pti_trial_open(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const int64_t *block, pti_trial *trial);
void pti_trial_close(pti_trial *trial);

/**
 * From now on the kernel may run on values that the program never had: its host function does, if it
 * has one, on one thread of the host. The trial stays where it is, and its thread runs it.
 *
 * Errors  NO_MEMORY, DEVICE.
 */
polytile_status pti_trial_survive(pti_trial *trial);

/** Copy arrays whole from now on if that takes so many bytes at most, of which the device has
 * enough; else what lies around the threads' footprints. */
void pti_trial_copy_whole(pti_trial *trial, int64_t most_bytes);

/** Whether runs on the same memory give the same results, to the last bit, as far as is known. */
bool pti_trial_repeats(const pti_trial *trial);

/** The bytes of the device that it would take to run a box of threads; INT64_MAX: too many. */
int64_t pti_trial_bytes(const pti_trial *trial, const polytile_domain *threads);

/**
 * Place and mark copies for a box of threads.
 *
 * Errors  NO_MEMORY, OVERFLOW.
 */
polytile_status pti_trial_aim(pti_trial *trial, const polytile_domain *threads);

/** Run the kernel on what the copies hold now, and wait. Errors: those of the device. */
polytile_status pti_trial_run(pti_trial *trial);

/**
 * Whether the kernel may run on values that the program never had: where it survives them, or they
 * are numbers with fractions, which are no indices.
 */
bool pti_trial_may_be_strange(const pti_trial *trial);
/** The same on such values: where it survives them it may have ended before it returned. */
polytile_status pti_trial_run_strange(pti_trial *trial);
/** Whether the newest of these runs has. */
bool pti_trial_has_ended(const pti_trial *trial);

/** Begin with a pattern of poison, and run. */
polytile_status pti_trial_run_pattern(pti_trial *trial, int pattern);

/** Begin with one pattern at the first places, counted through all copies one after the other, and
 * with another from there, and run. */
polytile_status pti_trial_run_mixed(pti_trial *trial, int first_pattern, int64_t n_first,
                                    int then_pattern);

#endif
