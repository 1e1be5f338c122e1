#include "partition/memory/resident_window.h"

#include "base/checked.h"

/** What a superblock may have to give up its place for others. */
typedef enum reluctance {
    NOT_BUSY,     /* only what neither the next superblocks nor the last ones use */
    NOT_RESERVED, /* what the next superblocks do not use */
    NOT_CURRENT,  /* what this one does not use */
    N_RELUCTANCES
} reluctance;

/** Who looks for memory. */
typedef struct seeker {
    pti_resident_window *at;
    reluctance reluctance;
} seeker;

static pti_loss loss_of(const void *of, pti_resident_image *image) {
    const seeker *seeks = of;
    const pti_resident_window *at = seeks->at;
    bool is_current = image->is_current;
    bool is_reserved = is_current || image->reserved_for >= at->now;
    bool is_busy = is_reserved || image->last_use >= at->now - PTI_RESIDENT_AHEAD;
    const bool never[N_RELUCTANCES] = {is_busy, is_reserved, is_current};
    if (never[seeks->reluctance])
        return (pti_loss){.never = true};
    int64_t next_use = pti_future_next_use(at->future, image, at->now);
    return (pti_loss){.next_use = next_use,
                      .last_use = image->last_use,
                      .is_dirty = image->dirty.n_boxes > 0 && next_use < PTI_USE_NEVER};
}

/** Bring what is newest in a stretch of the arena back to the host, if it is needed, and take it
 * off the device. */
static void clear_stretch(pti_resident_window *at, pti_segment_run stretch) {
    for (int k = 0; k < stretch.n_segments; k++) {
        pti_resident_image *image = at->of->segments.memory[stretch.first + k].image;
        if (image == NULL)
            continue;
        pti_future_discard(at->future, image, at->now);
        pti_image_evict(at->emit, image);
    }
}

/** A new image of a box, of at most some reluctance to take memory; NULL if there is no room or
 * memory runs out. */
static pti_resident_image *make_image(pti_resident_window *at, int array,
                                      const polytile_domain *hull, int64_t bytes, reluctance most) {
    for (int r = 0; r <= (int)most; r++) {
        seeker seeks = {at, (reluctance)r};
        pti_segment_run stretch = pti_segments_find(&at->of->segments, bytes, loss_of, &seeks);
        if (stretch.n_segments == 0)
            continue;
        clear_stretch(at, stretch);
        return pti_image_make(at->emit, stretch, bytes, array, hull);
    }
    return NULL;
}

static bool holds_whole_arrays(const pti_residency *of, int array) {
    enum { SMALL_PART = 64 };
    return pti_residency_all_fit(of) ||
           of->state[array].whole_bytes <= of->arena_bytes / SMALL_PART;
}

/** The image that contains a box and holds most of it; NULL: there is none. */
static pti_resident_image *find_image(const pti_residency *of, int array,
                                      const polytile_domain *hull) {
    pti_resident_image *best = NULL;
    for (pti_resident_image *image = of->state[array].images; image != NULL; image = image->next)
        if (pti_image_contains(image, hull) &&
            (best == NULL ||
             pti_boxes_count_in(&image->valid, hull) > pti_boxes_count_in(&best->valid, hull)))
            best = image;
    return best;
}

/** Pieces with and without a stencil's rim differ little: all take as much, so that each fits where
 * another was. */
static int64_t even_bytes(const pti_residency *of, int64_t bytes) {
    bool is_near = bytes >= of->largest_bytes - of->largest_bytes / 8;
    return is_near ? of->largest_bytes : bytes;
}

/** Find or make an image for a piece, and keep it until the piece's superblock has run; NULL if
 * there is no room. */
static pti_resident_image *find_or_make_image(pti_resident_window *at, const pti_piece *piece,
                                              reluctance most) {
    pti_residency *of = at->of;
    pti_resident_image *image = find_image(of, piece->array, &piece->hull);
    if (image == NULL && holds_whole_arrays(of, piece->array))
        image = make_image(at, piece->array, &of->instance.operand[piece->array].domain,
                           of->state[piece->array].whole_bytes, most);
    if (image == NULL) {
        int64_t bytes = even_bytes(of, piece->bytes);
        image =
            make_image(at, piece->array, pti_future_widest(at->future, piece, bytes), bytes, most);
    }
    if (image != NULL)
        image->reserved_for = pti_max(image->reserved_for, piece->time);
    return image;
}

void pti_resident_window_look_ahead(pti_resident_window *at) {
    int64_t next = at->emit->superblock + 1;
    int64_t end = pti_min(next + PTI_RESIDENT_AHEAD, at->future->n_turns);
    for (int64_t k = next; k < end; k++) {
        const pti_turn *turn = &at->future->turn[k];
        for (int p = 0; p < turn->n_pieces; p++)
            if (find_or_make_image(at, &at->future->piece[turn->first_piece + p], NOT_RESERVED) ==
                NULL)
                return;
    }
}

static void evict_everything(pti_resident_window *at) {
    clear_stretch(at, (pti_segment_run){0, at->of->segments.n_segments});
    pti_segments_join(&at->of->segments);
}

static bool reserve_current(pti_resident_window *at, const pti_turn *turn) {
    for (int p = 0; p < turn->n_pieces; p++) {
        at->image[p] =
            find_or_make_image(at, &at->future->piece[turn->first_piece + p], NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

/** Images for one superblock alone, one behind the other from the arena's beginning. */
static bool reserve_alone(pti_resident_window *at, const pti_turn *turn) {
    evict_everything(at);
    for (int p = 0; p < turn->n_pieces; p++) {
        const pti_piece *piece = &at->future->piece[turn->first_piece + p];
        at->image[p] = make_image(at, piece->array, &piece->hull, piece->bytes, NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

bool pti_resident_window_place(pti_resident_window *at, const pti_turn *turn) {
    return reserve_current(at, turn) || reserve_alone(at, turn);
}
