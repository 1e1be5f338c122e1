#include "distribute/exchange/depth.h"
#include "distribute/exchange/interior.h"
#include "distribute/team/state.h"

#include <stdlib.h>
#include <string.h>

/** The launches of a group as their shares are found from. */
typedef struct launches {
    pti_shared_launch *launch;
    pti_group group;
} launches;

bool pti_team_shares_results(const pti_team *team, const pti_prepared *prepared) {
    bool shares = false;
    for (int a = 0; team->transport->shares_memory && a < prepared->n_arrays; a++)
        shares |= prepared->instance->operand[a].writes &&
                  team->array[prepared->position[a]].memory == PTI_TEAM_PROGRAMS;
    return shares;
}

/** runs_once: nobody may compute twice what goes to memory that others share. */
static bool find_launches(const pti_team *team, int at, bool runs_once, launches *of) {
    int n_launches = team->n_recorded - at;
    of->launch = calloc((size_t)n_launches, sizeof *of->launch);
    if (of->launch == NULL)
        return false;
    for (int l = 0; l < n_launches; l++) {
        const pti_prepared *prepared = team->recorded[at + l].prepared;
        of->launch[l] = (pti_shared_launch){prepared->instance, prepared->position,
                                            runs_once && pti_team_shares_results(team, prepared)};
    }
    of->group = (pti_group){.n_launches = n_launches,
                            .launch = of->launch,
                            .n_arrays = team->n_arrays,
                            .ownerships = team->ownership,
                            .n_members = team->transport->n_members};
    return true;
}

bool pti_team_fits(const pti_team *team, int local) {
    int64_t free_bytes = pti_queue_get_usable_bytes(team->member[local]);
    for (int p = 0; p < team->n_arrays; p++) {
        if (team->array[p].array != NULL)
            free_bytes -= pti_resident_padded(pti_team_expect_bytes(team, p, local));
    }
    return free_bytes >= 0;
}

/**
 * Where members' arrays lie over the same memory, what two of them compute must not reach it: it
 * stays on a device of its own, if there is one with room for everything. The access checker brings
 * home what it looks at.
 */
static bool may_compute_twice(const pti_team *team) {
    const pti_settings *settings = pti_get_settings(team->ctx);
    if (!team->transport->shares_memory)
        return true;
    if (team->is_shallow || settings->check_access || settings->check_wide)
        return false;
    for (int m = 0; m < team->transport->n_local; m++) {
        if (team->member[m]->device->reaches_host || !pti_team_fits(team, m))
            return false;
    }
    return true;
}

/** The most launches of a group: each is cut for its own threads, and those of two groups are
 * kept. */
enum { MOST_DEEP = PTI_MAX_PREPARED / 4 };

/** How many launches are the next group. */
static int find_depth(const pti_team *team, const pti_group *group) {
    int most = group->n_launches < MOST_DEEP ? group->n_launches : MOST_DEEP;
    if (team->options.most_steps > 0 && team->options.most_steps < most)
        most = (int)team->options.most_steps;
    return most > 1 && may_compute_twice(team) ? pti_group_depth(group, PTI_DEPTH_FRACTION, most)
                                               : 1;
}

static bool is_for(const pti_stage *stage, const pti_team *team, int at, int n_launches,
                   bool runs_once) {
    if (stage->begins != team->copies_id || stage->n_launches != n_launches ||
        stage->runs_once != runs_once)
        return false;
    for (int l = 0; l < n_launches; l++) {
        if (stage->serial[l] != team->recorded[at + l].prepared->serial)
            return false;
    }
    return true;
}

static void free_stage(pti_team *team, pti_stage *stage) {
    if (stage == NULL)
        return;
    for (int m = 0; stage->work != NULL && m < team->transport->n_local; m++)
        pti_work_free(&stage->work[m]);
    team->transport->functions->forget_route(team->transport, &stage->in);
    team->transport->functions->forget_route(team->transport, &stage->out);
    pti_exchange_free(&stage->before);
    pti_exchange_free(&stage->after);
    pti_copies_free(&stage->copies);
    free(stage->work);
    free(stage->inner);
    free(stage->serial);
    free(stage);
}

void pti_team_forget_stages(pti_team *team) {
    while (team->stages != NULL) {
        pti_stage *stage = team->stages;
        team->stages = stage->next;
        free_stage(team, stage);
    }
    team->n_stages = 0;
}

void pti_team_forget_routes(pti_team *team) {
    for (pti_stage *stage = team->stages; stage != NULL; stage = stage->next) {
        team->transport->functions->forget_route(team->transport, &stage->in);
        team->transport->functions->forget_route(team->transport, &stage->out);
    }
}

void pti_team_touch_copies(pti_team *team) {
    team->copies_id = ++team->n_copies_ids;
}

static bool same_copies(const pti_copies *one, const pti_copies *other) {
    bool is_same = one->n_arrays == other->n_arrays;
    for (int k = 0; is_same && k < one->n_arrays * one->n_members; k++)
        is_same = pti_boxes_are_alike(&one->extra[k], &other->extra[k]);
    return is_same;
}

/** The number of copies that other stages leave, too, or a new one. */
static int64_t number_copies(pti_team *team, const pti_copies *copies) {
    for (const pti_stage *stage = team->stages; stage != NULL; stage = stage->next) {
        if (same_copies(&stage->copies, copies))
            return stage->ends;
    }
    return ++team->n_copies_ids;
}

static bool copy_copies(const pti_copies *from, pti_copies *to) {
    bool has_failed = !pti_copies_create(from->n_arrays, from->n_members, to);
    for (int k = 0; !has_failed && k < from->n_arrays * from->n_members; k++) {
        pti_boxes_copy(&to->extra[k], &from->extra[k]);
        has_failed = to->extra[k].failed;
    }
    return !has_failed;
}

/** What members combine, all of them have afterwards. */
static bool note_combined(const pti_group *group, const pti_work *work, pti_copies *copies) {
    int last = group->n_launches - 1;
    const pti_shared_launch *launch = &group->launch[last];
    bool has_failed = false;
    for (int a = 0; work->share[last].splits && a < launch->instance->n_operands; a++) {
        polytile_domain hull;
        if (!pti_share_combines(&work->share[last], launch, group->ownerships, a) ||
            !pti_footprint_find_hull(launch->instance, a, PTI_WRITES, &launch->instance->threads,
                                     &hull))
            continue;
        for (int m = 0; m < group->n_members; m++) {
            pti_boxes *extra = &copies->extra[launch->array[a] * group->n_members + m];
            pti_boxes_add(extra, &hull);
            has_failed |= extra->failed;
        }
    }
    return !has_failed;
}

/** Whether a member writes elements of others. */
static bool writes_across(const pti_team *team, const pti_work *work, int position, int member) {
    polytile_domain owned = pti_ownership_hull(&team->ownership[position], member);
    const pti_boxes *writes = &work->writes[position];
    bool is_across = writes->n_boxes > 0 && !pti_ownership_is_whole(&team->ownership[position]);
    for (int b = 0; b < writes->n_boxes && !is_across; b++)
        is_across = !pti_box_contains(&owned, &writes->box[b]);
    return is_across;
}

/**
 * What several members computed of the same memory stays with their devices, and is no longer there
 * after the group.
 */
static void drop_halos(const pti_team *team, const pti_group *group, pti_stage *stage) {
    if (!team->transport->shares_memory)
        return;
    for (int p = 0; p < team->n_arrays; p++) {
        for (int m = 0; m < group->n_members && team->array[p].memory == PTI_TEAM_PROGRAMS; m++) {
            if (writes_across(team, &stage->work[m], p, m))
                pti_boxes_clear(&stage->copies.extra[p * group->n_members + m]);
        }
    }
}

static bool is_received(const pti_stage *stage, int array) {
    bool is = false;
    for (int t = 0; t < stage->before.n_transfers; t++)
        is |= stage->before.transfer[t].array == array;
    return is;
}

/** Whether threads that several members run write what these send each other before: it must not
 * be on its way any more. What an owner reduces for all is nothing to the others. */
static bool writes_received(const pti_group *group, const pti_stage *stage) {
    const pti_shared_launch *launch = group->launch;
    const pti_share *share = &stage->work[0].share[0];
    bool does = false;
    for (int a = 0; a < launch->instance->n_operands; a++) {
        const pti_operand *operand = &launch->instance->operand[a];
        does |= operand->writes && !(operand->reduces && share->widens) &&
                is_received(stage, launch->array[a]);
    }
    return does && pti_share_repeats(share, launch, group->ownerships);
}

static void find_interiors(pti_team *team, const pti_group *group, pti_stage *stage) {
    bool has_interiors =
        group->n_launches == 1 && !stage->work[0].share[0].splits && !writes_received(group, stage);
    for (int m = 0; m < team->transport->n_local; m++) {
        const pti_boxes *threads = &stage->work[m].threads[0];
        stage->inner[m] = (polytile_domain){0};
        if (has_interiors && threads->n_boxes == 1)
            stage->inner[m] = pti_interior_of(&group->launch[0], &stage->before,
                                              team->transport->first + m, &threads->box[0]);
    }
}

static bool fill_stage(pti_team *team, int at, const pti_group *group, pti_stage *stage) {
    pti_transport *transport = team->transport;
    int first = transport->first, n_local = transport->n_local;
    stage->n_launches = group->n_launches;
    stage->begins = team->copies_id;
    stage->serial = calloc((size_t)group->n_launches, sizeof *stage->serial);
    stage->work = calloc((size_t)n_local, sizeof *stage->work);
    stage->inner = calloc((size_t)n_local, sizeof *stage->inner);
    if (stage->serial == NULL || stage->work == NULL || stage->inner == NULL)
        return false;
    for (int l = 0; l < group->n_launches; l++)
        stage->serial[l] = team->recorded[at + l].prepared->serial;
    for (int m = 0; m < n_local; m++) {
        if (!pti_work_create(group, first + m, &stage->work[m]))
            return false;
    }
    if (!copy_copies(&team->copies, &stage->copies) ||
        !pti_exchange_before(group, &stage->copies, first, n_local, &stage->before) ||
        !pti_exchange_after(group, &stage->copies, first, n_local, &stage->after) ||
        !note_combined(group, &stage->work[0], &stage->copies))
        return false;
    drop_halos(team, group, stage);
    stage->meets = pti_team_meets(team, group, stage->work[0].share);
    find_interiors(team, group, stage);
    stage->ends = number_copies(team, &stage->copies);
    return true;
}

/** The stage that was not used for longest goes. */
static void make_room(pti_team *team) {
    pti_stage **last = &team->stages;
    if (team->n_stages < PTI_TEAM_STAGES)
        return;
    while ((*last)->next != NULL)
        last = &(*last)->next;
    free_stage(team, *last);
    *last = NULL;
    team->n_stages--;
}

static void keep(pti_team *team, pti_stage *stage) {
    make_room(team);
    stage->in = (pti_route){&stage->before, team->reached, team->n_arrays, NULL};
    stage->out = (pti_route){&stage->after, team->reached, team->n_arrays, NULL};
    stage->next = team->stages;
    team->stages = stage;
    team->n_stages++;
}

static pti_stage *find_kept(pti_team *team, int at, int n_launches, bool runs_once) {
    pti_stage **stage = &team->stages;
    while (*stage != NULL && !is_for(*stage, team, at, n_launches, runs_once))
        stage = &(*stage)->next;
    pti_stage *found = *stage;
    if (found == NULL)
        return NULL;
    *stage = found->next;
    found->next = team->stages;
    team->stages = found;
    return found;
}

static pti_stage *make_stage(pti_team *team, int at, const pti_group *group, bool runs_once) {
    pti_stage *stage = calloc(1, sizeof *stage);
    if (stage == NULL)
        return NULL;
    stage->runs_once = runs_once;
    if (!fill_stage(team, at, group, stage)) {
        free_stage(team, stage);
        return NULL;
    }
    keep(team, stage);
    return stage;
}

pti_stage *pti_team_find_stage(pti_team *team, int at, bool *is_new) {
    launches of;
    pti_stage *stage = NULL;
    bool runs_once = !may_compute_twice(team);
    *is_new = true;
    if (!find_launches(team, at, runs_once, &of))
        return NULL;
    of.group.n_launches = find_depth(team, &of.group);
    stage = find_kept(team, at, of.group.n_launches, runs_once);
    *is_new = stage == NULL;
    if (stage == NULL)
        stage = make_stage(team, at, &of.group, runs_once);
    free(of.launch);
    return stage;
}
