#include "distribute/members/prepared_superstep.h"

#include "base/checked.h"
#include "base/mix.h"
#include "distribute/exchange/interior.h"
#include "distribute/members/member_array.h"
#include "distribute/members/peers.h"

#include <stdlib.h>
#include <string.h>

/** The launches of which the next superstep consists, as those see them that cut it. */
typedef struct known_launches {
    pti_shared_launch launch[PTI_SUPERSTEP_LAUNCHES];
    pti_superstep superstep;
} known_launches;

pti_shared_launch pti_group_shared_launch(const pti_group *group, const pti_prepared *prepared,
                                          bool runs_once) {
    const pti_call call = pti_prepared_call(prepared);
    const bool shares = runs_once && pti_superstep_shares_results(&call, group->is_shared);
    return (pti_shared_launch){.call = call, .runs_once = prepared->instance->is_team || shares};
}

void pti_group_list_launches(const pti_group *group, int at, int n_launches, bool runs_once,
                             pti_shared_launch *launch) {
    for (int l = 0; l < n_launches; l++)
        launch[l] = pti_group_shared_launch(group, group->recorded[at + l].prepared, runs_once);
}

bool pti_group_fits(const pti_group *group, int local) {
    int64_t free_bytes = pti_queue_get_usable_bytes(group->member[local]);
    for (int p = 0; p < group->n_arrays && free_bytes >= 0; p++) {
        if (group->array[p].array != NULL)
            free_bytes -= pti_resident_padded(pti_group_expect_bytes(group, p, local));
    }
    return free_bytes >= 0;
}

/**
 * Where members' arrays lie over the same memory, what two of them compute must not reach it: that
 * needs devices with memory of their own and room for everything, and no access check, which brings
 * to the host what it looks at. Other processes do not know that of this one's devices.
 */
static bool may_compute_twice(const pti_group *group) {
    const pti_settings *settings = pti_get_settings(group->ctx);
    if (!group->transport->shares_memory)
        return true;
    if (!pti_transport_is_alone(group->transport))
        return false;
    if (group->is_shallow || settings->check_access || settings->check_wide)
        return false;
    for (int m = 0; m < group->transport->n_local; m++) {
        if (group->member[m]->device->reaches_host || !pti_group_fits(group, m))
            return false;
    }
    return true;
}

/** Recorded launches that may be of one superstep: a team kernel is alone in its own. */
static int count_known_launches(const pti_group *group, int at) {
    const int most = (int)pti_min(group->n_recorded - at, PTI_SUPERSTEP_LAUNCHES);
    int n = 1;
    while (n < most && group->recorded[at].server == NULL && group->recorded[at + n].server == NULL)
        n++;
    return n;
}

/** List the launches that the next superstep may have. Returns whether no two members may compute
 * the same. */
static bool list_known_launches(const pti_group *group, int at, known_launches *of) {
    const int n_launches = count_known_launches(group, at);
    pti_group_list_launches(group, at, n_launches, false, of->launch);
    of->superstep = (pti_superstep){.n_launches = n_launches,
                                    .launch = of->launch,
                                    .n_arrays = group->n_arrays,
                                    .ownerships = group->ownership,
                                    .n_members = group->transport->n_members};
    bool runs_once = pti_superstep_has_scratch(&of->superstep) || !may_compute_twice(group);
    pti_group_list_launches(group, at, n_launches, runs_once, of->launch);
    return runs_once;
}

static bool is_for_launches(const pti_prepared_superstep *prepared, const pti_group *group, int at,
                            int n_launches, bool runs_once) {
    if (prepared->begins != group->copies_id || prepared->n_launches != n_launches ||
        prepared->runs_once != runs_once)
        return false;
    for (int l = 0; l < n_launches; l++) {
        if (prepared->serial[l] != group->recorded[at + l].prepared->serial)
            return false;
    }
    return true;
}

/** The number of the copies if another superstep leaves the same, else a new one. */
static int64_t number_copies(pti_group *group, const pti_copies *copies) {
    for (const pti_prepared_superstep *prepared = group->prepared_supersteps; prepared != NULL;
         prepared = prepared->next) {
        if (pti_copies_are_alike(&prepared->copies, copies))
            return prepared->ends;
    }
    return ++group->n_copies_ids;
}

/** Return whether members pull any array. */
static bool pulls_any(const pti_joint_request *request) {
    bool pulls = false;
    for (int a = 0; a < request->superstep->n_arrays && !pulls; a++)
        pulls = request->parts->before.n_transfers > 0 && pti_joint_pulls(request, a);
    return pulls;
}

/** List what it does with pulls, and without. */
static bool list_both(const pti_group *group, pti_joint_request *request,
                      pti_prepared_superstep *prepared) {
    const int first = group->transport->first, n_local = group->transport->n_local;
    if (pulls_any(request) && !pti_joint_plan_list(request, first, n_local, &prepared->pull_list))
        return false;
    request->pulls = false;
    return pti_joint_plan_list(request, first, n_local, &prepared->list);
}

/** List what this process does, as if all was lent that may be. */
static bool list_operations(const pti_group *group, pti_joint_request *request,
                            pti_prepared_superstep *prepared) {
    const int first = group->transport->first, n_local = group->transport->n_local;
    polytile_domain *inner = calloc((size_t)n_local, sizeof *inner);
    if (inner == NULL)
        return false;
    pti_interiors_find(request->superstep, request->parts, request->is_shared, first, n_local,
                       inner);
    request->inner = inner;
    request->is_lent = group->is_shared;
    bool is_listed = list_both(group, request, prepared);
    prepared->n_lent_ops = pti_joint_count_lent_ops(request, first, n_local);
    free(inner);
    return is_listed;
}

/** Cut a superstep for the members, and list what this process does. */
static bool fill_prepared_superstep(pti_group *group, int at, const pti_superstep *superstep,
                                    pti_prepared_superstep *prepared) {
    int n_local = group->transport->n_local;
    prepared->n_launches = superstep->n_launches;
    prepared->begins = group->copies_id;
    prepared->serial = calloc((size_t)superstep->n_launches, sizeof *prepared->serial);
    if (prepared->serial == NULL)
        return false;
    for (int l = 0; l < superstep->n_launches; l++)
        prepared->serial[l] = group->recorded[at + l].prepared->serial;
    if (!pti_copies_create(group->n_arrays, group->transport->n_members, &prepared->copies) ||
        !pti_copies_assign(&prepared->copies, &group->copies) ||
        !pti_superstep_cut(superstep, group->transport->first, n_local, &prepared->copies,
                           &prepared->parts))
        return false;
    pti_joint_request request = pti_group_joint_request(
        group, superstep, &prepared->parts, prepared->runs_once, pti_group_are_all_linked(group));
    pti_joint_drop_ghosts(&request, &prepared->copies);
    prepared->meets = request.meets = pti_joint_meets(&request);
    prepared->ends = number_copies(group, &prepared->copies);
    return list_operations(group, &request, prepared);
}

/** Evict the superstep that was not used for longest. */
static void evict_oldest_superstep(pti_group *group) {
    pti_prepared_superstep **last = &group->prepared_supersteps;
    if (group->n_prepared_supersteps < PTI_GROUP_PREPARED_SUPERSTEPS)
        return;
    while ((*last)->next != NULL)
        last = &(*last)->next;
    pti_group_free_prepared(group, *last);
    *last = NULL;
    group->n_prepared_supersteps--;
}

static void keep_prepared_superstep(pti_group *group, pti_prepared_superstep *prepared) {
    evict_oldest_superstep(group);
    prepared->messages = (pti_messages){.list = &prepared->list, .arrays = group->member_arrays};
    prepared->next = group->prepared_supersteps;
    group->prepared_supersteps = prepared;
    group->n_prepared_supersteps++;
}

static pti_prepared_superstep *find_among_prepared(pti_group *group, int at, int n_launches,
                                                   bool runs_once) {
    pti_prepared_superstep **prepared = &group->prepared_supersteps;
    while (*prepared != NULL && !is_for_launches(*prepared, group, at, n_launches, runs_once))
        prepared = &(*prepared)->next;
    pti_prepared_superstep *found = *prepared;
    if (found == NULL)
        return NULL;
    *prepared = found->next;
    found->next = group->prepared_supersteps;
    group->prepared_supersteps = found;
    return found;
}

static pti_prepared_superstep *
make_prepared_superstep(pti_group *group, int at, const pti_superstep *superstep, bool runs_once) {
    pti_prepared_superstep *prepared = calloc(1, sizeof *prepared);
    if (prepared == NULL)
        return NULL;
    prepared->runs_once = runs_once;
    if (!fill_prepared_superstep(group, at, superstep, prepared)) {
        pti_group_free_prepared(group, prepared);
        return NULL;
    }
    keep_prepared_superstep(group, prepared);
    return prepared;
}

/** Return whether a local member's device has all arrays whole that the superstep touches, and all
 * that launches before it did. */
static bool has_member_all(const pti_group *group, const pti_prepared_superstep *prepared,
                           int local) {
    const pti_work *work = &prepared->parts.work[local];
    bool has = pti_queue_keeps_all(group->member[local]);
    for (int p = 0; p < work->n_arrays && has; p++) {
        const polytile_array *array =
            pti_work_touches(work, p) ? group->array[p].member[local] : NULL;
        has = array == NULL ? !pti_work_touches(work, p)
                            : pti_queue_has_whole(group->member[local], array);
    }
    return has;
}

static bool have_members_all(const pti_group *group, const pti_prepared_superstep *prepared) {
    bool have = true;
    for (int m = 0; m < group->transport->n_local && have; m++)
        have = has_member_all(group, prepared, m);
    return have;
}

static void wait_for_members(const pti_group *group) {
    for (int m = 0; m < group->transport->n_local; m++)
        pti_queue_wait_for(group->member[m], PTI_WANT_ALL, 0, NULL);
}

const pti_joint_list *pti_group_choose_list(const pti_group *group,
                                            const pti_prepared_superstep *prepared, bool may_wait) {
    if (prepared->pull_list.n_ops == 0 || !pti_transport_is_alone(group->transport))
        return &prepared->list;
    bool pulls = have_members_all(group, prepared);
    if (!pulls && may_wait) {
        wait_for_members(group);
        pulls = have_members_all(group, prepared);
    }
    return pulls ? &prepared->pull_list : &prepared->list;
}

/* How many launches become a superstep. */

/** The name by which a depth is known: a hash of the launches that decide it. are_all: no more are
 * known. */
static uint64_t name_depth(uint64_t hash, int n_launches, bool are_all) {
    return pti_mix(hash, are_all ? -n_launches : n_launches);
}

static uint64_t hash_launches(const pti_group *group, int at, int n_launches, bool runs_once) {
    uint64_t hash = pti_mix(runs_once, 0);
    for (int l = 0; l < n_launches; l++)
        hash = pti_mix(hash, group->recorded[at + l].prepared->serial);
    return hash;
}

/** How many launches decide a depth: it is found by doubling, up to twice as many. */
static int count_deciding(int depth) {
    int n = 2;
    while (n < 2 * depth)
        n *= 2;
    return n;
}

/** Return the depth that is known under a name; 0: it is new. */
static int look_up_depth(const pti_known_depths *known, uint64_t name) {
    int k = 0;
    while (k < PTI_GROUP_KNOWN_DEPTHS && (known->at[k].depth == 0 || known->at[k].name != name))
        k++;
    return k < PTI_GROUP_KNOWN_DEPTHS ? known->at[k].depth : 0;
}

/** The depth of a superstep that began with the same launches, however many came after those that
 * decided it; 0: it is new. */
static int find_known_depth(const pti_group *group, int at, int n_launches, bool runs_once) {
    uint64_t hash = pti_mix(runs_once, 0);
    int depth = 0;
    for (int l = 0, next = 2; l < n_launches && depth == 0; l++) {
        const bool are_all = l + 1 == n_launches;
        hash = pti_mix(hash, group->recorded[at + l].prepared->serial);
        if (are_all || l + 1 == next)
            depth = look_up_depth(&group->depths, name_depth(hash, l + 1, are_all));
        next *= l + 1 == next ? 2 : 1;
    }
    return depth;
}

static void keep_depth(pti_group *group, int at, int n_launches, bool runs_once, int depth) {
    pti_known_depths *known = &group->depths;
    const bool are_all = count_deciding(depth) >= n_launches;
    const int n = are_all ? n_launches : count_deciding(depth);
    known->at[known->n_found].name = name_depth(hash_launches(group, at, n, runs_once), n, are_all);
    known->at[known->n_found].depth = depth;
    known->n_found = (known->n_found + 1) % PTI_GROUP_KNOWN_DEPTHS;
}

/** Shorten launches to the next superstep, of none when memory runs out. */
static void find_next(pti_group *group, int at, bool runs_once, pti_superstep *next, bool *is_new) {
    const pti_superstep_limits limits = {.most_launches = group->options.most_launches,
                                         .runs_once = runs_once,
                                         .sends = !pti_transport_is_alone(group->transport),
                                         .keeps = group->transport->shares_memory};
    const int n_launches = next->n_launches;
    const int depth = find_known_depth(group, at, n_launches, runs_once);
    *is_new = depth == 0;
    if (*is_new)
        *next = pti_superstep_next(next, &limits);
    else
        next->n_launches = depth;
    if (*is_new && next->n_launches > 0)
        keep_depth(group, at, n_launches, runs_once, next->n_launches);
}

pti_prepared_superstep *pti_group_find_prepared(pti_group *group, int at, bool *is_new) {
    known_launches of;
    const bool runs_once = list_known_launches(group, at, &of);
    find_next(group, at, runs_once, &of.superstep, is_new);
    if (of.superstep.n_launches == 0)
        return NULL;
    pti_prepared_superstep *prepared =
        find_among_prepared(group, at, of.superstep.n_launches, runs_once);
    if (prepared != NULL)
        return prepared;
    *is_new = true;
    return make_prepared_superstep(group, at, &of.superstep, runs_once);
}
