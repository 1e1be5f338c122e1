#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H

#include "launch/access_check/trial.h"

/** Elements drawn by chance, changed one by one to see whether any result changes. */
typedef struct pti_sampling {
    int64_t *n_tried;     /* of each operand; owned, as the other three */
    int64_t *n_read;      /* of them, a result depends on, be it the element itself that is left */
    int64_t *n_left;      /* of those, may be written and were left as they were for some value */
    unsigned char *value; /* that the element which is tried was given */
    int64_t n_boxes;      /* of threads, over which those that are tried are spread */
    uint64_t drawn;
} pti_sampling;

/** For a trial that is open. n_boxes is filled in by the caller. Errors: NO_MEMORY. */
polytile_status pti_sampling_make(const pti_trial *trial, pti_sampling *sampling);
void pti_sampling_free(pti_sampling *sampling);

/**
 * Try some elements that the threads which a trial is aimed at are declared to read, of operands
 * that they do not combine into.
 *
 * Others of the array's values, and small numbers, take an element's place: no large ones, for it
 * may be an index.
 * Errors  Those of the device, NO_MEMORY.
 */
polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial);

/** Keep what elements hold after a run. Errors: NO_MEMORY. */
polytile_status pti_sampling_keep_results(const pti_trial *trial);
/** Whether any written element is another than was kept. One that was changed before the run counts
 * like all others: if it is not written it holds what it was changed to, and so depends on what it
 * held. */
bool pti_sampling_has_changed(const pti_trial *trial);

#endif
