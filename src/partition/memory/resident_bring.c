#include "partition/memory/resident_window.h"

#include "access/pieces/split.h"
#include "partition/arena/upload_choice.h"

/** Elements that combine from an identity get it, unless they have more by now; those that have are
 * needed as if read. */
static void begin_image_reduction(pti_resident_window *at, pti_resident_image *image,
                                  const pti_instance *instance, int operand,
                                  const polytile_domain *threads) {
    pti_residency *residency = at->of;
    pti_resident_state *state = &residency->state[image->array];
    pti_footprint_boxes(instance, operand, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES,
                        &residency->shared);
    pti_upload_split_combined(&residency->shared, &state->initialised, &residency->rest);
    pti_boxes_unite(&residency->needed, &residency->rest, pti_boxes_include);
    pti_boxes_unite(&state->initialised, &residency->shared, pti_boxes_include);
    pti_image_fill(at->emit, image, &residency->shared, false);
}

static void read_operand(pti_resident_window *at, pti_resident_image *image,
                         const pti_instance *instance, int operand,
                         const polytile_domain *threads) {
    polytile_domain hull;
    bool reads = pti_footprint_find_hull(instance, operand, PTI_READS, threads, &hull);
    if (!reads || pti_boxes_cover(&image->valid, &hull))
        return;
    pti_footprint_boxes(instance, operand, PTI_READS, threads, PTI_MAX_READ_BOXES, &at->of->rest);
    pti_boxes_unite(&at->of->needed, &at->of->rest, pti_boxes_include);
    pti_pieces_add_met(instance, operand, threads, PTI_MAX_READ_BOXES, &at->of->rest,
                       &at->of->needed);
}

/** Puts what a superblock needs of a piece and is not valid in its image into `needed`. */
static void find_missing_elements(pti_resident_window *at, pti_resident_image *image,
                                  const pti_piece *piece, const pti_step *step,
                                  const polytile_domain *threads) {
    pti_boxes_clear(&at->of->needed);
    for (int o = 0; o < step->call.instance->n_operands; o++) {
        if (!pti_piece_has(piece, o))
            continue;
        if (step->call.instance->operand[o].fresh)
            begin_image_reduction(at, image, step->call.instance, o, threads);
        else if (step->call.instance->operand[o].reads)
            read_operand(at, image, step->call.instance, o, threads);
    }
    pti_boxes_subtract_all(&at->of->needed, &image->valid);
}

/** Need what lies in another image inside this one, too: then the other can go. */
static void need_inner_images(pti_resident_window *at, const pti_resident_image *image) {
    const pti_resident_image *other = at->of->state[image->array].images;
    for (; other != NULL; other = other->next)
        if (other != image && pti_image_contains(image, &other->layout.hull))
            pti_boxes_unite(&at->of->needed, &other->valid, pti_boxes_include);
}

/** Moves what `needed` has in common with a set into `shared`. */
static void find_shared(pti_residency *residency, const pti_boxes *set) {
    pti_boxes_intersect(&residency->shared, &residency->needed, set);
    pti_boxes_merge(&residency->shared);
    pti_boxes_subtract_all(&residency->needed, &residency->shared);
}

/** Return whether the host has every element of a box in its newest version, and nobody else may
 * write any of them meanwhile. */
static bool host_has(const pti_resident_state *state, const polytile_domain *box) {
    if (state->exclusive.n_dims > 0 && !pti_box_contains(&state->exclusive, box))
        return false;
    for (const pti_resident_image *image = state->images; image != NULL; image = image->next)
        if (pti_boxes_meet(&image->dirty, box))
            return false;
    return !pti_boxes_meet(&state->unwritten, box);
}

/** Return whether a launch combines into an array from the identity: what the host has of elements
 * that it did not yet combine into must not come. */
static bool begins_anew(const pti_step *step, int array) {
    bool begins = false;
    for (int o = 0; o < step->call.instance->n_operands; o++)
        begins |= step->call.array[o] == array && step->call.instance->operand[o].fresh;
    return begins;
}

/** Upload one box around all that is needed where that is faster and right. Where superblocks are
 * in lanes it is not: others may be using what is between. */
static void join_uploads(pti_resident_window *at, int array) {
    pti_residency *residency = at->of;
    const pti_boxes nothing = {0};
    if (!pti_upload_around_is_faster(at->link, &residency->instance.operand[array],
                                     &residency->needed, &nothing, &residency->rest))
        return;
    polytile_domain around = pti_boxes_hull(&residency->needed);
    if (host_has(&residency->state[array], &around))
        pti_boxes_assign(&residency->needed, &around);
}

void pti_resident_window_bring(pti_resident_window *at, pti_resident_image *image,
                               const pti_piece *piece, const pti_step *step,
                               const polytile_domain *threads) {
    pti_residency *residency = at->of;
    bool is_new = image->valid.n_boxes == 0;
    find_missing_elements(at, image, piece, step, threads);
    if (is_new)
        need_inner_images(at, image);
    pti_boxes_subtract_all(&residency->needed, &image->valid);
    pti_resident_image *other = residency->state[image->array].images;
    for (; other != NULL && residency->needed.n_boxes > 0; other = other->next) {
        if (other == image || !pti_boxes_meet(&residency->needed, &other->layout.hull))
            continue;
        find_shared(residency, &other->valid);
        pti_image_copy(at->emit, image, other, &residency->shared);
    }
    find_shared(residency, &residency->state[image->array].unwritten);
    pti_image_fill(at->emit, image, &residency->shared, true);
    pti_boxes_merge(&residency->needed);
    if (!begins_anew(step, image->array) && step->partition->n_lanes <= 1)
        join_uploads(at, image->array);
    pti_image_upload(at->emit, image, &residency->needed);
    if (is_new)
        pti_image_absorb(residency, image);
}
