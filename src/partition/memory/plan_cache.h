#ifndef POLYTILE_PARTITION_MEMORY_PLAN_CACHE_H
#define POLYTILE_PARTITION_MEMORY_PLAN_CACHE_H

#include "partition/memory/relocation.h"
#include "partition/memory/residency.h"

/* Plans made before. A plan depends on the snapshot of what is resident before it, on the steps and
 * on the link; it gives a schedule and another snapshot. Programs that repeat themselves come to
 * the same snapshots again: then the schedule is handed out again, and nothing is planned.
 *
 * Sweeps that evict what was used longest ago put pieces into other places of the arena each time.
 * So snapshots count as the same when only the places of their segments differ, and a schedule
 * whose placements each lie within one segment, as do the segments after it, moves with the
 * segments. */

typedef struct pti_snapshot pti_snapshot;

/** What identifies a step. */
typedef struct pti_step_key {
    pti_step_kind kind;
    int position;
    int64_t serial;
    pti_boxes boxes; /* of a fetch or an invalidation; owned */
} pti_step_key;

/** A window of steps, from one snapshot to another. */
typedef struct pti_transition {
    pti_snapshot *from;
    pti_snapshot *to;
    int n_steps;
    pti_step_key *step; /* owned, as the schedule */
    bool has_link;
    polytile_link link;
    pti_schedule *schedule;
    pti_relocation relocation;
    int64_t bytes; /* of host memory, about; without the snapshots */
    int64_t last_used;
} pti_transition;

enum { PTI_MAX_TRANSITIONS = 64 };

/** To plan a window of few superblocks takes less time than to keep its plan. So its plan is kept
 * only once the window has come PTI_CHEAP_TIMES times. */
enum { PTI_CHEAP_SUPERBLOCKS = 8, PTI_CHEAP_TIMES = 3, PTI_CHEAP_BUCKETS = 64 };

/** A cheap window, known by its hash. Where two have the same hash, their plans are kept sooner. */
typedef struct pti_cheap_window {
    uint64_t hash;
    int n_times; /* that it came since another one had its bucket */
} pti_cheap_window;

/** Plans that are kept, and the snapshots that they lead from and to. */
typedef struct pti_plans {
    int64_t most_bytes;        /* 0: no plan is kept */
    int64_t cheap_superblocks; /* windows of fewer are cheap; 0: none */
    pti_cheap_window cheap[PTI_CHEAP_BUCKETS];
    bool keeps;    /* the plan of the current window will be kept */
    int64_t bytes; /* of transitions and snapshots */
    int64_t n_hits;
    int64_t n_moved; /* hits of schedules that were for other places */
    int64_t n_uses;
    pti_snapshot
        *at;        /* where the residency is, or from where it is being planned; NULL: it does not
                       know */
    bool is_shared; /* the residency shares the memory of `at` */
    int64_t *place; /* of each segment of `at`: where it really lies; owned, as the next */
    int64_t *former_place; /* the same of the snapshot from where it is being planned */
    int n_places;          /* that there is room for, in both */
    pti_snapshot *known;
    int n_transitions;
    pti_transition transition[PTI_MAX_TRANSITIONS];
    pti_schedule *unkept; /* the last one, if it is no transition's */
} pti_plans;

/** A window as it is asked for. */
typedef struct pti_window_request {
    int n_steps;
    const pti_step *steps;
    const polytile_link *link;
} pti_window_request;

/** Find the snapshot that the residency is at, and the kept schedule of a window from there. The
 * residency then is at the snapshot to which that leads. NULL: no schedule is kept. Frees the last
 * schedule unless it is a transition's. */
pti_schedule *pti_plans_find(pti_residency *residency, const pti_window_request *window);

/** Begin to plan from the residency's snapshot: the residency may change what is resident from now
 * on. False when memory runs out. */
bool pti_plans_begin(pti_residency *residency);

/** Take over the schedule that was planned since then, and keep it if it may come again. */
void pti_plans_keep(pti_residency *residency, const pti_window_request *window,
                    pti_schedule *schedule);

/** Forget all, without losing what is resident: something changes that plans depend on. */
void pti_plans_clear(pti_residency *residency);

/** Forget all, and free what that took. */
void pti_plans_end(pti_residency *residency);

#endif
