#ifndef POLYTILE_PARTITION_ARENA_UPLOAD_CHOICE_H
#define POLYTILE_PARTITION_ARENA_UPLOAD_CHOICE_H

#include "access/footprint/footprint.h"
#include <polytile/plan.h>

/* What is uploaded into a piece, for one launch (build.h) as between launches (resident_bring.c).
 *
 * Whether a piece is filled by one upload around all that it needs, or exactly: copies of what the
 * device has elsewhere, and an upload for each box of the rest.
 *
 * One upload also brings what lies between the boxes. The caller asks only where that does no harm:
 * where the host has the newest of everything around what is needed. Without a link (NULL) as few
 * bytes as possible are to move, and one upload is never faster. */

/** The most boxes in which a section is uploaded: a few that take a little too much are faster than
 * many. */
enum { PTI_MAX_READ_BOXES = 16 };

/** Split what is reduced into from an identity: *written keeps what nothing was combined into yet,
 * which gets the identity; *again gets the rest, which comes as if it were read. */
void pti_upload_split_combined(pti_boxes *written, const pti_boxes *combined, pti_boxes *again);

/**
 * Return whether one upload of the hull of what is needed is faster.
 *
 * needed: disjoint boxes of the operand's array. shared: those parts of them that would be copied
 * on the device, each its own copy. rest: a set for the function's own use, so that asking often
 * allocates once; the caller looks at its `failed`.
 */
bool pti_upload_around_is_faster(const polytile_link *link, const pti_operand *operand,
                                 const pti_boxes *needed, const pti_boxes *shared, pti_boxes *rest);

/**
 * The same for all that a box of threads reads, before that is taken apart into boxes: whether one
 * upload of its hull is faster beyond doubt.
 *
 * held: a box that contains all that could be copied on the device; NULL: nothing could.
 */
bool pti_upload_hull_is_surely_faster(const polytile_link *link, const pti_instance *instance,
                                      int operand, const polytile_domain *threads,
                                      const polytile_domain *hull, const polytile_domain *held);

#endif
