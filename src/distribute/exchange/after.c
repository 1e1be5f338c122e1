#include "distribute/exchange/exchange.h"

#include "distribute/exchange/remote_writes.h"
#include "distribute/share/footprints.h"

#include <stdlib.h>

/* Copies of more boxes than that are not all remembered. */
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
            pti_footprint_gather(instance, p, PTI_WRITES, &threads, &boxes[p]);
        failed = failed || boxes[p].failed;
    }
    pti_boxes_free(&threads);
    return !failed;
}

static bool find_changes(const pti_group *group, change_table *changes) {
    for (int l = 0; l < group->n_launches; l++)
        changes->n += group->launch[l].instance->n_operands;
    changes->first = calloc((size_t)group->n_launches + 1, sizeof *changes->first);
    changes->boxes = calloc((size_t)changes->n + 1, sizeof *changes->boxes);
    bool found = changes->first != NULL && changes->boxes != NULL;
    for (int l = 0; found && l < group->n_launches; l++) {
        const pti_instance *instance = group->launch[l].instance;
        changes->first[l + 1] = changes->first[l] + instance->n_operands;
        found = find_launch_changes(instance, &changes->boxes[changes->first[l]]);
    }
    return found;
}

/* What a member wrote is the newest version, unless it knows but a part of what is reduced, or it
 * is not known what it wrote; everybody has what everybody computed, or what was combined. */
static void renew_copies(const pti_group *group, const change_table *changes, const pti_work *work,
                         int l, int operand, pti_boxes *extra) {
    const pti_instance *instance = group->launch[l].instance;
    const pti_operand *written = &instance->operand[operand];
    const pti_boxes *changed = &changes->boxes[changes->first[l] + operand];
    pti_boxes_subtract_all(extra, changed);
    if (work->share[l].operand < 0 ||
        pti_share_combines(&work->share[l], &group->launch[l], group->ownerships, operand))
        pti_boxes_unite(extra, changed, pti_boxes_gather);
    else if (!written->partial && !written->reduces)
        pti_footprint_gather(instance, operand, PTI_WRITES, &work->threads[l], extra);
}

/* Forgetting some is never wrong. */
static void limit_copies(pti_boxes *extra) {
    if (extra->n_boxes > MOST_BOXES)
        pti_boxes_merge(extra);
    if (extra->n_boxes > MOST_BOXES)
        extra->n_boxes = MOST_BOXES;
}

static bool renew_all(const pti_group *group, const change_table *changes, int member,
                      pti_copies *copies) {
    pti_work work;
    bool failed = !pti_work_create(group, member, &work);
    for (int l = 0; !failed && l < group->n_launches; l++) {
        const pti_shared_launch *launch = &group->launch[l];
        for (int p = 0; p < launch->instance->n_operands; p++) {
            pti_boxes *extra = pti_copies_get(copies, launch->array[p], member);
            if (!launch->instance->operand[p].writes)
                continue;
            renew_copies(group, changes, &work, l, p, extra);
            limit_copies(extra);
            failed = failed || extra->failed;
        }
    }
    pti_work_free(&work);
    return !failed;
}

bool pti_exchange_after(const pti_group *group, pti_copies *copies, int first, int n_local,
                        pti_exchange *exchange) {
    change_table changes = {0};
    pti_transfers transfers = pti_transfers_begin(group, first, n_local, exchange);
    if (group->n_launches == 1)
        pti_remote_writes_bring_home(&transfers);
    transfers.failed = transfers.failed || !find_changes(group, &changes);
    for (int q = 0; q < group->n_members && !transfers.failed; q++)
        transfers.failed = !renew_all(group, &changes, q, copies);
    free_changes(&changes);
    return pti_transfers_end(&transfers);
}
