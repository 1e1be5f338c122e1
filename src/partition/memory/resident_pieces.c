#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/memory/resident_future.h"

/** Return whether one name's pieces must not lie in two images: its body looks for an element in
 * one piece after the other, and would write it where only its box is. */
static bool must_share(const pti_instance *instance, const pti_piece *one, const pti_piece *other) {
    bool must = false;
    for (int a = 0; instance->n_further > 0 && a < instance->n_operands; a++)
        for (int b = 0; pti_piece_has(one, a) && b < instance->n_operands; b++)
            must |= pti_piece_has(other, b) &&
                    pti_operand_array(instance, a) == pti_operand_array(instance, b) &&
                    (instance->operand[a].writes || instance->operand[b].writes);
    return must && pti_box_may_meet(&one->hull, &other->hull);
}

/** Return whether a box around two pieces takes little more memory than the larger one, and no more
 * than both. Where pieces have less in common, each fits an image that another superblock left. */
static bool are_nearly_one(const pti_piece *one, const pti_piece *other, int64_t bytes) {
    enum { SMALL_PART = 16 };
    const int64_t larger = pti_max(one->bytes, other->bytes);
    return bytes <= pti_add_saturated(one->bytes, other->bytes) &&
           bytes - larger <= larger / SMALL_PART;
}

/** Return whether a piece takes over another of the same array, which makes it a box of this size.
 */
typedef bool absorb_rule(const pti_instance *instance, const pti_piece *piece,
                         const pti_piece *other, int64_t bytes);

static bool absorb_nearly_one(const pti_instance *instance, const pti_piece *piece,
                              const pti_piece *other, int64_t bytes) {
    return are_nearly_one(piece, other, bytes) || must_share(instance, piece, other);
}

static bool absorb_all(const pti_instance *instance, const pti_piece *piece, const pti_piece *other,
                       int64_t bytes) {
    (void)instance, (void)piece, (void)other, (void)bytes;
    return true;
}

/** Pieces of one superblock of a call, while some take over others. */
typedef struct joining {
    const pti_instance *instance;
    absorb_rule *absorbs;
    pti_piece *piece;
    int n_pieces;
} joining;

/** Let a piece take over another if it has to. Returns whether it does. */
static bool absorb_piece(const joining *of, pti_piece *piece, const pti_piece *other) {
    polytile_domain hull = pti_box_coarse_union(&piece->hull, &other->hull);
    const int operand = __builtin_ctzll(piece->operands);
    const int64_t bytes = pti_resident_bytes(&hull, of->instance->operand[operand].element_bytes);
    if (!of->absorbs(of->instance, piece, other, bytes))
        return false;
    piece->operands |= other->operands;
    piece->next = PTI_NEXT_READ;
    piece->hull = hull;
    piece->bytes = bytes;
    return true;
}

/** Return the piece that another one has taken over; -1: none. */
static int find_absorbed(const joining *of, int by) {
    int p = 0;
    while (p < of->n_pieces && (p == by || of->piece[p].array != of->piece[by].array ||
                                !absorb_piece(of, &of->piece[by], &of->piece[p])))
        p++;
    return p < of->n_pieces ? p : -1;
}

/** Let a piece take over others, and what it has become then, in turn; the first that was taken
 * over has the place of all. */
static void join_piece(joining *of, int at) {
    int absorbed;
    while ((absorbed = find_absorbed(of, at)) >= 0) {
        const int first = at < absorbed ? at : absorbed, last = at + absorbed - first;
        of->piece[first] = of->piece[at];
        for (int p = last; p + 1 < of->n_pieces; p++)
            of->piece[p] = of->piece[p + 1];
        of->n_pieces--;
        at = first;
    }
}

int pti_pieces_find(pti_call call, const polytile_domain *threads, pti_piece *pieces) {
    const pti_instance *instance = call.instance;
    joining of = {instance, absorb_nearly_one, pieces, 0};
    for (int o = 0; o < instance->n_operands; o++) {
        pti_piece *piece = &pieces[of.n_pieces];
        if (!pti_footprint_find_hull(instance, o, PTI_TOUCHES, threads, &piece->hull))
            continue;
        piece->array = call.array[o];
        piece->operands = UINT64_C(1) << o;
        piece->is_scratch = instance->operand[o].is_scratch;
        piece->next =
            pti_operand_overwrites_hull(instance, o) ? PTI_NEXT_OVERWRITTEN : PTI_NEXT_READ;
        piece->bytes = pti_resident_bytes(&piece->hull, instance->operand[o].element_bytes);
        of.n_pieces++;
        join_piece(&of, of.n_pieces - 1);
    }
    return of.n_pieces;
}

int pti_pieces_unite(pti_call call, pti_piece *pieces, int n_pieces) {
    joining of = {call.instance, absorb_all, pieces, n_pieces};
    for (int p = 0; p < of.n_pieces; p++)
        join_piece(&of, p);
    return of.n_pieces;
}
