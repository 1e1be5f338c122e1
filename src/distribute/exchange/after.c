#include "distribute/exchange/exchange.h"

#include "distribute/exchange/transfers.h"

#include <stdlib.h>

/** Boxes of the copies that are known. Of more some are forgotten, which is never wrong. */
enum { MOST_BOXES = 64 };

/* What all members together write of each operand of each launch. */
typedef struct change_table {
    int *first;       /* of each launch: where its operands' begin; owned */
    pti_boxes *boxes; /* owned */
    int n;
} change_table;

static void free_changes(change_table *changes) {
    pti_boxes_free_list(changes->boxes, changes->n);
    free(changes->first);
}

static bool find_launch_changes(const pti_instance *instance, pti_boxes *boxes) {
    pti_boxes threads = {0};
    bool failed = false;
    pti_boxes_append(&threads, &instance->threads);
    for (int p = 0; p < instance->n_operands; p++) {
        if (instance->operand[p].writes)
            pti_threads_gather(instance, p, PTI_WRITES, &threads, &boxes[p]);
        failed = failed || boxes[p].failed;
    }
    pti_boxes_free(&threads);
    return !failed;
}

static bool find_changes(const pti_superstep *superstep, change_table *changes) {
    for (int l = 0; l < superstep->n_launches; l++)
        changes->n += superstep->launch[l].call.instance->n_operands;
    changes->first = calloc((size_t)superstep->n_launches + 1, sizeof *changes->first);
    changes->boxes = calloc((size_t)changes->n + 1, sizeof *changes->boxes);
    bool found = changes->first != NULL && changes->boxes != NULL;
    for (int l = 0; found && l < superstep->n_launches; l++) {
        const pti_instance *instance = superstep->launch[l].call.instance;
        changes->first[l + 1] = changes->first[l] + instance->n_operands;
        found = find_launch_changes(instance, &changes->boxes[changes->first[l]]);
    }
    return found;
}

/* Add what a launch combines: every member gets all of it, as one box. */
static void add_combined_elements(const pti_superstep *superstep, const pti_home *home, int l,
                                  int operand, pti_boxes *extra) {
    const pti_shared_launch *launch = &superstep->launch[l];
    const pti_instance *instance = launch->call.instance;
    polytile_domain hull;
    if (home->splits && pti_home_combines(home, launch, superstep->ownerships, operand) &&
        pti_footprint_find_hull(instance, operand, PTI_WRITES, &instance->threads, &hull))
        pti_boxes_add(extra, &hull);
}

/** Note who has the newest version of what was written: its writer, if all that it wrote is known
 * and whole; all members, if all computed it or it was combined. */
static void update_copies(const pti_superstep *superstep, const change_table *changes,
                          const pti_work *work, int l, int operand, pti_boxes *extra) {
    const pti_instance *instance = superstep->launch[l].call.instance;
    const pti_operand *written = &instance->operand[operand];
    const pti_boxes *changed = &changes->boxes[changes->first[l] + operand];
    pti_boxes_subtract_all(extra, changed);
    if (pti_home_is_everywhere(&work->home[l]) ||
        pti_home_combines(&work->home[l], &superstep->launch[l], superstep->ownerships, operand))
        pti_boxes_unite(extra, changed, pti_boxes_gather);
    else if (!written->partial && !written->reduces)
        pti_threads_gather(instance, operand, PTI_WRITES, &work->threads[l], extra);
}

/** Update the copies that a member has of arrays that a superstep writes. */
static bool update_all_copies(const pti_superstep *superstep, const change_table *changes,
                              int member, pti_copies *copies) {
    pti_work work;
    bool failed = !pti_work_create(superstep, member, &work);
    for (int l = 0; !failed && l < superstep->n_launches; l++) {
        const pti_shared_launch *launch = &superstep->launch[l];
        for (int p = 0; p < launch->call.instance->n_operands; p++) {
            pti_boxes *extra = pti_copies_get(copies, launch->call.array[p], member);
            if (!launch->call.instance->operand[p].writes)
                continue;
            update_copies(superstep, changes, &work, l, p, extra);
            pti_boxes_narrow(extra, MOST_BOXES);
            add_combined_elements(superstep, &work.home[l], l, p, extra);
            failed = failed || extra->failed;
        }
    }
    pti_work_free(&work);
    return !failed;
}

bool pti_exchange_after(const pti_superstep *superstep, pti_copies *copies, int first, int n_local,
                        pti_exchange *exchange) {
    change_table changes = {0};
    pti_transfers transfers = pti_transfers_begin(superstep, first, n_local, exchange);
    if (superstep->n_launches == 1)
        pti_remote_writes_to_owners(&transfers);
    transfers.failed = transfers.failed || !find_changes(superstep, &changes);
    for (int q = 0; q < superstep->n_members && !transfers.failed; q++)
        transfers.failed = !update_all_copies(superstep, &changes, q, copies);
    free_changes(&changes);
    return pti_transfers_end(&transfers);
}
