#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H

#include "launch/access_check/trial.h"

/** A marked element that is tried. */
typedef struct pti_tried {
    int operand;
    int64_t k;
    bool is_read; /* a result depends on it */
} pti_tried;

/** Elements drawn by chance, changed one by one to see whether any result changes. */
typedef struct pti_sampling {
    int64_t *n_tried;     /* of each operand; owned, as all arrays but depends */
    int64_t *n_read;      /* of them, a result depends on, be it the element itself that is left */
    int64_t *n_late;      /* of those, for one of the later values only */
    int64_t *n_left;      /* of those, may be written and were left as they were for some value */
    pti_tried *tried;     /* of one box of threads */
    int64_t n_in_box;     /* of them */
    bool *depends;        /* of each operand: it is read where data say */
    unsigned char *value; /* that the element which is tried was given */
    bool only_updates;    /* of operands that may be written, too: the kernel tells of others */
    int64_t n_boxes;      /* of threads, over which those that are tried are spread */
    uint64_t drawn;
} pti_sampling;

/** For a trial that is open. n_boxes, depends and only_updates are filled in by the caller.
 * Errors: NO_MEMORY. */
polytile_status pti_sampling_make(const pti_trial *trial, pti_sampling *sampling);
void pti_sampling_free(pti_sampling *sampling);

/**
 * Try some elements that the threads which a trial is aimed at are declared to read, of operands
 * that they do not combine into; none where the kernel may not run on values that the program never
 * had.
 *
 * Small numbers take an element's place: no large ones, for it may be an index. A run that ends
 * before it returns depends on it.
 * Errors  Those of the device, NO_MEMORY.
 */
polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial);

/** Whether there are elements of which no result was seen to depend, of operands that are not known
 * to be read where data say. */
bool pti_sampling_is_open(const pti_sampling *sampling);

/**
 * Look again at these, with others of the array's values, and while other elements hold what they do
 * not in the program: results may be the same by chance where an index leads to equal values, or a
 * factor is zero. An operand of which elements matter for other integers only is read where they
 * say.
 *
 * Errors  As above.
 */
polytile_status pti_sampling_try_again(pti_sampling *sampling, pti_trial *trial);

/** Keep what elements hold after a run. Errors: NO_MEMORY. */
polytile_status pti_sampling_keep_results(const pti_trial *trial);
/** Whether any written element is another than was kept, or the run has ended instead. One that was changed before the run counts
 * like all others: if it is not written it holds what it was changed to, and so depends on what it
 * held. */
bool pti_sampling_has_changed(const pti_trial *trial);

#endif
