#ifndef POLYTILE_PARTITION_MEMORY_RESIDENT_IMAGE_H
#define POLYTILE_PARTITION_MEMORY_RESIDENT_IMAGE_H

#include "partition/memory/resident_state.h"

/* What changes images: the operations that move elements in and out, and what is valid and dirty
 * after them. */

/** The schedule that is being made, and for which of its superblocks. */
typedef struct pti_resident_emit {
    pti_residency *of;
    pti_builder builder;
    int launch;
    int64_t superblock; /* the next to run; as many have run */
    int64_t n_superblocks;
    int former_launch; /* of the superblock before */
    bool has_lanes;    /* some launch is in lanes: none of it need be done before the next launch */
    pti_beside beside; /* of the current launch */
} pti_resident_emit;

/** The number of images on the device. */
int pti_images_count(const pti_residency *residency);

/** Return whether an image's hull contains a box. */
bool pti_image_contains(const pti_resident_image *image, const polytile_domain *box);

/** Give neighbouring segments, whose images are gone, to a new image without valid elements; NULL
 * when memory runs out. */
pti_resident_image *pti_image_make(pti_resident_emit *emit, pti_segment_run neighbours,
                                   int64_t bytes, int array, const polytile_domain *hull);

/** Forget what is known of how the current schedule uses an image, whose elements have changed. */
void pti_image_forget_future(const pti_residency *residency, pti_resident_image *image);

/** Download what of an image is newer than on the host. */
void pti_image_download(pti_resident_emit *emit, pti_resident_image *image);

/** Download what only this image holds, and take it off the device. */
void pti_image_evict(pti_resident_emit *emit, pti_resident_image *image);

/** Move elements in: those of `boxes` are not valid in the image. are_unwritten: a fill is with
 * zero, of elements that nobody wrote. */
void pti_image_upload(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes);
void pti_image_fill(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes,
                    bool are_unwritten);
void pti_image_copy(pti_resident_emit *emit, pti_resident_image *image, pti_resident_image *source,
                    const pti_boxes *boxes);

/** A box was written in an image: it is newest there, and old everywhere else. */
void pti_image_mark_written(pti_residency *residency, pti_resident_image *image,
                            const polytile_domain *box);

/** Download those of some elements that are newer in an image than on the host, and keep the image.
 */
void pti_image_fetch(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes);

/** Note that the host has newer elements of an array: images have them no more. */
void pti_resident_invalidate(pti_residency *residency, int array, const pti_boxes *boxes);

/** Drop images of an array whose valid elements are valid in one image, so that memory does not
 * hold them twice, unless the current superblock uses them. */
void pti_image_absorb(pti_residency *residency, pti_resident_image *image);

/** Forget everything about an array on the device: what the host holds is what there is. */
void pti_resident_forget(pti_residency *residency, int array);

#endif
