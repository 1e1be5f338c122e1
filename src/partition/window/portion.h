#ifndef POLYTILE_PARTITION_WINDOW_PORTION_H
#define POLYTILE_PARTITION_WINDOW_PORTION_H

#include "partition/memory/residency.h"
#include "partition/skew/skew.h"

/* A list of steps is cut into consecutive portions: launches that take turns slab by slab, and
 * launches that run one after the other. Queues run them, and plans of several launches show them,
 * so that both cut in the same places for the same reasons. */

/** The most steps that are looked at together; and the most superblocks that are planned together,
 * one launch after the other. */
enum { PTI_WINDOW_STEPS = 1024, PTI_PLAN_SUPERBLOCKS = 4096 };

/** What is asked for with a launch, and known of it. */
typedef struct pti_asked {
    const polytile_plan_options *options; /* borrowed */
    double touched_bytes; /* that it goes through, twice where it reads and writes */
    bool has_launcher;    /* which may have memory of its own, used one call after the other */
} pti_asked;

typedef struct pti_portion_request {
    int n_steps; /* of a window */
    const pti_step *step;
    const pti_asked *asked;         /* of each step that is a launch */
    const pti_step *const *behind;  /* of each array the first step behind the window that uses it;
                                       NULL, or one of them: none is known */
    const pti_instance *arrays;     /* by position */
    const pti_residency *residency; /* NULL: launches run on the arrays themselves */
    int64_t memory_bytes;           /* of the device; without a residency that of the caches */
    const polytile_link *link;      /* of the device; NULL where that is not known */
    int n_launches;                 /* that texts count; 0: those of the steps */
} pti_portion_request;

typedef struct pti_portion {
    int n_launches;   /* that take turns; 0: those at hand run one after the other */
    int n_single;     /* then: how many of them it would be useless to try again */
    bool is_resident; /* their arrays lie whole on the device */
    pti_chain chain;  /* owned, as all below */
    pti_skew_shape shape;
    pti_text end;   /* which launch ends the chain, and why; empty: the window does */
    pti_text apart; /* why launches that might take turns do not; empty: they do, or are not looked
                         at */
    pti_cut_launch *launch;
    bool *dropped;
    pti_boxes *unwritten;
    int n_arrays;
} pti_portion;

/**
 * Find the portion that begins with a step. Nothing but the steps before it has run.
 *
 * Errors  NO_MEMORY.
 * Owns    The caller frees *portion with pti_portion_free(), also after an error.
 */
polytile_status pti_portion_find(const pti_portion_request *request, int first,
                                 pti_portion *portion);

/** Build the schedule of launches that take turns, now that all before them has run; is_resident is
 * false. NULL when memory runs out. The caller frees it. */
pti_schedule *pti_portion_build(const pti_portion_request *request, pti_portion *portion);

/**
 * The same where their arrays lie whole on the device, out of a schedule that runs them one after
 * the other; NULL where that moves something between them, or when memory runs out. The caller
 * frees it.
 */
pti_schedule *pti_portion_build_resident(const pti_portion *portion, const pti_schedule *apart);

/** What became of the launches of a portion, and why, in one sentence; nothing is added where all
 * launches of the window take turns, or nothing is to be said. */
void pti_portion_tell(const pti_portion_request *request, int first, const pti_portion *portion,
                      pti_text *text);

void pti_portion_free(pti_portion *portion);

/** The end of the steps from first to end - 1 that are planned together where they run one after
 * the other: not too many superblocks. */
int pti_portion_end_of_plan(const pti_step *step, int first, int end);

/** What a schedule of a portion brought to the host is written from then on, and no longer zero.
 * False when memory runs out. */
bool pti_portion_note_written(pti_residency *residency, const pti_schedule *schedule);

#endif
