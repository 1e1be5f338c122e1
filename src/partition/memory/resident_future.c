#include "partition/memory/resident_future.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"

#include <stdlib.h>

void pti_future_free(pti_future *future) {
    free(future->run);
    free(future->piece);
    free(future->key);
    pti_skip_list_free(&future->skips);
    pti_boxes_free(&future->left);
    *future = (pti_future){0};
}

/** Whether a piece lies apart from a box, by the ends of both, which is quickest. */
static bool is_apart(const pti_future *future, int64_t p, const polytile_domain *box) {
    const pti_piece_key *key = &future->key[p];
    if (key->lo > box->range[0].hi || key->hi < box->range[0].lo)
        return true;
    return !pti_box_may_meet(&future->piece[p].hull, box);
}

/** From a piece on, the first one that does not lie apart from a box; -1: there is none. */
static int64_t first_near(const pti_future *future, int64_t p, const polytile_domain *box) {
    while (p >= 0 && is_apart(future, p, box)) {
        const pti_piece_key *key = &future->key[p];
        p = pti_skip_list_over(&future->skips.skip[key->skip], key->n_skips, box, key->next);
    }
    return p;
}

/** The first piece from `now` on that lies near an image. */
static int64_t first_piece(const pti_future *future, pti_resident_image *image, int64_t now) {
    const polytile_domain *hull = &image->layout.hull;
    int64_t p = first_near(future, image->next_piece, hull);
    while (p >= 0 && future->key[p].time < now)
        p = first_near(future, future->key[p].next, hull);
    return image->next_piece = p;
}

/**
 * Looks at pieces that all searches of a window have together, for each of its pieces, and beside
 * those. Stencils, products and sums take 1 to 8 a piece. Where pieces of one array lie between each
 * other, as those of far-apart elements, each look may be in vain, and a search through thousands.
 */
enum { LOOKS_PER_PIECE = 32, LOOKS_BESIDE = 1 << 16 };

/** What is followed into the future: elements that a superblock may use again, or that only the
 * device has. */
typedef enum search { SEARCH_USE, SEARCH_DOWNLOAD } search;

/** What a search does where a piece meets the elements that it follows. */
typedef enum search_action { GO_ON, TAKE_OUT, FOUND } search_action;

static const search_action actions_on_next[][2] = {
    [PTI_NEXT_READ] = {[SEARCH_USE] = FOUND, [SEARCH_DOWNLOAD] = FOUND},
    [PTI_NEXT_OVERWRITTEN] = {[SEARCH_USE] = TAKE_OUT, [SEARCH_DOWNLOAD] = TAKE_OUT},
    [PTI_NEXT_FLUSHED] = {[SEARCH_USE] = TAKE_OUT, [SEARCH_DOWNLOAD] = FOUND},
    [PTI_NEXT_DROPPED] = {[SEARCH_USE] = TAKE_OUT, [SEARCH_DOWNLOAD] = TAKE_OUT},
    [PTI_NEXT_FETCHED] = {[SEARCH_USE] = GO_ON, [SEARCH_DOWNLOAD] = FOUND},
    [PTI_NEXT_INVALIDATED] = {[SEARCH_USE] = TAKE_OUT, [SEARCH_DOWNLOAD] = TAKE_OUT},
};

/**
 * Removes elements of an image from `left` until a piece is found; returns its position, -1 if
 * nothing is left before.
 *
 * It also ends where boxes become many, or pieces, or no looks are left.
 */
static int64_t search_pieces(pti_future *future, const pti_resident_image *image, search of) {
    enum { MOST_BOXES = 16, MOST_PIECES = 4096 };
    const polytile_domain *hull = &image->layout.hull;
    pti_boxes *left = &future->left;
    int64_t p = first_near(future, image->next_piece, hull);
    for (int n = 0; p >= 0 && left->n_boxes > 0;
         p = first_near(future, future->key[p].next, hull), n++) {
        if (n == MOST_PIECES || left->n_boxes > MOST_BOXES || left->failed || future->n_looks <= 0)
            return p;
        future->n_looks--;
        const pti_piece *piece = &future->piece[p];
        if (!pti_boxes_meet(left, &piece->hull))
            continue;
        search_action action = actions_on_next[piece->next][of];
        if (action == FOUND)
            return p;
        if (action == TAKE_OUT)
            pti_boxes_subtract(left, &piece->hull);
    }
    return -1;
}

static int64_t find_next_use(pti_future *future, pti_resident_image *image, int64_t now) {
    first_piece(future, image, now);
    pti_boxes_copy(&future->left, &image->valid);
    int64_t p = search_pieces(future, image, SEARCH_USE);
    if (p >= 0)
        return future->piece[p].time;
    return future->left.n_boxes > 0 ? PTI_USE_NOT_KNOWN : PTI_USE_NEVER;
}

int64_t pti_future_next_use(pti_future *future, pti_resident_image *image, int64_t now) {
    if (image->next_use < now)
        image->next_use = find_next_use(future, image, now);
    return image->next_use;
}

void pti_future_discard(pti_future *future, pti_resident_image *image, int64_t now) {
    if (image->dirty.n_boxes == 0 || first_piece(future, image, now) < 0)
        return;
    pti_boxes_copy(&future->left, &image->dirty);
    search_pieces(future, image, SEARCH_DOWNLOAD);
    if (!future->left.failed)
        pti_boxes_copy(&image->dirty, &future->left);
}

const polytile_domain *pti_future_widest(const pti_future *future, const pti_piece *piece,
                                         int64_t most_bytes) {
    enum { MOST_PIECES = 512 };
    int64_t p = piece - future->piece;
    for (int n = 0; n < MOST_PIECES && p >= 0 && piece->bytes < most_bytes; n++) {
        const polytile_domain *hull = &future->piece[p].hull;
        if (!is_apart(future, p, &piece->hull) && future->piece[p].bytes > piece->bytes &&
            future->piece[p].bytes <= most_bytes && pti_box_contains(hull, &piece->hull))
            return hull;
        p = future->key[p].next;
    }
    return &piece->hull;
}

static pti_piece *add_piece(pti_future *future) {
    if (future->n_pieces == future->capacity) {
        int64_t capacity = 2 * future->capacity + 16;
        pti_piece *grown = realloc(future->piece, (size_t)capacity * sizeof *grown);
        if (grown == NULL)
            return NULL;
        future->piece = grown;
        future->capacity = capacity;
    }
    return &future->piece[future->n_pieces++];
}

/** The piece of an array among those of a superblock; NULL: none yet. */
static pti_piece *piece_of(const pti_future *future, int64_t first_piece, int array) {
    for (int64_t p = first_piece; p < future->n_pieces; p++)
        if (future->piece[p].array == array)
            return &future->piece[p];
    return NULL;
}

/** Add what a superblock touches, one piece an array. Errors: NO_MEMORY. */
static polytile_status add_pieces(const pti_residency *of, const pti_step *step,
                                  const polytile_domain *threads, pti_future *future) {
    int64_t first_piece = future->n_pieces;
    polytile_domain hull;
    for (int o = 0; o < step->call.instance->n_operands; o++) {
        if (!pti_footprint_find_hull(step->call.instance, o, PTI_TOUCHES, threads, &hull))
            continue;
        pti_piece *piece = piece_of(future, first_piece, step->call.array[o]);
        bool is_second = piece != NULL;
        if (!is_second && (piece = add_piece(future)) == NULL)
            return POLYTILE_NO_MEMORY;
        piece->array = step->call.array[o];
        piece->next = is_second || !pti_operand_overwrites_hull(step->call.instance, o)
                          ? PTI_NEXT_READ
                          : PTI_NEXT_OVERWRITTEN;
        piece->hull = is_second ? pti_box_coarse_union(&piece->hull, &hull) : hull;
    }
    for (int64_t p = first_piece; p < future->n_pieces; p++) {
        pti_piece *piece = &future->piece[p];
        piece->bytes =
            pti_resident_bytes(&piece->hull, of->instance.operand[piece->array].element_bytes);
    }
    return POLYTILE_OK;
}

static bool pieces_fit(const pti_residency *of, const pti_future *future, int64_t first_piece) {
    int64_t bytes = 0;
    for (int64_t p = first_piece; p < future->n_pieces; p++)
        if (pti_add_overflows(bytes, future->piece[p].bytes, &bytes))
            return false;
    return bytes <= of->arena_bytes;
}

static double common_bytes(const pti_piece *piece, int array, const polytile_domain *box) {
    polytile_domain common;
    if (piece->array != array || !pti_box_intersect(&piece->hull, box, &common))
        return 0;
    return (double)piece->bytes * (double)pti_box_count(&common) /
           (double)pti_box_count(&piece->hull);
}

/** How much of the pieces from `from` on will be on the device when those before it have run, by
 * age: what they touched last, as much as fits, and before that what lies there now. */
static double found_bytes(const pti_residency *of, const pti_future *future, int64_t from) {
    double sum = 0;
    int64_t p = from - 1, seen_bytes = 0;
    for (; p >= 0 && seen_bytes < of->arena_bytes; p--) {
        for (int64_t q = from; q < future->n_pieces && future->piece[p].bytes > 0; q++)
            sum += common_bytes(&future->piece[q], future->piece[p].array, &future->piece[p].hull);
        seen_bytes += future->piece[p].bytes;
    }
    if (seen_bytes >= of->arena_bytes)
        return sum;
    for (int64_t q = from; q < future->n_pieces; q++) {
        int array = future->piece[q].array;
        for (pti_resident_image *image = of->state[array].images; image != NULL;
             image = image->next)
            for (int v = 0; v < image->valid.n_boxes; v++)
                sum += common_bytes(&future->piece[q], array, &image->valid.box[v]);
    }
    return sum;
}

/**
 * Whether a launch finds more at its beginning when its superblocks run backward. A few of them are
 * looked at, spread evenly; each counts by its distance from the middle.
 *
 * Errors: NO_MEMORY.
 */
static polytile_status find_direction(const pti_residency *of, const pti_step *step,
                                      pti_future *future, bool *backward) {
    enum { MOST_SAMPLES = 16 };
    polytile_status status = POLYTILE_OK;
    int64_t n = step->partition->n_superblocks, n_samples = pti_min(n, MOST_SAMPLES);
    int64_t first_piece = future->n_pieces;
    double snapshot = 0;
    for (int64_t s = 0; s < n_samples && n > 1; s++) {
        int64_t k = s * (n - 1) / (n_samples - 1);
        PTI_TRY(add_pieces(of, step, &step->partition->superblock[k], future));
        snapshot += (double)(2 * k - (n - 1)) * found_bytes(of, future, first_piece);
        future->n_pieces = first_piece;
    }
    *backward = snapshot > 0;
done:
    future->n_pieces = first_piece;
    return status;
}

static polytile_status add_box_piece(const pti_residency *of, const pti_step *step,
                                     const polytile_domain *box, pti_future *future) {
    static const pti_next_access nexts[] = {[PTI_STEP_FLUSH] = PTI_NEXT_FLUSHED,
                                            [PTI_STEP_DROP] = PTI_NEXT_DROPPED,
                                            [PTI_STEP_FETCH] = PTI_NEXT_FETCHED,
                                            [PTI_STEP_INVALIDATE] = PTI_NEXT_INVALIDATED};
    pti_piece *piece = add_piece(future);
    if (piece == NULL)
        return POLYTILE_NO_MEMORY;
    *piece = (pti_piece){.array = step->position,
                         .next = nexts[step->kind],
                         .time = of->time + future->n_runs - 1,
                         .hull = *box};
    return POLYTILE_OK;
}

/** Adds the pieces of a step that is no launch: of all elements, or some. */
static polytile_status add_step_pieces(const pti_residency *of, const pti_step *step,
                                       pti_future *future) {
    polytile_status status = POLYTILE_OK;
    if (step->kind == PTI_STEP_FLUSH || step->kind == PTI_STEP_DROP)
        return add_box_piece(of, step, &of->instance.operand[step->position].domain, future);
    for (int k = 0; k < step->boxes->n_boxes; k++)
        PTI_TRY(add_box_piece(of, step, &step->boxes->box[k], future));
done:
    return status;
}

static polytile_status add_launch_runs(const pti_residency *of, const pti_step *step, int launch,
                                       pti_future *future) {
    polytile_status status;
    bool backward = false;
    PTI_TRY(find_direction(of, step, future, &backward));
    int64_t n = step->partition->n_superblocks;
    for (int64_t k = 0; k < n; k++) {
        const polytile_domain *threads = &step->partition->superblock[backward ? n - 1 - k : k];
        pti_superblock_run *run = &future->run[future->n_runs];
        *run = (pti_superblock_run){launch, threads, future->n_pieces, 0};
        PTI_TRY(add_pieces(of, step, threads, future));
        run->n_pieces = (int)(future->n_pieces - run->first_piece);
        if (!pieces_fit(of, future, run->first_piece))
            return POLYTILE_NO_FIT;
        for (int64_t p = run->first_piece; p < future->n_pieces; p++)
            future->piece[p].time = of->time + future->n_runs;
        future->n_runs++;
    }
done:
    return status;
}

/** Builds the skip list of each array's pieces. Errors: NO_MEMORY. */
static polytile_status find_skips(const pti_residency *of, pti_future *future) {
    int n_arrays = of->instance.n_operands;
    pti_skip_builder *list = calloc((size_t)n_arrays + 1, sizeof *list);
    bool has_room =
        list != NULL && pti_skip_list_reserve(&future->skips, future->n_pieces, n_arrays);
    for (int64_t p = 0; p < future->n_pieces && has_room; p++) {
        const pti_piece *piece = &future->piece[p];
        pti_piece_key *key = &future->key[p];
        key->skip = future->skips.n_skips;
        key->n_skips = pti_skip_list_add(&future->skips, &list[piece->array], p, &piece->hull);
    }
    free(list);
    return has_room ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

/** Chain the pieces of each array, and set images to their beginnings. */
static void chain_pieces(pti_residency *of, pti_future *future) {
    for (int a = 0; a < of->instance.n_operands; a++)
        of->state[a].first_piece = -1;
    for (int64_t p = future->n_pieces - 1; p >= 0; p--) {
        pti_resident_state *state = &of->state[future->piece[p].array];
        const pti_piece *piece = &future->piece[p];
        pti_piece_key *key = &future->key[p];
        key->next = state->first_piece;
        key->time = piece->time;
        key->lo = piece->hull.range[0].lo;
        key->hi = piece->hull.range[0].hi;
        state->first_piece = p;
    }
    for (int a = 0; a < of->instance.n_operands; a++)
        for (pti_resident_image *image = of->state[a].images; image != NULL; image = image->next)
            pti_image_look_ahead(of, image);
}

polytile_status pti_future_create(pti_residency *of, int n_steps, const pti_step *steps,
                                  pti_future *future) {
    polytile_status status = POLYTILE_OK;
    int64_t n_runs = 0;
    int launch = 0;
    *future = (pti_future){0};
    for (int s = 0; s < n_steps; s++)
        n_runs += steps[s].kind == PTI_STEP_LAUNCH ? steps[s].partition->n_superblocks : 0;
    future->run = malloc((size_t)(n_runs + 1) * sizeof *future->run);
    if (future->run == NULL)
        return POLYTILE_NO_MEMORY;
    for (int s = 0; s < n_steps; s++)
        PTI_TRY(steps[s].kind == PTI_STEP_LAUNCH ? add_launch_runs(of, &steps[s], launch++, future)
                                                 : add_step_pieces(of, &steps[s], future));
    future->key = malloc((size_t)(future->n_pieces + 1) * sizeof *future->key);
    if (future->key == NULL)
        return POLYTILE_NO_MEMORY;
    future->n_looks = LOOKS_BESIDE + LOOKS_PER_PIECE * future->n_pieces;
    PTI_TRY(find_skips(of, future));
    chain_pieces(of, future);
    of->largest_bytes = 0;
    for (int64_t p = 0; p < future->n_pieces; p++)
        of->largest_bytes = pti_max(of->largest_bytes, future->piece[p].bytes);
done:
    return status;
}
