#include "partition/memory/resident_state.h"

#include "base/checked.h"

#include <stdlib.h>

/* What is asked of the state of device memory, and noted in it, without a schedule. */

int64_t pti_resident_bytes(const polytile_domain *hull, int64_t element_bytes) {
    return pti_resident_padded(pti_memory_layout_of(hull, element_bytes).size_bytes);
}

pti_resident_image *pti_image_new(pti_residency *residency) {
    pti_resident_image *image = residency->spare;
    if (image == NULL)
        return calloc(1, sizeof *image);
    residency->spare = image->next;
    return image;
}

void pti_image_spare(pti_residency *residency, pti_resident_image *image) {
    pti_boxes_clear(&image->valid);
    pti_boxes_clear(&image->dirty);
    image->next = residency->spare;
    residency->spare = image;
}

bool pti_residency_all_fit(const pti_residency *residency) {
    int64_t bytes = 0;
    for (int a = 0; a < residency->instance.n_operands; a++)
        if (!residency->stay[a].is_idle && !residency->stay[a].has_left &&
            pti_add_overflows(bytes, residency->state[a].whole_bytes, &bytes))
            return false;
    return bytes <= residency->arena_bytes;
}

/** Return whether all that is resident of an array is in one image, of all of it. */
static bool is_in_one_whole_image(const pti_residency *residency, int array) {
    const pti_resident_image *image = residency->state[array].images;
    return image->next == NULL &&
           pti_box_contains(&image->layout.hull, &residency->instance.operand[array].domain);
}

/** Return the bytes of the gap that begins at a segment, if one does there; else 0. */
static int64_t gap_at(const pti_segments *segments, int first) {
    int64_t bytes = 0;
    if (first > 0 && segments->memory[first - 1].image == NULL)
        return 0;
    for (int k = first; k < segments->n_segments && segments->memory[k].image == NULL; k++)
        bytes += segments->memory[k].size_bytes;
    return bytes;
}

static int64_t find_widest_gap(const pti_segments *segments) {
    int64_t widest_bytes = 0;
    for (int k = 0; k < segments->n_segments; k++)
        widest_bytes = pti_max(widest_bytes, gap_at(segments, k));
    return widest_bytes;
}

static int count_gaps(const pti_segments *segments, int64_t bytes) {
    int n = 0;
    for (int k = 0; k < segments->n_segments; k++)
        n += gap_at(segments, k) == bytes;
    return n;
}

/** Return whether nothing is resident of an array, which is not one that has left. */
static bool is_missing(const pti_residency *residency, int array) {
    return residency->state[array].images == NULL && residency->state[array].whole_bytes > 0 &&
           !residency->stay[array].has_left;
}

/** Return whether each array that is missing has a gap of exactly its size: an image takes the
 * least that is enough. */
static bool have_all_missing_gaps(const pti_residency *residency) {
    bool have = true;
    for (int a = 0; a < residency->instance.n_operands && have; a++) {
        const int64_t bytes = residency->state[a].whole_bytes;
        int n_alike = 0;
        for (int b = 0; b < residency->instance.n_operands; b++)
            n_alike += is_missing(residency, b) && residency->state[b].whole_bytes == bytes;
        have = !is_missing(residency, a) || n_alike <= count_gaps(&residency->segments, bytes);
    }
    return have;
}

/** Several gaps of other sizes would be enough only for some orders of what comes. */
bool pti_residency_has_room(const pti_residency *residency) {
    int64_t missing_bytes = 0;
    bool has = true;
    for (int a = 0; a < residency->instance.n_operands && has; a++) {
        if (residency->state[a].images != NULL)
            has = is_in_one_whole_image(residency, a);
        else if (is_missing(residency, a))
            has =
                !pti_add_overflows(missing_bytes, residency->state[a].whole_bytes, &missing_bytes);
    }
    return has && (missing_bytes <= find_widest_gap(&residency->segments) ||
                   have_all_missing_gaps(residency));
}

bool pti_residency_holds_whole(const pti_residency *residency, int array) {
    const polytile_domain *domain = &residency->instance.operand[array].domain;
    const pti_resident_image *image = residency->state[array].images;
    while (image != NULL && !pti_box_contains(&image->layout.hull, domain))
        image = image->next;
    return image != NULL;
}

void pti_residency_visit_dirty(const pti_residency *residency, int array, pti_dirty_visit *visit,
                               void *of) {
    const pti_resident_image *image = residency->state[array].images;
    for (; image != NULL; image = image->next)
        if (image->dirty.n_boxes > 0)
            visit(of, &image->layout, image->offset_bytes, &image->dirty);
}

bool pti_residency_is_dirty(const pti_residency *residency, int array) {
    const pti_resident_image *image = residency->state[array].images;
    while (image != NULL && image->dirty.n_boxes == 0)
        image = image->next;
    return image != NULL;
}

void pti_residency_keep(pti_residency *residency, int array, const pti_boxes *boxes) {
    if (residency->state[array].is_internal)
        pti_boxes_unite(&residency->state[array].on_host, boxes, pti_boxes_include);
}

const pti_instance *pti_residency_arrays(const pti_residency *residency) {
    return &residency->instance;
}

const pti_boxes *pti_residency_unwritten(const pti_residency *residency, int array) {
    return &residency->state[array].unwritten;
}
