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

/** Put what a superblock needs of a piece and is not valid in its image into `needed`. */
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

/** Move what `needed` has in common with a set into `shared`. */
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

/** Copy and fill what is needed and in another image, or zero; the rest is needed still. */
static void bring_from_device(pti_resident_window *at, pti_resident_image *image) {
    pti_residency *residency = at->of;
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
    bring_from_device(at, image);
    if (!begins_anew(step, image->array) && step->partition->n_lanes <= 1)
        join_uploads(at, image->array);
    pti_image_upload(at->emit, image, &residency->needed);
    if (is_new)
        pti_image_absorb(residency, image);
}

/* Ahead of a launch. */

/** Elements that the current launch is about to write come from nowhere else. */
static void subtract_writes(pti_resident_window *at, int array, const pti_step *step,
                            const polytile_domain *threads) {
    const pti_instance *instance = step->call.instance;
    for (int o = 0; o < instance->n_operands; o++) {
        if (step->call.array[o] != array || !instance->operand[o].writes)
            continue;
        pti_footprint_boxes(instance, o, PTI_WRITES, threads, PTI_MAX_WRITE_BOXES, &at->of->rest);
        pti_boxes_subtract_all(&at->of->needed, &at->of->rest);
    }
}

/** Return whether elements are few beside a piece, so that the current launch waits no longer for
 * them than it runs. */
static bool are_few(const pti_boxes *elements, const polytile_domain *piece) {
    enum { SMALL_PART = 64 };
    return pti_boxes_count(elements) <= pti_box_count(piece) / SMALL_PART;
}

/** Return whether the host alone has the newest version of all that is needed. */
static bool only_host_has_needed(const pti_residency *residency, int array) {
    const pti_resident_state *state = &residency->state[array];
    bool has = true;
    for (int b = 0; b < residency->needed.n_boxes && has; b++) {
        has = !pti_boxes_meet(&state->unwritten, &residency->needed.box[b]);
        for (const pti_resident_image *other = state->images; other != NULL && has;
             other = other->next)
            has = !pti_boxes_meet(&other->valid, &residency->needed.box[b]);
    }
    return has;
}

void pti_resident_window_bring_ahead(pti_resident_window *at, pti_resident_image *image,
                                     const pti_superblock_run *run, const pti_step *step) {
    pti_residency *residency = at->of;
    const pti_step *next = step + 1;
    for (int p = 0; p < run[1].n_pieces; p++) {
        const pti_piece *piece = &at->future->piece[run[1].first_piece + p];
        if (piece->array != image->array || !pti_image_contains(image, &piece->hull) ||
            begins_anew(next, piece->array))
            continue;
        find_missing_elements(at, image, piece, next, run[1].threads);
        subtract_writes(at, image->array, step, run->threads);
        pti_boxes_merge(&residency->needed);
        if (are_few(&residency->needed, &piece->hull) &&
            only_host_has_needed(residency, image->array))
            pti_image_upload(at->emit, image, &residency->needed);
    }
}

/* Without a launch. */

void pti_resident_window_bring_box(pti_resident_window *at, int array, const polytile_domain *box) {
    pti_resident_image *image = pti_resident_window_place_box(at, array, box);
    at->emit->builder.failed |= image == NULL;
    if (image == NULL)
        return;
    pti_boxes_assign(&at->of->needed, box);
    pti_boxes_subtract_all(&at->of->needed, &image->valid);
    bring_from_device(at, image);
    pti_image_upload(at->emit, image, &at->of->needed);
}
