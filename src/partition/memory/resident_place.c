#include "partition/memory/resident_window.h"

#include "base/checked.h"

/**
 * Which images may give up their places; a later level is tried where an earlier one leaves no
 * room.
 */
typedef enum eviction_level {
    NOT_BUSY,     /* those that neither the next superblocks nor the last ones use */
    NOT_RESERVED, /* those that the next superblocks do not use */
    NOT_CURRENT,  /* those that the current superblock does not use */
    N_EVICTION_LEVELS
} eviction_level;

/** A search for memory. */
typedef struct eviction_request {
    pti_resident_window *at;
    eviction_level eviction_level;
} eviction_request;

static pti_eviction_cost loss_of(const void *of, pti_resident_image *image) {
    const eviction_request *request = of;
    const pti_resident_window *at = request->at;
    bool is_current = image->is_current;
    bool is_reserved = is_current || image->reserved_for >= at->now;
    bool is_busy = is_reserved || image->last_use >= at->now - PTI_RESIDENT_AHEAD;
    const bool never[N_EVICTION_LEVELS] = {is_busy, is_reserved, is_current};
    if (never[request->eviction_level])
        return (pti_eviction_cost){.never = true};
    int64_t next_use = pti_future_next_use(at->future, image, at->now);
    return (pti_eviction_cost){.next_use = next_use,
                               .last_use = image->last_use,
                               .is_dirty = image->dirty.n_boxes > 0 && next_use < PTI_USE_NEVER};
}

static int64_t last_use_of(const pti_resident_image *image) {
    return image->last_use;
}

/** Evict the images of some segments; what the host needs of them is downloaded first. */
static void evict_segments(pti_resident_window *at, pti_segment_run neighbours) {
    for (int k = 0; k < neighbours.n_segments; k++) {
        pti_resident_image *image = at->of->segments.memory[neighbours.first + k].image;
        if (image == NULL)
            continue;
        pti_future_discard(at->future, image, at->now);
        pti_image_evict(at->emit, image);
    }
}

/** What is not touched again goes to the end of free memory: beside each other, such images make
 * room for large ones later, and leave no holes between those that stay. Where all arrays fit,
 * nothing has to make room. */
static pti_segment_run find_back_of_free(pti_segments *segments, pti_segment_run neighbours,
                                         int64_t bytes) {
    const int64_t left_bytes = segments->memory[neighbours.first].size_bytes - bytes;
    const int64_t front_bytes = left_bytes / PTI_RESIDENT_ALIGNMENT * PTI_RESIDENT_ALIGNMENT;
    return neighbours.n_segments == 1 && front_bytes > 0
               ? pti_segments_leave_front(segments, neighbours, front_bytes)
               : neighbours;
}

/** An image that is to be made. */
typedef struct image_request {
    int array;
    const polytile_domain *hull;
    int64_t bytes;
    bool stays; /* what it holds is touched again */
} image_request;

/** Make an image of a box, evicting others up to a level; NULL if there is no room or memory runs
 * out. */
static pti_resident_image *make_image(pti_resident_window *at, const image_request *of,
                                      eviction_level most) {
    for (int level = 0; level <= (int)most; level++) {
        eviction_request request = {at, (eviction_level)level};
        const pti_eviction_costs costs = {&request, loss_of, last_use_of};
        pti_segment_run neighbours = pti_segments_find(&at->of->segments, of->bytes, &costs);
        if (neighbours.n_segments == 0)
            continue;
        evict_segments(at, neighbours);
        if (!of->stays)
            neighbours = find_back_of_free(&at->of->segments, neighbours, of->bytes);
        return pti_image_make(at->emit, neighbours, of->bytes, of->array, of->hull);
    }
    return NULL;
}

static bool holds_whole_arrays(const pti_residency *residency, int array) {
    enum { SMALL_PART = 64 };
    return pti_residency_all_fit(residency) ||
           residency->state[array].whole_bytes <= residency->arena_bytes / SMALL_PART;
}

/** Return the image that contains a box and holds most of it; NULL: there is none. */
static pti_resident_image *find_image(const pti_residency *residency, int array,
                                      const polytile_domain *hull) {
    pti_resident_image *best = NULL;
    for (pti_resident_image *image = residency->state[array].images; image != NULL;
         image = image->next)
        if (pti_image_contains(image, hull) &&
            (best == NULL ||
             pti_boxes_count_in(&image->valid, hull) > pti_boxes_count_in(&best->valid, hull)))
            best = image;
    return best;
}

/** Pieces with and without a stencil's rim differ little: all take as much, so that each fits where
 * another was. */
static int64_t even_bytes(const pti_residency *residency, int64_t bytes) {
    bool is_near = bytes >= residency->largest_bytes - residency->largest_bytes / 8;
    return is_near ? residency->largest_bytes : bytes;
}

/** Find or make an image for a piece, and keep it until the piece's superblock has run; NULL if
 * there is no room. */
static pti_resident_image *find_or_make_image(pti_resident_window *at, const pti_piece *piece,
                                              eviction_level most) {
    pti_residency *residency = at->of;
    pti_resident_image *image = find_image(residency, piece->array, &piece->hull);
    image_request of = {.array = piece->array};
    if (image == NULL)
        of.stays = pti_residency_all_fit(residency) || pti_future_touches_later(at->future, piece);
    if (image == NULL && holds_whole_arrays(residency, piece->array)) {
        of.hull = &residency->instance.operand[piece->array].domain;
        of.bytes = residency->state[piece->array].whole_bytes;
        image = make_image(at, &of, most);
    }
    if (image == NULL) {
        of.bytes = even_bytes(residency, piece->bytes);
        of.hull = pti_future_widest(at->future, piece, of.bytes);
        image = make_image(at, &of, most);
    }
    if (image != NULL)
        image->reserved_for = pti_max(image->reserved_for, piece->time);
    return image;
}

pti_resident_image *pti_resident_window_place_box(pti_resident_window *at, int array,
                                                  const polytile_domain *box) {
    const pti_residency *residency = at->of;
    const pti_piece piece = {
        .array = array,
        .time = at->now,
        .bytes = pti_resident_bytes(box, residency->instance.operand[array].element_bytes),
        .hull = *box};
    return find_or_make_image(at, &piece, NOT_CURRENT);
}

/** Scratch needs no memory before its superblock runs: nothing is brought into it. */
static bool place_ahead(pti_resident_window *at, const pti_piece *piece) {
    return piece->is_scratch || find_or_make_image(at, piece, NOT_RESERVED) != NULL;
}

void pti_resident_window_look_ahead(pti_resident_window *at) {
    int64_t next = at->emit->superblock + 1;
    int64_t end = pti_min(next + PTI_RESIDENT_AHEAD, at->future->n_runs);
    for (int64_t k = next; k < end; k++) {
        const pti_superblock_run *run = &at->future->run[k];
        for (int p = 0; p < run->n_pieces; p++)
            if (!place_ahead(at, &at->future->piece[run->first_piece + p]))
                return;
    }
}

static void evict_everything(pti_resident_window *at) {
    evict_segments(at, (pti_segment_run){0, at->of->segments.n_segments});
    pti_segments_join(&at->of->segments);
}

static bool reserve_current(pti_resident_window *at, const pti_superblock_run *run) {
    for (int p = 0; p < run->n_pieces; p++) {
        at->image[p] =
            find_or_make_image(at, &at->future->piece[run->first_piece + p], NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

/** Images for one superblock alone, one after the other from the arena's beginning. */
static bool reserve_alone(pti_resident_window *at, const pti_superblock_run *run) {
    evict_everything(at);
    for (int p = 0; p < run->n_pieces; p++) {
        const pti_piece *piece = &at->future->piece[run->first_piece + p];
        const image_request of = {piece->array, &piece->hull, piece->bytes, true};
        at->image[p] = make_image(at, &of, NOT_CURRENT);
        if (at->image[p] == NULL)
            return false;
        at->image[p]->is_current = true;
    }
    return true;
}

bool pti_resident_window_place(pti_resident_window *at, const pti_superblock_run *run) {
    return reserve_current(at, run) || reserve_alone(at, run);
}
