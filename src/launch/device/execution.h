#ifndef POLYTILE_LAUNCH_DEVICE_EXECUTION_H
#define POLYTILE_LAUNCH_DEVICE_EXECUTION_H

#include "launch/device/completeness.h"
#include "launch/device/device.h"
#include "launch/device/progress.h"
#include "launch/device/reduction.h"

/* A schedule that runs on a device. The executor goes through it; a device may look ahead. */

/** The views of this many launches, the last resolved ones, stay valid. */
enum { PTI_LAUNCHES_RESOLVED = 2 };

/** How many elements of an array got their identity for a superblock that has not run yet. */
typedef struct pti_filled {
    int64_t superblock;
    int64_t n_elements;
} pti_filled;

/** What it shares with other devices; launch/peers/sharing.h. */
typedef struct pti_sharing pti_sharing;

/** Return the box of an upload that this device uploads; NULL: all of it, it is not shared. */
typedef const polytile_domain *pti_own_share_function(const pti_sharing *sharing, int64_t op_index);

/** One run of a schedule. */
struct pti_execution {
    polytile_device *device;
    const pti_schedule *schedule;     /* flat: all, or the stretch that runs */
    int64_t first_superblock;         /* of the stretch, of all */
    int64_t n_kernels;                /* of all stretches */
    const pti_launch_config *configs; /* one a launch of the schedule */
    polytile_array *const *arrays;    /* one an operand of the schedule's instance */
    char *arena;                      /* in device memory; NULL in place */
    pti_memory_layout *host_layout;   /* of each whole array; owned, as all below */
    polytile_view *views;             /* of the launches resolved last, as of pti_sub_kernel */
    size_t n_views;                   /* of one launch at most */
    int64_t n_resolved;               /* launches, so far */
    polytile_view ring_views[2][3][PTI_TILE_IMAGES]; /* of the sides of a ring's slab */
    pti_filled *filled;                              /* of each array */
    unsigned char *identity;                         /* of the fill resolved last: one element */
    pti_memory_layout everywhere;                    /* strides of 0, for the identity */
    pti_completeness completeness;
    pti_progress progress;
    pti_sharing *sharing;             /* NULL: none; owned */
    pti_own_share_function *own_part; /* unless there is none */
    polytile_report *report;
    bool is_cancelled; /* some operations are left out, or threads of one */
};

/** Return whether somebody asked to end the run before it is done; asked between operations. */
static inline bool pti_execution_is_cancelled(const pti_execution *execution) {
    return pti_cancel_covers(execution->device->cancel, execution->device->cancel_number);
}

/**
 * Resolve an operation: find its addresses. Uploads may be resolved ahead.
 *
 * The execution owns the views of a launch and the element of a fill, until PTI_LAUNCHES_RESOLVED
 * more launches, or the next fill, are resolved.
 */
pti_command pti_execution_resolve(pti_execution *execution, int64_t index);

/**
 * Resolve a launch with all of its threads, in place: all superblocks that touch an array find it
 * at one place, and some may touch nothing of it. The views, n_views of them, are the caller's.
 *
 * Shapes  the launch has no array in pieces.
 */
pti_sub_kernel pti_execution_resolve_whole(pti_execution *execution, int launch,
                                           polytile_view *views);

/** Return the view of a launch's operand. */
polytile_view pti_execution_view_of(const pti_execution *execution, const pti_op *op,
                                    const pti_instance *instance, int operand);

/** Find the views of a launch: its arrays, their pieces, and its values. */
void pti_execution_resolve_launch(pti_execution *execution, pti_command *command);

/** Resolve operation `index` as a launch with all of its threads, which find the arrays where its
 * first superblock does. */
pti_command pti_execution_resolve_all(pti_execution *execution, int launch, int64_t index);

/* execution_tiles.c */

/** Resolve launches that may run as one, or one side of them, in place of two of them. */
pti_tile_command pti_execution_resolve_tiles(pti_execution *execution, const pti_tiles *tiles,
                                             int side);

/* execution_count.c */

/** Begin to count the operations that are done, from 0. */
void pti_execution_begin_count(pti_execution *execution);

/** Record that a command is about to be submitted: from now on a failure leaves the arrays that it
 * writes incomplete. */
void pti_execution_begin(pti_execution *execution, const pti_command *command);

/** Count a submitted command in the report. */
void pti_execution_count(pti_execution *execution, const pti_command *command);

/** Show that about n_done operations are done, before they are noted. One thread at a time calls
 * it. */
void pti_execution_show(pti_execution *execution, int64_t n_done);

/** Report an operation that ran, by the clock of pti_now_s(), to the report, the trace and the
 * progress bar. */
void pti_execution_note(pti_execution *execution, const pti_op *op, double start_s, double taken_s);

#endif
