#ifndef POLYTILE_PARTITION_SCHEDULE_BUILDER_H
#define POLYTILE_PARTITION_SCHEDULE_BUILDER_H

#include "access/footprint/footprint.h"
#include "partition/schedule/schedule.h"

/* A schedule under construction: lists that grow, and the last users of each piece of memory. */

/** The most superblocks of a plan, the most operations of a schedule, and the most boxes and images
 * that are gone through to make it: seconds of planning, and about a GiB of the host's memory. */
enum { PTI_MAX_SUPERBLOCKS = 1 << 18, PTI_MAX_OPS = 1 << 22, PTI_MAX_LOOKS = 1 << 28 };

/** The last operation of each stream that has to do with something; -1: none. */
typedef struct pti_last {
    int n_streams; /* from the first, beyond which there is none */
    int32_t op[PTI_MAX_STREAMS];
} pti_last;

static inline pti_last pti_last_none(void) {
    pti_last last;
    last.n_streams = 0;
    return last;
}

/** The last operation of a stream; -1: none. */
static inline int64_t pti_last_on(const pti_last *last, int stream) {
    return stream < last->n_streams ? last->op[stream] : -1;
}

/** Note an operation that comes after all noted before; launches and fills: one of lane 0. */
void pti_last_note(pti_last *last, pti_op_kind kind, int64_t op);

/** The same for an operation of a stream. */
static inline void pti_last_note_on(pti_last *last, pti_stream stream, int64_t op) {
    while (last->n_streams <= (int)stream)
        last->op[last->n_streams++] = -1;
    last->op[stream] = (int32_t)op;
}

/** Take the later of two, stream by stream. */
static inline void pti_last_join(pti_last *last, const pti_last *other) {
    for (; last->n_streams < other->n_streams; last->n_streams++)
        last->op[last->n_streams] = -1;
    for (int s = 0; s < other->n_streams; s++)
        if (other->op[s] > last->op[s])
            last->op[s] = other->op[s];
}

typedef struct pti_builder {
    pti_schedule *schedule;
    int64_t op_capacity;
    int64_t wait_capacity;
    int64_t placement_capacity;
    bool failed;  /* out of memory, or full: sticks, later calls do nothing */
    bool is_full; /* there would be more than PTI_MAX_OPS, or PTI_MAX_LOOKS; or it was given up */
    int64_t n_looks;
} pti_builder;

/** What a schedule takes of the host's memory for each superblock, at least: its threads, its
 * placements, and an operation for each of them and for its kernel. */
double pti_builder_superblock_bytes(const pti_instance *instance);

/** The most superblocks that are planned: PTI_MAX_SUPERBLOCKS, or fewer where launches on many
 * arrays would take too much of the host's memory. */
int64_t pti_builder_most_superblocks(const pti_instance *instance);

/**
 * Begin a schedule of some launches, with room for what their superblocks usually take, since
 * growing copies. Of each launch the call and the number of superblocks count; no superblock has a
 * placement yet. Leaves builder->schedule NULL when memory runs out.
 */
void pti_builder_begin(pti_builder *builder, const pti_instance *instance, int n_launches,
                       const pti_schedule_launch *launches);

/** Begin a schedule of one launch by itself, whose instance this is. */
void pti_builder_begin_one(pti_builder *builder, const pti_instance *instance,
                           int64_t n_superblocks);

/** Let a schedule fail that is not of the kind that was begun: UNSUPPORTED. */
void pti_builder_give_up(pti_builder *builder);

/** How often a box of a set is gone through for a superblock, about. */
enum { PTI_LOOKS_A_BOX = 4 };

/** Note that n_looks boxes or images are gone through for a superblock. */
void pti_builder_look(pti_builder *builder, int64_t n_looks);

/** What the transfers of a schedule that is full are, for texts, and the numbers in it. */
#define PTI_FULL                                                                                   \
    "too many, or too scattered, to be planned: there may be %d operations, which may go through " \
    "%d boxes"
#define PTI_FULL_NUMBERS PTI_MAX_OPS, PTI_MAX_LOOKS

/** How a schedule failed: NO_MEMORY, or UNSUPPORTED where it is full. */
polytile_status pti_builder_status(const pti_builder *builder);

/**
 * What the current launch need not wait for where its superblocks are in lanes: the others, whose
 * threads write nothing that its own use.
 */
typedef struct pti_beside {
    int n_lanes;
    int launch;
    int64_t n_seen; /* operations that are noted in apart, or are such superblocks */
    pti_last apart; /* all others so far */
} pti_beside;

/** Begin a launch, before its first operation; those of launches before it are not seen. */
pti_beside pti_beside_begin(const pti_builder *builder, int n_lanes, int launch);

/** Note the operations since the last call. */
void pti_beside_see(pti_beside *beside, const pti_schedule *schedule);

/** Join what used some memory that superblocks of the launch have in common, but for these. All
 * else on their streams that is seen is waited for instead. */
void pti_beside_join(const pti_beside *beside, const pti_schedule *schedule, pti_last *waits,
                     const pti_last *users);

/** The lane of a superblock of the launch. */
int pti_beside_lane(const pti_beside *beside, int64_t superblock);

/** Append an operation that waits for the last ones of the other streams; returns its position. */
int64_t pti_builder_add(pti_builder *builder, const pti_op *op, const pti_last *waits);

/** Let the host have newer elements of an operand from the next operation on; boxes are copied. */
void pti_builder_invalidate(pti_builder *builder, int operand, const pti_boxes *boxes);

/** Append a placement; returns its position. */
int64_t pti_builder_place(pti_builder *builder, const pti_placement *placement);

/** Append a copy of a placement, shifted n_times; returns its position. */
int64_t pti_builder_place_moved(pti_builder *builder, int64_t placement, const pti_shift *shift,
                                int64_t n_times);

#endif
