#ifndef POLYTILE_PARTITION_SKEW_BUILDER_H
#define POLYTILE_PARTITION_SKEW_BUILDER_H

#include "partition/schedule/builder.h"
#include "partition/skew/pass.h"
#include "partition/skew/sets.h"
#include "partition/skew/skew.h"
#include "partition/skew/turns.h"

/* A chain's schedule under construction: slabs of launches in sequence, with or without moves
 * between them. */

/** An array on its way through the device. */
typedef struct pti_skew_image {
    int64_t offset_bytes; /* of its memory */
    int64_t placement;    /* the image: what its memory holds now */
    polytile_range rows;  /* of the image */
    pti_last users;       /* operations that used the memory, of whatever image */
    pti_last before;      /* those of images before the current one */
    bool is_filled;       /* something was put into the current image */
    bool none_goes;       /* as of its need (memory.h) */
    bool none_comes;
    int64_t *download;      /* of each slab of this pass: the newest by then, -1: none; NULL: there
                               is a single pass */
    int64_t *former;        /* the same of the pass before */
    int64_t n_former_slabs; /* 0: there is no pass before */
    int64_t newest;         /* download so far; -1: none */
    int64_t
        former_row; /* the last row that slab 0 of the pass before might have sent to the host */
} pti_skew_image;

/** What is known of a launch before its slabs are run. */
typedef struct pti_skew_launch {
    int64_t first_slab; /* of its pass that has threads of it */
    int64_t last_slab;
    polytile_range within; /* threads along its index: of slabs that lie there, */
    uint64_t touched;      /* bit o: each touches operand o, */
    uint64_t untouched;    /* and none does */
} pti_skew_launch;

/** Slabs are in one lane, or in two. */
enum { PTI_SKEW_LANES = 2, PTI_SKEW_STREAMS = PTI_STREAM_COMPUTE + PTI_SKEW_LANES };

/** The state of the chain. */
typedef struct pti_skew_builder {
    const pti_skew_request *request;
    const pti_skew_shape *shape;
    const pti_chain *chain;
    pti_builder builder;
    pti_schedule *schedule;
    pti_skew_launch *launch;           /* of the chain; owned */
    pti_last waited[PTI_SKEW_STREAMS]; /* by each stream, so far: the last of the others */
    pti_skew_sets sets;
    pti_slab_turns turns;
    int64_t n_unlisted;    /* slabs so far for which those of a turn stand */
    int64_t part[2];       /* first and last slab of the schedule's current part */
    pti_skew_image *image; /* of each array, and then those aside (tiled.h) */
    pti_boxes reused;
    pti_pass pass;                            /* the current one */
    int n_aside, aside[PTI_TILE_MOST_STORED]; /* arrays that have an image aside in it */
    int number;                               /* of the pass */
    int64_t n_slabs;
    pti_last uploaded; /* the last uploads, copies and fills */
    pti_last ready;    /* those of them that brought the current slab to its launches' images */
    pti_last computed; /* the last launches and fills */
    pti_last ahead;    /* of slabs before: launches that those of the current slab must follow */
    int64_t *ran[PTI_SKEW_LANES]; /* by lanes: of each launch the last operation */
    bool is_in_tiles;   /* launches run as one, which may touch other halves of arrays than each */
    bool is_with_aside; /* launches run as one that load or store aside */
} pti_skew_builder;

int pti_skew_n_arrays(const pti_skew_builder *builder);

/** Return the image aside of the pass' k-th array that has one. */
pti_skew_image *pti_skew_image_aside(const pti_skew_builder *builder, int k);

/** Make an image whose memory nothing has used. */
pti_skew_image pti_skew_image_at(int64_t offset_bytes, int64_t placement);

/** Begin the schedule with its launches, their superblocks numbered launch by launch, and no
 * operations; most_slabs: of a pass. False when memory runs out. */
bool pti_skew_builder_begin(pti_skew_builder *builder, int64_t *most_slabs);

/** Free all but the schedule. */
void pti_skew_builder_end(pti_skew_builder *builder);

/** Begin a pass as pti_pass_begin() does. */
bool pti_skew_builder_pass(const pti_skew_builder *builder, int number, pti_pass *pass);

/** Return the superblock of a launch in a slab, or in the nearest one of the current part that
 * has threads of it. */
int64_t pti_skew_superblock_at(const pti_skew_builder *builder, int launch, int64_t k);

/** Add an operation without waits that its stream has made before; returns its position. */
int64_t pti_skew_builder_add(pti_skew_builder *builder, const pti_op *op, const pti_last *waits);

/* Concurrent slabs: every other one is in the second lane, so that a kernel begins while one of the
 * slab before ends. */

/** Prepare to run whole slabs; false when memory runs out. */
bool pti_skew_concurrent_begin(pti_skew_builder *builder);

/** Return the lane of slab k. */
int pti_skew_lane(const pti_skew_builder *builder, int64_t k);

/** Add all launches of slab k that have threads there. */
void pti_skew_add_launches(pti_skew_builder *builder, int64_t k);

/** Add a launch's threads of slab k on its arrays' memory; returns the operation, -1: no
 * threads. */
int64_t pti_skew_add_launch(pti_skew_builder *builder, int launch, int64_t k);

/* build_turn.c: the turn that stands for all. Neither it nor what follows waits for anything before
 * it, which is done: a turn is a stretch of its own. */

/** Begin the turn, before its first slab. */
void pti_skew_turn_begin(pti_skew_builder *builder);

/** End the turn, and go on with the first slab after all turns. */
void pti_skew_turn_end(pti_skew_builder *builder);

#endif
