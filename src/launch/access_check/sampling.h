#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_SAMPLING_H

#include "launch/access_check/trial.h"

/* Elements that are declared to be read, changed one by one. */

/** A marked element that is tried. */
typedef struct pti_tried {
    int operand;
    int64_t k;
    bool is_read; /* a result depends on it */
} pti_tried;

/** Random elements, changed one by one to see whether any result changes. */
typedef struct pti_sampling {
    int64_t *n_tried; /* of each operand; owned, as all arrays but depends */
    int64_t *n_read;  /* of them, those on which a result depends, perhaps only their own value */
    int64_t *n_late;  /* of those, for one of the later values only */
    int64_t *n_left;  /* of those, may be written and were left as they were for some value */
    pti_tried *tried; /* of one box of threads */
    int64_t n_in_box; /* of them */
    bool *depends;    /* of each operand: it is read where data say */
    unsigned char *value; /* that the element which is tried was given */
    bool only_updates;    /* of operands that may be written, too: the kernel records others */
    int64_t n_boxes;      /* of threads, over which those that are tried are spread */
    uint64_t drawn;
} pti_sampling;

/** Make a sampling for an open trial. The caller sets n_boxes, depends and only_updates. Errors:
 * NO_MEMORY. */
polytile_status pti_sampling_make(const pti_trial *trial, pti_sampling *sampling);
void pti_sampling_free(pti_sampling *sampling);

/**
 * Try some elements that a trial's threads declare to read, of operands that they do not combine
 * into; none if the kernel may not run on values that the program never had.
 *
 * Small numbers replace an element, since it may be an index. A run that ends before it returns
 * depends on it.
 * Errors  Those of the device, NO_MEMORY.
 */
polytile_status pti_sampling_try(pti_sampling *sampling, pti_trial *trial);

/** Return whether there are elements on which no result depends so far, of operands that are not
 * read where data say. */
bool pti_sampling_is_open(const pti_sampling *sampling);

/**
 * Try these again, with other values of the array, and with other values around them: results may
 * agree by chance if an index leads to equal values, or a factor is zero. An operand whose elements
 * matter only with other integers is read where these say.
 *
 * Errors  As above.
 */
polytile_status pti_sampling_try_again(pti_sampling *sampling, pti_trial *trial);

/** Keep the results of a run. Errors: NO_MEMORY. */
polytile_status pti_sampling_keep_results(const pti_trial *trial);
/** Find a written element that differs from the kept result; false: there is none. */
bool pti_sampling_find_changed(const pti_trial *trial, int *operand, int64_t *place);
/** Return whether there is such an element, or the run ended before it returned. An element that
 * was changed before the run counts, too: if it is unwritten it holds the changed value, and so
 * depends on what it held. */
bool pti_sampling_has_changed(const pti_trial *trial);

#endif
