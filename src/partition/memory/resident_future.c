#include "partition/memory/resident_future.h"

#include "base/checked.h"
#include "base/list.h"

#include <stdlib.h>

void pti_future_free(pti_future *future) {
    free(future->run);
    free(future->piece);
    free(future->key);
    pti_skip_list_free(&future->skips);
    pti_boxes_free(&future->left);
    *future = (pti_future){0};
}

/** Return whether a piece lies apart from a box, by the ends of both, which is quickest. */
static bool is_piece_apart(const pti_future *future, int64_t p, const polytile_domain *box) {
    const pti_piece_key *key = &future->key[p];
    if (key->lo > box->range[0].hi || key->hi < box->range[0].lo)
        return true;
    return !pti_box_may_meet(&future->piece[p].hull, box);
}

/** Find the first piece, from one on, that does not lie apart from a box; -1: there is none. */
static int64_t first_near(const pti_future *future, int64_t p, const polytile_domain *box) {
    while (p >= 0 && is_piece_apart(future, p, box)) {
        const pti_piece_key *key = &future->key[p];
        p = pti_skip_list_over(&future->skips.skip[key->skip], key->n_skips, box, key->next);
    }
    return p;
}

/** Return the first piece from `now` on that lies near an image. */
static int64_t first_piece(const pti_future *future, pti_resident_image *image, int64_t now) {
    const polytile_domain *hull = &image->layout.hull;
    int64_t p = first_near(future, image->next_piece, hull);
    while (p >= 0 && future->key[p].time < now)
        p = first_near(future, future->key[p].next, hull);
    return image->next_piece = p;
}

/**
 * Looks at pieces that all searches of a window have together, for each of its pieces, and beside
 * those. Stencils, products and sums take 1 to 8 a piece. Where pieces of one array lie between
 * each other, as those of far-apart elements, each look may be in vain, and a search through
 * thousands.
 */
enum { LOOKS_PER_PIECE = 32, LOOKS_BESIDE = 1 << 16 };

/** What is followed into the future: elements that a superblock may use again, or that only the
 * device has. */
typedef enum search_aim { SEARCH_USE, SEARCH_DOWNLOAD } search_aim;

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
static int64_t search_pieces(pti_future *future, const pti_resident_image *image, search_aim aim) {
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
        search_action action = actions_on_next[piece->next][aim];
        if (action == FOUND)
            return p;
        if (action == TAKE_OUT)
            pti_boxes_subtract(left, &piece->hull);
    }
    return -1;
}

static int64_t find_next_use(pti_future *future, pti_resident_image *image, int64_t now) {
    int64_t p = first_piece(future, image, now);
    if (p >= 0 && future->n_looks <= 0 && image->valid.n_boxes > 0)
        return future->piece[p].time;
    pti_boxes_copy(&future->left, &image->valid);
    p = search_pieces(future, image, SEARCH_USE);
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
        if (!is_piece_apart(future, p, &piece->hull) && future->piece[p].bytes > piece->bytes &&
            future->piece[p].bytes <= most_bytes && pti_box_contains(hull, &piece->hull))
            return hull;
        p = future->key[p].next;
    }
    return &piece->hull;
}

bool pti_future_touches_later(const pti_future *future, const pti_piece *piece) {
    const int64_t own = piece - future->piece;
    int64_t p = first_near(future, future->key[own].next, &piece->hull);
    while (p >= 0 && future->piece[p].bytes == 0)
        p = first_near(future, future->key[p].next, &piece->hull);
    return p >= 0;
}

/** Make room for some more pieces. False when memory runs out. */
static bool reserve_pieces(pti_future *future, int64_t n_more) {
    if (future->n_pieces + n_more <= future->capacity)
        return true;
    int64_t capacity = 2 * future->capacity + n_more;
    if (!PTI_RESIZE(future->piece, capacity))
        return false;
    future->capacity = capacity;
    return true;
}

/** Add what a superblock touches. Errors: NO_MEMORY. */
static polytile_status add_pieces(const pti_step *step, const polytile_domain *threads,
                                  pti_future *future) {
    if (!reserve_pieces(future, step->call.instance->n_operands))
        return POLYTILE_NO_MEMORY;
    future->n_pieces += pti_pieces_find(step->call, threads, &future->piece[future->n_pieces]);
    return POLYTILE_OK;
}

static void unite_pieces(const pti_step *step, pti_future *future, int64_t first_piece) {
    future->n_pieces = first_piece + pti_pieces_unite(step->call, &future->piece[first_piece],
                                                      (int)(future->n_pieces - first_piece));
}

static bool pieces_fit(const pti_residency *residency, const pti_future *future,
                       int64_t first_piece) {
    int64_t bytes = 0;
    for (int64_t p = first_piece; p < future->n_pieces; p++)
        if (pti_add_overflows(bytes, future->piece[p].bytes, &bytes))
            return false;
    return bytes <= residency->arena_bytes;
}

static double common_bytes(const pti_piece *piece, int array, const polytile_domain *box) {
    polytile_domain common;
    if (piece->array != array || !pti_box_intersect(&piece->hull, box, &common))
        return 0;
    return (double)piece->bytes * (double)pti_box_count(&common) /
           (double)pti_box_count(&piece->hull);
}

/** Return how much of the pieces from `from` on will be on the device when those before it have
 * run, by age: what they touched last, as much as fits, and before that what lies there now. */
static double found_bytes(const pti_residency *residency, const pti_future *future, int64_t from) {
    double sum = 0;
    int64_t p = from - 1, seen_bytes = 0;
    for (; p >= 0 && seen_bytes < residency->arena_bytes; p--) {
        for (int64_t q = from; q < future->n_pieces && future->piece[p].bytes > 0; q++)
            sum += common_bytes(&future->piece[q], future->piece[p].array, &future->piece[p].hull);
        seen_bytes += future->piece[p].bytes;
    }
    if (seen_bytes >= residency->arena_bytes)
        return sum;
    for (int64_t q = from; q < future->n_pieces; q++) {
        int array = future->piece[q].array;
        for (pti_resident_image *image = residency->state[array].images; image != NULL;
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
static polytile_status find_direction(const pti_residency *residency, const pti_step *step,
                                      pti_future *future, bool *backward) {
    enum { MOST_SAMPLES = 16 };
    polytile_status status = POLYTILE_OK;
    int64_t n = step->partition->n_superblocks, n_samples = pti_min(n, MOST_SAMPLES);
    int64_t first_piece = future->n_pieces;
    double backward_weight = 0;
    for (int64_t s = 0; s < n_samples && n > 1; s++) {
        int64_t k = s * (n - 1) / (n_samples - 1);
        PTI_TRY(add_pieces(step, &step->partition->superblock[k], future));
        backward_weight += (double)(2 * k - (n - 1)) * found_bytes(residency, future, first_piece);
        future->n_pieces = first_piece;
    }
    *backward = backward_weight > 0;
done:
    future->n_pieces = first_piece;
    return status;
}

static polytile_status add_box_piece(const pti_residency *residency, const pti_step *step,
                                     const polytile_domain *box, pti_future *future) {
    static const pti_next_access nexts[] = {[PTI_STEP_FLUSH] = PTI_NEXT_FLUSHED,
                                            [PTI_STEP_DROP] = PTI_NEXT_DROPPED,
                                            [PTI_STEP_FETCH] = PTI_NEXT_FETCHED,
                                            [PTI_STEP_INVALIDATE] = PTI_NEXT_INVALIDATED,
                                            [PTI_STEP_BRING] = PTI_NEXT_READ};
    if (!reserve_pieces(future, 1))
        return POLYTILE_NO_MEMORY;
    future->piece[future->n_pieces++] = (pti_piece){.array = step->position,
                                                    .next = nexts[step->kind],
                                                    .time = residency->time + future->n_runs - 1,
                                                    .hull = *box};
    return POLYTILE_OK;
}

/** Add the pieces of a step that is no launch: of all elements, or some. */
static polytile_status add_step_pieces(const pti_residency *residency, const pti_step *step,
                                       pti_future *future) {
    polytile_status status = POLYTILE_OK;
    if (step->kind == PTI_STEP_FLUSH || step->kind == PTI_STEP_DROP)
        return add_box_piece(residency, step, &residency->instance.operand[step->position].domain,
                             future);
    for (int k = 0; k < step->boxes->n_boxes; k++)
        PTI_TRY(add_box_piece(residency, step, &step->boxes->box[k], future));
done:
    return status;
}

/** Return the k-th piece of a superblock; NULL if it has fewer, or if that is of another array, or
 * one of several of it. */
static pti_piece *kth_piece(const pti_future *future, const pti_superblock_run *run, int k,
                            int array) {
    pti_piece *piece = &future->piece[run->first_piece];
    int n_pieces = 0;
    for (int p = 0; p < run->n_pieces; p++)
        n_pieces += piece[p].array == array;
    return k < run->n_pieces && piece[k].array == array && n_pieces == 1 ? &piece[k] : NULL;
}

/** Return the k-th piece of some superblocks that contains those of the others, none of which is
 * overwritten unread; NULL if none does. */
static const pti_piece *find_widest(const pti_future *future, const pti_superblock_run *run,
                                    int64_t n_runs, int k) {
    int array = future->piece[run->first_piece + k].array;
    const pti_piece *widest = kth_piece(future, run, k, array);
    for (int64_t r = 0; r < n_runs && widest != NULL; r++) {
        const pti_piece *piece = kth_piece(future, &run[r], k, array);
        if (piece == NULL || piece->next != PTI_NEXT_READ)
            widest = NULL;
        else if (!pti_box_contains(&widest->hull, &piece->hull))
            widest = pti_box_contains(&piece->hull, &widest->hull) ? piece : NULL;
    }
    return widest;
}

/** Return whether superblocks still fit when their k-th pieces take more bytes. */
static bool may_widen(const pti_residency *residency, const pti_future *future,
                      const pti_superblock_run *run, int64_t n_runs, int k, int64_t widest_bytes) {
    bool may = true;
    for (int64_t r = 0; r < n_runs && may; r++) {
        int64_t bytes = widest_bytes;
        for (int p = 0; p < run[r].n_pieces; p++)
            bytes += p == k ? 0 : future->piece[run[r].first_piece + p].bytes;
        may = bytes <= residency->arena_bytes;
    }
    return may;
}

/** If one superblock's piece of an array contains those of all others, as x[0:i] does for the last
 * i, give all of them that piece, if it fits: they then share and extend one image. */
static void widen_pieces(const pti_residency *residency, pti_future *future, int64_t first_run) {
    const pti_superblock_run *run = &future->run[first_run];
    int64_t n_runs = future->n_runs - first_run;
    for (int k = 0; n_runs > 1 && k < run->n_pieces; k++) {
        const pti_piece *found = find_widest(future, run, n_runs, k);
        if (found == NULL || !may_widen(residency, future, run, n_runs, k, found->bytes))
            continue;
        const pti_piece widest = *found;
        for (int64_t r = 0; r < n_runs; r++) {
            future->piece[run[r].first_piece + k].hull = widest.hull;
            future->piece[run[r].first_piece + k].bytes = widest.bytes;
        }
    }
}

/** Add a launch's superblocks in the order in which they will run. */
static polytile_status add_launch_runs(const pti_residency *residency, const pti_step *step,
                                       int launch, pti_future *future) {
    polytile_status status;
    bool backward = false;
    PTI_TRY(find_direction(residency, step, future, &backward));
    int64_t n = step->partition->n_superblocks;
    for (int64_t k = 0; k < n; k++) {
        const polytile_domain *threads = &step->partition->superblock[backward ? n - 1 - k : k];
        pti_superblock_run *run = &future->run[future->n_runs];
        *run = (pti_superblock_run){launch, threads, future->n_pieces, 0};
        PTI_TRY(add_pieces(step, threads, future));
        if (!pieces_fit(residency, future, run->first_piece))
            unite_pieces(step, future, run->first_piece);
        if (!pieces_fit(residency, future, run->first_piece))
            return POLYTILE_NO_FIT;
        run->n_pieces = (int)(future->n_pieces - run->first_piece);
        for (int64_t p = run->first_piece; p < future->n_pieces; p++)
            future->piece[p].time = residency->time + future->n_runs;
        future->n_runs++;
    }
    widen_pieces(residency, future, future->n_runs - n);
done:
    return status;
}

/** Build the skip list of each array's pieces. Errors: NO_MEMORY. */
static polytile_status find_skips(const pti_residency *residency, pti_future *future) {
    int n_arrays = residency->instance.n_operands;
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
static void chain_pieces(pti_residency *residency, pti_future *future) {
    for (int a = 0; a < residency->instance.n_operands; a++)
        residency->state[a].first_piece = -1;
    for (int64_t p = future->n_pieces - 1; p >= 0; p--) {
        pti_resident_state *state = &residency->state[future->piece[p].array];
        const pti_piece *piece = &future->piece[p];
        pti_piece_key *key = &future->key[p];
        key->next = state->first_piece;
        key->time = piece->time;
        key->lo = piece->hull.range[0].lo;
        key->hi = piece->hull.range[0].hi;
        state->first_piece = p;
    }
    for (int a = 0; a < residency->instance.n_operands; a++)
        for (pti_resident_image *image = residency->state[a].images; image != NULL;
             image = image->next)
            pti_image_forget_future(residency, image);
}

polytile_status pti_future_create(pti_residency *residency, int n_steps, const pti_step *steps,
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
        PTI_TRY(steps[s].kind == PTI_STEP_LAUNCH
                    ? add_launch_runs(residency, &steps[s], launch++, future)
                    : add_step_pieces(residency, &steps[s], future));
    future->key = malloc((size_t)(future->n_pieces + 1) * sizeof *future->key);
    if (future->key == NULL)
        return POLYTILE_NO_MEMORY;
    future->n_looks = LOOKS_BESIDE + LOOKS_PER_PIECE * future->n_pieces;
    PTI_TRY(find_skips(residency, future));
    chain_pieces(residency, future);
    residency->largest_bytes = 0;
    for (int64_t p = 0; p < future->n_pieces; p++)
        residency->largest_bytes = pti_max(residency->largest_bytes, future->piece[p].bytes);
done:
    return status;
}
