#include "partition/memory/resident_image.h"

static int64_t element_bytes(const pti_residency *residency, int array) {
    return residency->instance.operand[array].element_bytes;
}

static pti_arena_segment *segment_of_image(const pti_residency *residency,
                                           const pti_resident_image *image) {
    return pti_segments_at(&residency->segments, image->offset_bytes);
}

int pti_images_count(const pti_residency *residency) {
    int n = 0;
    for (int a = 0; a < residency->instance.n_operands; a++)
        for (const pti_resident_image *image = residency->state[a].images; image;
             image = image->next)
            n++;
    return n;
}

/** The first dimension is compared first: it rules out most images. */
bool pti_image_contains(const pti_resident_image *image, const polytile_domain *box) {
    const polytile_domain *hull = &image->layout.hull;
    return hull->range[0].lo <= box->range[0].lo && hull->range[0].hi >= box->range[0].hi &&
           pti_box_contains(hull, box);
}

pti_resident_image *pti_image_make(pti_resident_emit *emit, pti_segment_run neighbours,
                                   int64_t bytes, int array, const polytile_domain *hull) {
    pti_residency *residency = emit->of;
    pti_resident_image *image = pti_image_new(residency);
    if (image == NULL)
        return NULL;
    pti_arena_segment *memory = pti_segments_take(&residency->segments, neighbours, bytes, image);
    if (memory == NULL) {
        image->next = residency->spare;
        residency->spare = image;
        return NULL;
    }
    image->array = array;
    image->offset_bytes = memory->offset_bytes;
    image->layout = pti_memory_layout_of(hull, element_bytes(residency, array));
    pti_placement placement = {
        .operand = array, .offset_bytes = image->offset_bytes, .layout = image->layout};
    image->placement = pti_builder_place(&emit->builder, &placement);
    image->writers = pti_last_none();
    image->before = memory->users;
    image->reserved_for = image->last_use = -1;
    image->is_current = false;
    pti_image_forget_future(residency, image);
    image->next = residency->state[array].images;
    residency->state[array].images = image;
    return image;
}

void pti_image_forget_future(const pti_residency *residency, pti_resident_image *image) {
    image->next_piece = residency->state[image->array].first_piece;
    image->next_use = -1;
}

/** Take an image off the device as it is; what only it held is lost. */
static void drop_image(pti_residency *residency, pti_resident_image *image) {
    pti_resident_image **link = &residency->state[image->array].images;
    while (*link != image)
        link = &(*link)->next;
    *link = image->next;
    segment_of_image(residency, image)->image = NULL;
    pti_image_spare(residency, image);
}

static int64_t add_op(pti_resident_emit *emit, pti_op_kind kind, const pti_resident_image *image,
                      const polytile_domain *box, const pti_last *waits) {
    bool is_after = kind == PTI_DOWNLOAD && emit->superblock > 0;
    bool is_over = emit->superblock == emit->n_superblocks;
    bool is_former = is_after || (is_over && emit->superblock > 0);
    pti_op op = {.kind = kind,
                 .launch = is_former ? emit->former_launch : emit->launch,
                 .superblock = emit->superblock - (is_former ? 1 : 0),
                 .placement = image->placement,
                 .source_placement = -1,
                 .bytes = pti_box_count(box) * element_bytes(emit->of, image->array),
                 .box = *box};
    return pti_builder_add(&emit->builder, &op, waits);
}

/** Most images lie apart from a box, which the ends of their hulls show soonest; those of far-apart
 * elements lie between each other's. */
static bool is_image_apart(const pti_resident_image *image, const polytile_domain *box) {
    return !pti_box_meets(&image->layout.hull, box);
}

static void clean_images(pti_resident_state *state, const polytile_domain *box) {
    for (pti_resident_image *image = state->images; image != NULL; image = image->next)
        if (!is_image_apart(image, box))
            pti_boxes_subtract(&image->dirty, box);
}

/** Enclose each two neighbours of a set: half as many boxes, which may meet each other. */
static void halve_boxes(pti_boxes *set) {
    int n_left = 0;
    for (int k = 0; k < set->n_boxes; k += 2) {
        const polytile_domain *one = &set->box[k];
        set->box[n_left++] =
            k + 1 < set->n_boxes ? pti_box_coarse_union(one, &set->box[k + 1]) : *one;
    }
    set->n_boxes = n_left;
}

/** Note what moved. The set only decides which uploads wait for downloads, or the reverse: it may
 * be too large, not too long. */
static void note_moved(pti_boxes *set, const polytile_domain *box) {
    enum { MOST = 256 };
    if (set->n_boxes >= MOST)
        halve_boxes(set);
    pti_boxes_include(set, box);
}

static void download_box(pti_resident_emit *emit, pti_resident_image *image,
                         const polytile_domain *box) {
    pti_resident_state *state = &emit->of->state[image->array];
    pti_last waits = image->writers;
    if (pti_boxes_meet(&state->uploaded, box))
        pti_last_join(&waits, &state->uploads);
    int64_t op = add_op(emit, PTI_DOWNLOAD, image, box, &waits);
    pti_last_note(&segment_of_image(emit->of, image)->users, PTI_DOWNLOAD, op);
    pti_last_note(&state->downloads, PTI_DOWNLOAD, op);
    note_moved(&state->downloaded, box);
    if (state->is_internal)
        pti_boxes_include(&state->on_host, box);
    clean_images(state, box);
}

void pti_image_download(pti_resident_emit *emit, pti_resident_image *image) {
    while (image->dirty.n_boxes > 0 && !emit->builder.failed) {
        polytile_domain box = image->dirty.box[image->dirty.n_boxes - 1];
        download_box(emit, image, &box);
    }
}

void pti_image_fetch(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes) {
    pti_boxes *newer = &emit->of->needed;
    pti_boxes_intersect(newer, &image->dirty, boxes);
    pti_boxes_merge(newer);
    for (int k = 0; k < newer->n_boxes && !emit->builder.failed; k++)
        download_box(emit, image, &newer->box[k]);
}

void pti_image_evict(pti_resident_emit *emit, pti_resident_image *image) {
    const pti_resident_image *other = emit->of->state[image->array].images;
    for (; other != NULL; other = other->next)
        if (other != image && image->dirty.n_boxes > 0 &&
            !is_image_apart(other, &image->layout.hull))
            pti_boxes_subtract_all(&image->dirty, &other->dirty);
    pti_image_download(emit, image);
    drop_image(emit->of, image);
}

static int64_t write_in_image(pti_resident_emit *emit, pti_op_kind kind, pti_resident_image *image,
                              const polytile_domain *box, const pti_last *waits) {
    int64_t op = add_op(emit, kind, image, box, waits);
    pti_last_note(&image->writers, kind, op);
    pti_last_note(&segment_of_image(emit->of, image)->users, kind, op);
    pti_boxes_include(&image->valid, box);
    image->next_use = -1;
    return op;
}

/** Return what used an image's memory, and is to be waited for by what changes elements there that
 * no other superblock of the current launch uses. */
static pti_last users_of_image(pti_resident_emit *emit, const pti_resident_image *image) {
    pti_last users = image->before;
    pti_beside_see(&emit->beside, emit->builder.schedule);
    pti_beside_join(&emit->beside, emit->builder.schedule, &users,
                    &segment_of_image(emit->of, image)->users);
    return users;
}

/** Note an upload, so that launches of other lanes that write its elements wait for it; those of
 * its own lane come after it anyway. */
static void note_uploaded(const pti_resident_emit *emit, pti_resident_state *state,
                          const polytile_domain *box, int64_t op) {
    if (!emit->has_lanes)
        return;
    note_moved(&state->uploaded, box);
    pti_last_note(&state->uploads, PTI_UPLOAD, op);
}

void pti_image_upload(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes) {
    pti_resident_state *state = &emit->of->state[image->array];
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_last waits = users_of_image(emit, image);
        if (pti_boxes_meet(&state->downloaded, &boxes->box[k]))
            pti_last_join(&waits, &state->downloads);
        const int64_t op = write_in_image(emit, PTI_UPLOAD, image, &boxes->box[k], &waits);
        note_uploaded(emit, state, &boxes->box[k], op);
    }
}

void pti_image_fill(pti_resident_emit *emit, pti_resident_image *image, const pti_boxes *boxes,
                    bool are_unwritten) {
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_last waits = segment_of_image(emit->of, image)->users;
        const int64_t op = write_in_image(emit, PTI_FILL, image, &boxes->box[k], &waits);
        if (emit->builder.failed)
            return;
        emit->builder.schedule->op[op].is_unwritten = are_unwritten;
        pti_image_mark_written(emit->of, image, &boxes->box[k]);
    }
}

/** Take what is dirty of a box in one image as dirty in another that got the box from it. */
static void share_dirt(pti_resident_image *image, const pti_resident_image *source,
                       const polytile_domain *box) {
    polytile_domain common;
    for (int k = 0; k < source->dirty.n_boxes; k++)
        if (pti_box_intersect(&source->dirty.box[k], box, &common))
            pti_boxes_include(&image->dirty, &common);
}

void pti_image_copy(pti_resident_emit *emit, pti_resident_image *image, pti_resident_image *source,
                    const pti_boxes *boxes) {
    for (int k = 0; k < boxes->n_boxes; k++) {
        pti_last waits = segment_of_image(emit->of, image)->users;
        pti_last_join(&waits, &source->writers);
        int64_t op = write_in_image(emit, PTI_COPY, image, &boxes->box[k], &waits);
        if (emit->builder.failed)
            return;
        emit->builder.schedule->op[op].source_placement = source->placement;
        pti_last_note(&segment_of_image(emit->of, source)->users, PTI_COPY, op);
        share_dirt(image, source, &boxes->box[k]);
    }
}

void pti_image_mark_written(pti_residency *residency, pti_resident_image *image,
                            const polytile_domain *box) {
    pti_resident_state *state = &residency->state[image->array];
    for (pti_resident_image *other = state->images; other != NULL; other = other->next) {
        if (other == image || is_image_apart(other, box))
            continue;
        pti_boxes_subtract(&other->valid, box);
        pti_boxes_subtract(&other->dirty, box);
    }
    pti_boxes_subtract(&state->unwritten, box);
    pti_boxes_include(&image->valid, box);
    pti_boxes_include(&image->dirty, box);
    image->next_use = -1;
}

void pti_resident_invalidate(pti_residency *residency, int array, const pti_boxes *boxes) {
    pti_resident_state *state = &residency->state[array];
    for (pti_resident_image *image = state->images; image != NULL; image = image->next) {
        pti_boxes_subtract_all(&image->valid, boxes);
        pti_boxes_subtract_all(&image->dirty, boxes);
        image->next_use = -1;
    }
    pti_boxes_subtract_all(&state->unwritten, boxes);
    pti_residency_keep(residency, array, boxes);
}

void pti_image_absorb(pti_residency *residency, pti_resident_image *image) {
    pti_resident_image *next;
    for (pti_resident_image *other = residency->state[image->array].images; other != NULL;
         other = next) {
        next = other->next;
        if (other != image && !other->is_current &&
            pti_box_contains(&image->layout.hull, &other->layout.hull) &&
            pti_boxes_find_uncovered(&image->valid, &other->valid) == NULL)
            drop_image(residency, other);
    }
}

void pti_resident_forget(pti_residency *residency, int array) {
    pti_resident_state *state = &residency->state[array];
    while (state->images != NULL)
        drop_image(residency, state->images);
    if (!state->is_internal)
        return;
    pti_boxes_assign(&state->unwritten, &residency->instance.operand[array].domain);
    pti_boxes_subtract_all(&state->unwritten, &state->on_host);
}
