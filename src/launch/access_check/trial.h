#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_TRIAL_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_TRIAL_H

#include "launch/access_check/shadow_copy.h"
#include "launch/access_check/survivor.h"
#include "launch/device/device.h"

/** A kernel that runs on copies of its arrays, box by box. */
typedef struct pti_trial {
    const polytile_kernel *kernel; /* borrowed, as instance and what config points to */
    const pti_instance *instance;
    pti_launch_config config; /* as the launch would run it */
    polytile_device *device;  /* that runs it */
    polytile_device *own;     /* that device if it was opened for this; NULL: it is the user's */
    pti_survivor survivor;    /* that runs in the kernel's place, if open */
    pti_shadow_copy *shadow;  /* of each operand; owned */
    polytile_domain threads;  /* aimed at */
    int n_patterns;           /* of poison that it is run with */
    bool is_whole;            /* arrays are copied whole */
    bool varies;              /* a result came out different by itself */
    int64_t n_runs;           /* of the kernel, so far */
} pti_trial;

/**
 * Open a trial of a kernel on a device, or on one host thread if the device is the host.
 *
 * Shapes  arrays: one an operand, with memory, which is only read.
 * Errors  NO_MEMORY, DEVICE, INVALID (an array on a GPU). Close the trial in any case.
 */
polytile_status pti_trial_open(polytile_device *device, const polytile_kernel *kernel,
                               const pti_instance *instance, polytile_array *const *arrays,
                               const pti_launch_config *config, pti_trial *trial);
void pti_trial_close(pti_trial *trial);

/** Do without the trial's own device until it is opened again: it can outlive the user's. Errors of
 * opening: NO_MEMORY, DEVICE. */
void pti_trial_close_device(pti_trial *trial);
polytile_status pti_trial_open_device(pti_trial *trial);

/**
 * Let the kernel run on values that the program never had: its host function, if it has one, on the
 * calling thread. The trial must not move.
 *
 * Errors  NO_MEMORY, DEVICE.
 */
polytile_status pti_trial_survive(pti_trial *trial);

/** Copy arrays whole from now on if that takes most_bytes at most, which the device has; else copy
 * the threads' footprints with margins. */
void pti_trial_copy_whole(pti_trial *trial, int64_t most_bytes);

/** Return whether runs on the same memory have given the same results, bit by bit, so far. */
bool pti_trial_repeats(const pti_trial *trial);

/** Return the bytes of device memory that a box of threads takes; INT64_MAX: too many. */
int64_t pti_trial_bytes(const pti_trial *trial, const polytile_domain *threads);

/**
 * Place and mark copies for a box of threads.
 *
 * Errors  NO_MEMORY, OVERFLOW.
 */
polytile_status pti_trial_aim(pti_trial *trial, const polytile_domain *threads);

/** Run the kernel on the copies, and wait. Errors: those of the device. */
polytile_status pti_trial_run(pti_trial *trial);

/** Return whether the kernel may run on values that the program never had: it survives them, or
 * they are numbers with fractions, which are no indices. */
bool pti_trial_may_be_strange(const pti_trial *trial);
/** Run the kernel on such values. It may end before it returns. */
polytile_status pti_trial_run_strange(pti_trial *trial);
/** Return whether the newest run has ended before it returned. */
bool pti_trial_has_ended(const pti_trial *trial);

/** Fill copies with a pattern of poison, and run. */
polytile_status pti_trial_run_pattern(pti_trial *trial, int pattern);

/** Fill copies with one pattern at the first n_first places, counted through all copies, and
 * another from there, and run. */
polytile_status pti_trial_run_mixed(pti_trial *trial, int first_pattern, int64_t n_first,
                                    int then_pattern);

/* dependence.c */

/** Which operands are read where data say, as a sparse matrix by its stored indices. Their sections
 * cannot be narrower than all that the data may say. */
typedef struct pti_dependence {
    bool *depends;    /* of each operand; borrowed */
    bool is_recorded; /* the kernel records what it touches */
    uint64_t drawn;
} pti_dependence;

/** Return whether a launch reads integers, which may be indices. */
bool pti_dependence_is_possible(const pti_instance *instance);

/**
 * Search, in the threads of a trial, for operands of which other elements are read when an integer
 * changes.
 *
 * An integer gets the value of another one of its array, since it may be an index. If the kernel
 * does not record, the elements to which that value points are changed as well: one that matters
 * only then is read because of it.
 * Errors  NO_MEMORY, those of the device.
 */
polytile_status pti_dependence_look(pti_dependence *dependence, pti_trial *trial);

/* sub_kernel.c */

/** Return the bytes of device memory that a copy takes. */
int64_t pti_sub_kernel_bytes(const pti_memory_layout *layout);

/**
 * Run one box of threads on a device over copies of its arrays, and wait.
 *
 * The schedule is in place if the device computes on the host's memory; else it uploads all copies
 * before and downloads them after. Views show what the threads touch as resident, as in the launch
 * itself; what lies around it is memory, too.
 * Shapes  shadow: one an operand.
 * Errors  Those of the device's functions.
 */
polytile_status pti_sub_kernel_run(polytile_device *device, const pti_instance *instance,
                                   const polytile_domain *threads, const pti_launch_config *config,
                                   const pti_shadow_copy *shadow);

#endif
