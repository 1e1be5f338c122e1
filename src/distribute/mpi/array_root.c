#include "distribute/mpi/spread.h"

#include "base/checked.h"

#include <stdlib.h>

/* Scattering and gathering: one owner after the other. For each owner, it and the root walk
 * over the same elements, so messages need no description. */

/** What the calling rank does for one owner. */
typedef struct rank_move {
    const pti_spread *spread;
    bool to_root; /* else from it */
    int root;
    int owner;
    int64_t left_bytes;
    char *buffer;          /* round_bytes; owned */
    pti_store whole_store; /* of the root: the owner's boxes in the whole */
    pti_walk whole;        /* of the root */
    pti_walk owned;        /* of the owner */
} rank_move;

enum { TAG = 0 };

static bool is_root(const rank_move *t) {
    return pti_spread_rank(t->spread) == t->root;
}

static bool is_owner(const rank_move *t) {
    return pti_spread_rank(t->spread) == t->owner;
}

/** Begin a walk over the owner's elements among all elements; false when memory runs out. */
static bool begin_whole(rank_move *t, void *elements) {
    const pti_spread *spread = t->spread;
    const int n_local = spread->transport->n_local;
    pti_boxes boxes = {0};
    t->whole_store.whole = spread->array->domain;
    t->whole_store.element_bytes = spread->array->element_bytes;
    for (int m = 0; m < n_local; m++) {
        pti_ownership_boxes(spread->ownership, t->owner * n_local + m, &boxes);
        t->whole_store.failed |= boxes.failed;
        pti_store_add(&t->whole_store, &boxes, &spread->array->domain, elements);
    }
    pti_boxes_free(&boxes);
    t->left_bytes = pti_store_bytes(&t->whole_store);
    return pti_walk_begin(&t->whole_store, &t->whole);
}

static bool begin_owned(rank_move *t) {
    t->left_bytes = pti_store_bytes(&t->spread->store);
    return pti_walk_begin(&t->spread->store, &t->owned);
}

static polytile_status begin_rank(rank_move *t, void *elements) {
    if ((is_root(t) && !begin_whole(t, elements)) || (is_owner(t) && !begin_owned(t)))
        return pti_fail_memory(pti_spread_context(t->spread), t->spread->array->name,
                               (double)t->whole_store.n_boxes * sizeof(pti_stored_box));
    return POLYTILE_OK;
}

static void end_rank(rank_move *t) {
    pti_walk_end(&t->whole);
    pti_walk_end(&t->owned);
    pti_store_free(&t->whole_store);
    t->left_bytes = 0;
}

static polytile_status pass_message(const rank_move *t, bool sends, int n_bytes) {
    const pti_spread *spread = t->spread;
    polytile_context *ctx = pti_spread_context(spread);
    MPI_Request request = MPI_REQUEST_NULL;
    polytile_status status;
    int peer = is_root(t) ? t->owner : t->root;
    if (sends)
        PTI_MPI_TRY(ctx, MPI_Isend(t->buffer, n_bytes, MPI_BYTE, peer, TAG, pti_spread_comm(spread),
                                   &request));
    else
        PTI_MPI_TRY(ctx, MPI_Irecv(t->buffer, n_bytes, MPI_BYTE, peer, TAG, pti_spread_comm(spread),
                                   &request));
    PTI_TRY(pti_mpi_wait(ctx, 1, &request));
done:
    return status;
}

/** Move a buffer of elements from the reader to the writer. */
static polytile_status move_buffer(rank_move *t, int64_t n_bytes) {
    bool is_source = t->to_root ? is_owner(t) : is_root(t);
    bool is_target = t->to_root ? is_root(t) : is_owner(t);
    polytile_status status = POLYTILE_OK;
    if (is_source)
        pti_walk_collect(t->to_root ? &t->owned : &t->whole, t->buffer, n_bytes);
    if (is_source != is_target)
        PTI_TRY(pass_message(t, is_source, (int)n_bytes));
    if (is_target)
        pti_walk_spread(t->to_root ? &t->whole : &t->owned, t->buffer, n_bytes);
done:
    return status;
}

/** Move the elements of one owner; ranks without a part in it move nothing. */
static polytile_status move_one_rank(rank_move *t) {
    polytile_status status = POLYTILE_OK;
    while (t->left_bytes > 0) {
        int64_t n_bytes = pti_min(t->left_bytes, t->spread->round_bytes);
        PTI_TRY(move_buffer(t, n_bytes));
        t->left_bytes -= n_bytes;
    }
done:
    return status;
}

/** Move the elements of all owners; a failure of one rank keeps all from the next owner. */
static polytile_status move_rank_by_rank(rank_move *t, void *elements) {
    polytile_status status, moved = POLYTILE_OK;
    for (t->owner = 0; t->owner < pti_spread_n_ranks(t->spread); t->owner++) {
        PTI_TRY(
            pti_spread_agree(t->spread, moved == POLYTILE_OK ? begin_rank(t, elements) : moved));
        moved = move_one_rank(t);
        end_rank(t);
    }
    PTI_TRY(pti_spread_agree(t->spread, moved));
done:
    end_rank(t);
    return status;
}

static polytile_status check_root(const pti_spread *spread, int root, const void *elements) {
    polytile_context *ctx = pti_spread_context(spread);
    if (root < 0 || root >= pti_spread_n_ranks(spread))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: root %d is none of the %d ranks, which are counted from 0",
                        spread->array->name, root, pti_spread_n_ranks(spread));
    if (pti_spread_rank(spread) == root && elements == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: the root's elements are NULL",
                        spread->array->name);
    return POLYTILE_OK;
}

static polytile_status check_and_allocate(const pti_spread *spread, int root, const void *elements,
                                          char **buffer) {
    polytile_status status = check_root(spread, root, elements);
    if (status != POLYTILE_OK)
        return status;
    *buffer = malloc((size_t)spread->round_bytes);
    return *buffer != NULL ? POLYTILE_OK
                           : pti_fail_memory(pti_spread_context(spread), spread->array->name,
                                             (double)spread->round_bytes);
}

static polytile_status move_all(rank_move *t, void *elements, bool *has_begun) {
    polytile_status status;
    *has_begun = false;
    PTI_TRY(
        pti_spread_agree(t->spread, check_and_allocate(t->spread, t->root, elements, &t->buffer)));
    *has_begun = true;
    PTI_TRY(move_rank_by_rank(t, elements));
done:
    free(t->buffer);
    return status;
}

polytile_status pti_spread_gather(const pti_spread *spread, int root, void *elements) {
    rank_move t = {.spread = spread, .to_root = true, .root = root};
    bool has_begun;
    return move_all(&t, elements, &has_begun);
}

/** The root's elements are only read. */
polytile_status pti_spread_scatter(const pti_spread *spread, int root, const void *elements,
                                   bool *has_begun) {
    rank_move t = {.spread = spread, .to_root = false, .root = root};
    return move_all(&t, (void *)(uintptr_t)elements, has_begun);
}
