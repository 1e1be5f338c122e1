#include "access/footprint/call.h"
#include "distribute/exchange/joint_plan.h"

/* Members over one memory: who may use what others write there. */

/** Return whether a member touches elements of others. */
static bool is_across(const pti_ownership *ownership, int member, const pti_boxes *touched) {
    polytile_domain owned = pti_ownership_hull(ownership, member);
    bool is = touched->n_boxes > 0 && !pti_ownership_is_whole(ownership);
    for (int b = 0; b < touched->n_boxes && !is; b++)
        is = !pti_box_contains(&owned, &touched->box[b]);
    return is;
}

/** Return whether members may read elements of each other in host memory. */
static bool is_read_across(const pti_joint_request *request, int first, int n_local, int array) {
    const pti_ownership *ownership = &request->superstep->ownerships[array];
    bool is = !pti_ownership_is_whole(ownership);
    for (int q = first; q < first + n_local && !is; q++)
        is = is_across(ownership, q, &pti_joint_work_of(request, q)->reads[array]);
    return is;
}

/** Return whether members write elements of each other in host memory: their owners may still use
 * them. */
static bool is_written_across(const pti_joint_request *request, int first, int n_local, int array) {
    const pti_ownership *ownership = &request->superstep->ownerships[array];
    bool is = false;
    for (int q = first; q < first + n_local && request->is_shared[array] && !is; q++)
        is = is_across(ownership, q, &pti_joint_work_of(request, q)->writes[array]);
    return is;
}

static bool do_members_write(const pti_joint_request *request, int first, int n_local, int array) {
    bool is = false;
    for (int q = first; q < first + n_local && !is; q++)
        is = pti_joint_work_of(request, q)->writes[array].n_boxes > 0;
    return is;
}

static bool writes_across(const pti_joint_request *request, int first, int n_local) {
    bool writes = false;
    for (int a = 0; a < request->superstep->n_arrays && request->shares_memory && !writes; a++)
        writes = is_written_across(request, first, n_local, a);
    return writes;
}

bool pti_joint_waits_first(const pti_joint_request *request, int first, int n_local) {
    bool waits = writes_across(request, first, n_local);
    for (int a = 0; a < request->superstep->n_arrays && request->shares_memory && !waits; a++)
        waits = request->is_lent[a] && do_members_write(request, first, n_local, a);
    return waits;
}

int pti_joint_count_lent_ops(const pti_joint_request *request, int first, int n_local) {
    return pti_joint_waits_first(request, first, n_local) && !writes_across(request, first, n_local)
               ? 1
               : 0;
}

void pti_joint_lend(const pti_joint_request *request, int first, int n_local, bool *is_lent) {
    bool waits = pti_joint_waits_first(request, first, n_local);
    for (int a = 0; a < request->superstep->n_arrays && request->shares_memory; a++)
        is_lent[a] = request->is_shared[a] &&
                     ((is_lent[a] && !waits) || is_read_across(request, first, n_local, a));
}

/** Return whether any launch writes an array. */
static bool is_changed(const pti_superstep *superstep, int array) {
    bool is = false;
    for (int l = 0; l < superstep->n_launches; l++)
        is |= pti_call_writes(&superstep->launch[l].call, array);
    return is;
}

static bool splits_any(const pti_joint_request *request) {
    bool splits = false;
    for (int l = 0; l < request->superstep->n_launches; l++)
        splits |= request->parts->work[0].home[l].splits;
    return splits;
}

bool pti_joint_pulls(const pti_joint_request *request, int array) {
    return request->pulls && request->keeps && request->is_shared[array] &&
           request->parts->after.n_transfers == 0 && !splits_any(request) &&
           is_changed(request->superstep, array);
}

/** Return whether a member may have computed others' elements. What members of other processes
 * compute is not known here, so that whatever is written counts. */
static bool may_have_ghosts(const pti_joint_request *request, int array, int member) {
    const pti_superstep *superstep = request->superstep;
    return request->n_local < superstep->n_members
               ? is_changed(superstep, array)
               : is_across(&superstep->ownerships[array], member,
                           &pti_joint_work_of(request, member)->writes[array]);
}

void pti_joint_drop_ghosts(const pti_joint_request *request, pti_copies *copies) {
    const pti_superstep *superstep = request->superstep;
    for (int a = 0; a < superstep->n_arrays && request->shares_memory; a++)
        for (int q = 0; q < superstep->n_members && request->is_shared[a]; q++)
            if (may_have_ghosts(request, a, q) || pti_joint_pulls(request, a))
                pti_boxes_clear(pti_copies_get(copies, a, q));
}

/** Return whether a thread that runs twice would read what it wrote the first time. What it reduces
 * into, starting from the identity, it does not read. */
static bool rereads_results(const pti_joint_request *request, const pti_shared_launch *launch) {
    const pti_instance *instance = launch->call.instance;
    bool does = false;
    for (int w = 0; w < instance->n_operands; w++) {
        const pti_operand *written = &instance->operand[w];
        bool is_shared = written->writes && !(written->reduces && written->fresh) &&
                         request->is_shared[launch->call.array[w]];
        for (int r = 0; is_shared && r < instance->n_operands; r++)
            does |= instance->operand[r].reads && launch->call.array[r] == launch->call.array[w];
    }
    return does;
}

bool pti_joint_meets(const pti_joint_request *request) {
    const pti_superstep *superstep = request->superstep;
    if (!request->shares_memory)
        return false;
    return superstep->n_launches > 1 ||
           (rereads_results(request, superstep->launch) &&
            pti_home_repeats(request->parts->work[0].home, superstep->launch,
                             superstep->ownerships));
}
