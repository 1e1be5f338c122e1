#ifndef POLYTILE_PARTITION_MEMORY_RESIDENT_FUTURE_H
#define POLYTILE_PARTITION_MEMORY_RESIDENT_FUTURE_H

#include "access/set/skip_list.h"
#include "partition/memory/resident_image.h"

/* What a window of launches will touch, superblock by superblock in the order of running. */

/** What becomes of the elements of a piece that are on the device. */
typedef enum pti_next_access {
    PTI_NEXT_READ,        /* some of them may be read */
    PTI_NEXT_OVERWRITTEN, /* all of them, unread */
    PTI_NEXT_FLUSHED,     /* the whole array leaves the device: for the host, if newer than there */
    PTI_NEXT_DROPPED,     /* the same, but nobody needs it */
    PTI_NEXT_FETCHED,     /* they are for the host, if newer than there, and stay */
    PTI_NEXT_INVALIDATED  /* the host gets a newer version of all of them */
} pti_next_access;

/** A box of one array: what a superblock has of it in one image, or what a step that is no launch
 * is about. */
typedef struct pti_piece {
    int array;
    uint64_t operands; /* of the launch, whose elements it has: bit o is operand o */
    pti_next_access next;
    int64_t time;  /* of the superblock; if of no launch: of the superblock before it */
    int64_t bytes; /* of an image of it; if of no launch: 0 */
    bool is_scratch;
    polytile_domain hull;
} pti_piece;

/**
 * Find the pieces of a superblock.
 *
 * What operands of one array touch is one piece in two cases. They are nearly the same box, and
 * take no more memory together than one by one, padded. Or pieces of one name meet and one of them
 * is written, since bodies find an element in the first piece around it.
 *
 * Shapes  pieces: room for one an operand; time is left as it is.
 * Returns how many there are.
 */
int pti_pieces_find(pti_call call, const polytile_domain *threads, pti_piece *pieces);

/** Unite the pieces of each array, which may take less memory: where they fill all of it. Returns
 * how many there are then. */
int pti_pieces_unite(pti_call call, pti_piece *pieces, int n_pieces);

/** Return whether a piece has elements of an operand of its launch. */
static inline bool pti_piece_has(const pti_piece *piece, int operand) {
    return (piece->operands >> operand & 1) != 0;
}

/** What shows soonest that a piece is past or apart: searches pass thousands of pieces. */
typedef struct pti_piece_key {
    int64_t next; /* piece of the same array, -1: none */
    int64_t time; /* as the piece's */
    int64_t lo;   /* of the first dimension */
    int64_t hi;
    int64_t skip; /* the first from it over pieces of the same array */
    int n_skips;
} pti_piece_key;

/** One superblock's run. */
typedef struct pti_superblock_run {
    int launch; /* of the schedule */
    const polytile_domain *threads;
    int64_t first_piece;
    int n_pieces;
} pti_superblock_run;

/** The superblocks of a window and their pieces. */
typedef struct pti_future {
    int64_t n_runs;
    pti_superblock_run *run;
    int64_t n_pieces;
    int64_t capacity;
    pti_piece *piece;
    pti_piece_key *key; /* of each piece */
    pti_skip_list skips;
    pti_boxes left;  /* a set that is made anew for each image, in the same memory */
    int64_t n_looks; /* at pieces, that are left for all searches together */
} pti_future;

/**
 * Look through the steps, and decide in which direction each launch's superblocks run.
 *
 * Errors  NO_MEMORY; NO_FIT (a superblock that needs more than the arena). Nothing else is changed
 *         then. Free the future in any case.
 */
polytile_status pti_future_create(pti_residency *residency, int n_steps, const pti_step *steps,
                                  pti_future *future);
void pti_future_free(pti_future *future);

/** No next use: the window ends before, or all is overwritten or dropped. */
#define PTI_USE_NOT_KNOWN (INT64_MAX - 1)
#define PTI_USE_NEVER     INT64_MAX

/**
 * The time of the first superblock, from `now` on, that may read what an image holds. Sooner where
 * finding it takes too long.
 *
 * now never falls from call to call.
 */
int64_t pti_future_next_use(pti_future *future, pti_resident_image *image, int64_t now);

/**
 * What an image made for a piece should hold: the hull of the next piece that contains it in no
 * more than most_bytes, so that what is written in the one is read from the same image; else its
 * own.
 */
const polytile_domain *pti_future_widest(const pti_future *future, const pti_piece *piece,
                                         int64_t most_bytes);

/** Return whether a superblock behind a piece's own touches elements near it in the window. */
bool pti_future_touches_later(const pti_future *future, const pti_piece *piece);

/** Remove from an image's dirty elements those that the host does not need: from `now` on they are
 * overwritten or dropped before anything may read them. Fewer where finding all takes too long. */
void pti_future_discard(pti_future *future, pti_resident_image *image, int64_t now);

#endif
