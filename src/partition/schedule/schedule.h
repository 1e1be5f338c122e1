#ifndef POLYTILE_PARTITION_SCHEDULE_SCHEDULE_H
#define POLYTILE_PARTITION_SCHEDULE_SCHEDULE_H

#include "access/footprint/instance.h"
#include "access/set/memory_layout.h"
#include "partition/schedule/columns.h"
#include "partition/schedule/period.h"
#include "partition/schedule/tiling.h"

/* partition/schedule: the waist of the library. Planners make schedules, the checker proves
 * them, one executor runs them on any device. builder.h makes one, operation by operation. */

/** X-macro: operation, its word in texts, the stream that runs it. */
#define PTI_OPS(X)                                                                                 \
    X(UPLOAD, "upload", PTI_STREAM_IN)  /* box: host array -> placement */                         \
    X(COPY, "copy", PTI_STREAM_IN)      /* box: source placement -> placement, on the device */    \
    X(FILL, "fill", PTI_STREAM_COMPUTE) /* box: the reduction's identity -> placement */           \
    X(LAUNCH, "launch", PTI_STREAM_COMPUTE) /* box: threads of one superblock */                   \
    X(DOWNLOAD, "download", PTI_STREAM_OUT) /* box: placement -> host array */

typedef enum pti_op_kind {
#define PTI_OP_KIND(name, word, stream) PTI_##name,
    PTI_OPS(PTI_OP_KIND)
#undef PTI_OP_KIND
} pti_op_kind;

/** Each stream runs its operations in the schedule's order, beside the others. Launches and fills
 * are in lanes, so that kernels run side by side; a lane has a stream. */
typedef enum pti_stream {
    PTI_STREAM_IN,
    PTI_STREAM_OUT,
    PTI_STREAM_COMPUTE,                        /* of lane 0; those of later lanes follow */
    PTI_STREAM_LAST = PTI_STREAM_COMPUTE + 31, /* of the last lane that there may be */
} pti_stream;

/** The most streams of a schedule, and its most lanes. */
enum {
    PTI_MAX_STREAMS = PTI_STREAM_LAST + 1,
    PTI_MAX_LANES = PTI_MAX_STREAMS - PTI_STREAM_COMPUTE
};

/** The stream of a lane. */
static inline pti_stream pti_lane_stream(int lane) {
    return (pti_stream)(PTI_STREAM_COMPUTE + lane);
}

const char *pti_op_word(pti_op_kind kind);

/** A place in device memory that holds a box of one array for a while. */
typedef struct pti_placement {
    int operand;          /* of the schedule's instance: the array */
    int64_t offset_bytes; /* in the arena */
    pti_memory_layout layout;
    bool
        is_aside; /* for tiles of slabs alone (tiling.h): nothing else uses the memory, and launches
                      that run one by one need nothing of it */
} pti_placement;

/** Return whether two placements have a common byte. */
static inline bool pti_placements_overlap(const pti_placement *one, const pti_placement *other) {
    return one->offset_bytes < other->offset_bytes + other->layout.size_bytes &&
           other->offset_bytes < one->offset_bytes + one->layout.size_bytes;
}

/**
 * One operation. It runs after the earlier operations of its own stream and after those it waits
 * for, all of which come before it in the list.
 */
typedef struct pti_op {
    pti_op_kind kind;
    int lane;                 /* of a launch or fill; others: 0 */
    bool is_unwritten;        /* a fill of elements that nobody wrote: with zero, even if the launch
                                 reduces into others of the array from an identity */
    int launch;               /* of the schedule's launches, for which or after which this is */
    int64_t superblock;       /* for whose launch this is, or (download) after whose */
    int64_t placement;        /* launch: -1, see pti_schedule_placement() */
    int64_t source_placement; /* copy only, else -1 */
    int64_t first_wait;       /* in the schedule's waits */
    int n_waits;
    int64_t bytes; /* moved or filled; launch: 0 */
    polytile_domain box;
} pti_op;

/** The stream that runs an operation. */
pti_stream pti_op_stream(const pti_op *op);

/** One launch of a schedule. */
typedef struct pti_schedule_launch {
    pti_call call; /* its arrays are operands of the schedule's instance; the list of them is a part
                      of launch_array */
    int64_t first_superblock; /* its superblocks follow one another */
    int64_t n_superblocks;
    int64_t first_placement; /* in launch_placement: of its first superblock's first operand */
} pti_schedule_launch;

/** What a placement holds before the first operation of a schedule, or after the last. */
typedef struct pti_holding {
    int64_t placement;
    pti_boxes valid; /* in their newest version */
    pti_boxes dirty; /* valid, and newer than the host's */
} pti_holding;

/** Elements of which the host has a newer version than the device, from an operation on. */
typedef struct pti_invalidation {
    int operand;
    int64_t first_op; /* the number of operations: after all */
    pti_boxes boxes;
} pti_invalidation;

/**
 * One or several launches as a list of operations.
 *
 * A copy whose target takes over its source's memory moves elements as if all were read before any
 * is written (access/set/overlapping_copy.h).
 *
 * In place: there is no arena; every placement is the whole host array, only fills and launches
 * occur, and every element counts as written.
 *
 * The operands of the instance are all arrays that the schedule knows of. For one launch by itself
 * it is that launch's own; else it is of no kernel and has no sections. A schedule that only moves
 * data has no launches and no superblocks; the numbers of both in its operations are 0.
 *
 * Each operand of a launch has a placement for each superblock. Operands of one array may share it,
 * or have one each: then a launch that writes elements of the array makes them old in all the
 * others.
 *
 * Data may lie on the device before and stay there: what is dirty after the last operation has not
 * reached the host. Elements that nobody wrote are zero; they are filled, not uploaded. What a
 * later launch overwrites need not reach the host before. The superblocks of one launch run in
 * their order; those of different launches may be interleaved where that changes no result.
 *
 * Where a period comes several times (period.h), the lists and their lengths have it once. Such a
 * schedule is run, and proved, in flat stretches (stretch.h).
 */
typedef struct pti_schedule {
    const pti_instance *instance; /* borrowed: lives as long */
    int n_launches;
    pti_schedule_launch *launch;
    int *launch_array; /* of each operand of each launch: its array */
    int n_before;
    pti_holding *before;
    int n_after;
    pti_holding *after;
    pti_boxes *unwritten; /* of each operand, before; NULL: every element was written */
    int n_invalidations;
    pti_invalidation *invalidation; /* by first_op */
    bool *dropped; /* of each operand: what it holds at the end does not matter; NULL: of none */
    bool in_place;
    int64_t limit_bytes; /* 0: none */
    int64_t arena_bytes; /* all placements lie in [0, arena_bytes) */
    int64_t n_superblocks;
    polytile_domain *superblock; /* threads, each launch's in run order; owned, as all below */
    int64_t n_placements;
    pti_placement *placement;
    int64_t n_launch_placements;
    int64_t *launch_placement; /* of each launch [superblock * n_operands + operand], from its
                                  first_placement on; -1: the superblock touches nothing of it */
    int n_lanes;               /* that operations are in; 0 is as 1 */
    int64_t n_ops;
    pti_op *op;
    int64_t n_waits;
    int64_t *wait; /* positions of operations */
    int n_tiles;
    pti_tiles *tiles;    /* launches that may run as one, in order */
    bool has_all_tiles;  /* they were looked for */
    pti_columns columns; /* of launches in place, which are all operations */
    pti_period period;   /* operations that come several times, shifted */
} pti_schedule;

/** How many streams the operations of a schedule are on, from the first. */
static inline int pti_schedule_n_streams(const pti_schedule *schedule) {
    return PTI_STREAM_COMPUTE + (schedule->n_lanes > 1 ? schedule->n_lanes : 1);
}

/** The numbers of the placements that a superblock of a launch uses, one for each operand. */
int64_t *pti_schedule_placements(const pti_schedule *schedule, int launch, int64_t superblock);

/** The placement of one operand; NULL if the superblock touches nothing of it. */
const pti_placement *pti_schedule_placement(const pti_schedule *schedule, int launch,
                                            int64_t superblock, int operand);

/** The placement of an array in launches that may run as one, where all of them find it, or of a
 * slab the last one; NULL if they do not have it. */
const pti_placement *pti_tiles_placement(const pti_schedule *schedule, const pti_tiles *tiles,
                                         int array);

/** Return whether an operand's placement is that of an operand before it. */
bool pti_schedule_is_placed_before(const int64_t *placements, int operand);

/** The launch for which or after which an operation is; NULL if the schedule only moves. */
const pti_schedule_launch *pti_schedule_launch_of(const pti_schedule *schedule, const pti_op *op);

/** How many sub-kernels a schedule runs, the turns of its period counted. */
int64_t pti_schedule_n_kernels(const pti_schedule *schedule);

/** How often an operation of the list comes. */
static inline int64_t pti_schedule_times(const pti_schedule *schedule, int64_t op) {
    const pti_period *period = &schedule->period;
    return pti_period_times(period, period->first_op, period->n_ops, op);
}

/** The program's threads of the k-th sub-kernel of a schedule with launches. Shapes  run_order: the
 * superblocks of the list as they run; NULL: one after the other. */
polytile_domain pti_schedule_asked_kernel(const pti_schedule *schedule, const int64_t *run_order,
                                          int64_t k);

/** The number of the launch that a superblock is of: each has those from its first on. */
int pti_schedule_launch_at(const pti_schedule *schedule, int64_t superblock);

/** The program's threads of a superblock. */
polytile_domain pti_schedule_asked_superblock(const pti_schedule *schedule, int64_t superblock);

/** Return whether a schedule is of one launch by itself, whose operands are its arrays: nothing
 * lies on the device before or after. */
bool pti_schedule_is_of_one_launch(const pti_schedule *schedule);

/** The operand of an operation's launch that starts from an identity in an array; NULL if none, or
 * if the operation is about other elements. */
const pti_operand *pti_schedule_fresh(const pti_schedule *schedule, const pti_op *op, int array);

/** The end of the highest placement in the arena; 0 in place. */
int64_t pti_schedule_peak_bytes(const pti_schedule *schedule);

void pti_schedule_free(pti_schedule *schedule);

/** A schedule of its own that does the same; NULL when memory runs out. It borrows what the other
 * borrows. The caller frees it with pti_schedule_free(). */
pti_schedule *pti_schedule_copy(const pti_schedule *schedule);

#endif
