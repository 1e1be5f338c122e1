#ifndef POLYTILE_PARTITION_SCHEDULE_SCHEDULE_H
#define POLYTILE_PARTITION_SCHEDULE_SCHEDULE_H

#include "access/footprint/instance.h"
#include "access/set/layout.h"

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

/** Each stream runs its operations in the schedule's order, beside the others. */
typedef enum pti_stream {
    PTI_STREAM_IN,
    PTI_STREAM_COMPUTE,
    PTI_STREAM_OUT,
    PTI_STREAM_ABREAST, /* a second one for launches and fills: a kernel begins while others end */
    PTI_N_STREAMS
} pti_stream;

const char *pti_op_word(pti_op_kind kind);

/** A piece of device memory that holds a box of one array for a while. */
typedef struct pti_placement {
    int operand;          /* of the schedule's instance: the array */
    int64_t offset_bytes; /* in the arena */
    pti_layout layout;
} pti_placement;

/**
 * One operation. It runs after the earlier operations of its own stream and after those it waits
 * for, all of which come before it in the list.
 */
typedef struct pti_op {
    pti_op_kind kind;
    bool abreast;             /* a launch or fill on the second of the streams for them */
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

/** One of several launches of a schedule. */
typedef struct pti_schedule_launch {
    const pti_instance *instance; /* borrowed */
    const int *array; /* of each of its operands: which operand of the schedule's instance it is;
                         owned by the schedule */
    int64_t first_superblock; /* its superblocks follow one another */
    int64_t n_superblocks;
} pti_schedule_launch;

/** What a placement holds before the first operation of a schedule, or after the last. */
typedef struct pti_holding {
    int64_t placement;
    pti_boxes valid; /* in their newest version */
    pti_boxes dirty; /* valid, and newer than the host's */
} pti_holding;

/** Elements of which the host has a newer version than the device, from an operation on. */
typedef struct pti_renewal {
    int operand;
    int64_t first_op; /* the number of operations: behind all */
    pti_boxes boxes;
} pti_renewal;

/**
 * One or several launches as a list of operations.
 *
 * A copy whose target takes over its source's memory moves elements as if all were read before any
 * is written (access/set/slide.h).
 *
 * In place: there is no arena; every placement is the whole host array, only fills and launches
 * occur, and every element counts as written.
 *
 * With several launches the instance is of no kernel: its operands are all arrays that the schedule
 * knows of, and it has no sections. Data may lie on the device before and stay there: what is dirty
 * after the last operation has not reached the host. Elements that nobody wrote are zero; they are
 * filled, not uploaded. What a later launch overwrites need not reach the host before. The
 * superblocks of one launch run in their order; those of different launches may be interleaved
 * where that changes no result.
 */
typedef struct pti_schedule {
    const pti_instance *instance; /* borrowed: lives as long */
    int n_launches;               /* 0: one launch, which is the instance */
    pti_schedule_launch *launch;
    int n_before;
    pti_holding *before;
    int n_after;
    pti_holding *after;
    pti_boxes *unwritten; /* of each operand, before; NULL: every element was written */
    int n_renewals;
    pti_renewal *renewal; /* by first_op */
    bool *dropped; /* of each operand: what it holds at the end does not matter; NULL: of none */
    bool in_place;
    int64_t limit_bytes; /* 0: none */
    int64_t arena_bytes; /* all placements lie in [0, arena_bytes) */
    int64_t n_superblocks;
    polytile_domain *superblock; /* threads, each launch's in run order; owned, as all below */
    int64_t n_placements;
    pti_placement *placement;
    int64_t *launch_placement; /* [superblock * n_operands + operand of the instance]; -1: the
                                  superblock touches nothing of it */
    int64_t n_ops;
    pti_op *op;
    int64_t n_waits;
    int64_t *wait; /* positions of operations */
} pti_schedule;

/** The placement of an operand that a superblock's launch uses; NULL if it touches nothing of it.
 */
const pti_placement *pti_schedule_placement(const pti_schedule *schedule, int64_t superblock,
                                            int operand);

/** The launch for which or after which an operation is; if there is none, one of no superblocks
 * with the schedule's own instance. */
pti_schedule_launch pti_schedule_launch_of(const pti_schedule *schedule, const pti_op *op);

/** The operand of the schedule's instance that an operand of a launch is. */
int pti_schedule_array(const pti_schedule_launch *launch, int operand);

/** The end of the highest placement in the arena; 0 in place. */
int64_t pti_schedule_peak_bytes(const pti_schedule *schedule);

void pti_schedule_free(pti_schedule *schedule);

#endif
