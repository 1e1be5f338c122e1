#include "base/text.h"
#include "distribute/enclose.h"
#include "distribute/pool.h"
#include "distribute/team_state.h"
#include "queue/failure.h"

#include <stdlib.h>
#include <time.h>

/* Launches whose pieces members take from a pool: each the next one when it is done with one.
 *
 * All that such a launch touches is in the memory that members share, in its newest version,
 * before it and after it: what a member computed it brings home at once, and others forget what
 * they had of it. So ownership says nothing about such launches, nor do they change who has what.
 */

enum { NOBODY = -1 };

/** One launch while it runs. */
typedef struct pooled {
    pti_team *team;
    const pti_recorded *recorded;
    pti_pool pool;
    int *taken_by;       /* of each piece: the local member; owned, as all below */
    int64_t *last_item;  /* of each member: the number of the last item of its last piece, */
    int64_t *prior_item; /* and of the one before */
    int n_taken;
} pooled;

/* Whether it can be done. */

static const pti_team_array *array_of(const pti_team *team, const pti_prepared *prepared,
                                      int operand) {
    return &team->array[prepared->position[operand]];
}

/** What a launch touches of an operand, and what lies between. */
static polytile_domain find_touched(const pti_prepared *prepared, int operand) {
    return pti_enclose(&prepared->touched[operand], &prepared->touched[operand]);
}

/** What a member has neither as an owner nor as a copy of all that a launch touches of an
 * operand. If no member lacks anything, the host's memory has the newest version of all of it. */
static void find_lacking(const pti_team *team, const pti_prepared *prepared, int operand,
                         int member, pti_boxes *lacks) {
    int position = prepared->position[operand];
    polytile_domain touched = find_touched(prepared, operand);
    pti_boxes owned = {0};
    pti_boxes_clear(lacks);
    if (!pti_box_is_empty(&touched))
        pti_boxes_append(lacks, &touched);
    pti_ownership_boxes(&team->ownership[position], member, &owned);
    pti_boxes_subtract_all(lacks, &owned);
    pti_boxes_subtract_all(lacks, pti_copies_get(&team->copies, position, member));
    lacks->failed |= owned.failed;
    pti_boxes_free(&owned);
}

static polytile_status fail_memory(const pti_team *team, const pti_prepared *prepared) {
    return pti_fail_memory(team->ctx, prepared->instance->kernel_name, sizeof(polytile_domain));
}

static polytile_status find_at_home(const pti_team *team, const pti_prepared *prepared,
                                    bool *is_home) {
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    *is_home = true;
    for (int a = 0; a < prepared->n_arrays && *is_home; a++) {
        for (int m = 0; m < team->transport->n_members && *is_home; m++) {
            find_lacking(team, prepared, a, m, &lacks);
            *is_home = lacks.n_boxes == 0;
            if (lacks.failed)
                PTI_TRY(fail_memory(team, prepared));
        }
    }
done:
    pti_boxes_free(&lacks);
    return status;
}

static bool uses(const pti_prepared *prepared, int position) {
    bool does = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        does |= prepared->position[a] == position;
    return does;
}

/** Whether a later launch uses what one writes. */
static bool is_used_again(const pti_team *team, int at) {
    const pti_prepared *prepared = team->recorded[at].prepared;
    bool is_used = false;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int k = at + 1; prepared->instance->operand[a].writes && k < team->n_recorded; k++)
            is_used |= uses(team->recorded[k].prepared, prepared->position[a]);
    }
    return is_used;
}

/** Whether what a member owns of all arrays fits its device. */
static bool fits_share(const pti_team *team, int local) {
    int64_t free_bytes = pti_queue_get_usable_bytes(team->member[local]);
    for (int p = 0; p < team->n_arrays && free_bytes >= 0; p++) {
        const polytile_array *array = team->array[p].array;
        if (array == NULL)
            continue;
        polytile_domain owned = pti_ownership_hull(&team->ownership[p], local);
        if (!pti_box_is_empty(&owned))
            free_bytes -=
                pti_resident_padded(pti_layout_of(&owned, array->element_bytes).size_bytes);
    }
    return free_bytes >= 0;
}

/** Whether there is memory of devices, and all arrays fit it in shares. */
static bool could_stay(const pti_team *team) {
    bool has_memory = false, fits = true;
    for (int m = 0; m < team->transport->n_local; m++) {
        bool is_in_place = team->member[m]->device->reaches_host;
        has_memory |= !is_in_place;
        fits &= is_in_place || fits_share(team, m);
    }
    return has_memory && fits;
}

static bool has_internal(const pti_team *team, const pti_prepared *prepared) {
    bool has = false;
    for (int a = 0; a < prepared->n_arrays; a++)
        has |= array_of(team, prepared, a)->memory != PTI_TEAM_PROGRAMS;
    return has;
}

/** Whether every member can run pieces, wherever they are. */
static polytile_status find_room(const pti_team *team, const pti_prepared *prepared,
                                 bool *has_room) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < team->transport->n_local && status == POLYTILE_OK; m++)
        status = pti_team_check_box(team, prepared, m, &prepared->instance->threads);
    *has_room = status == POLYTILE_OK;
    if (status != POLYTILE_NO_FIT)
        return status;
    pti_clear_error(team->ctx);
    return POLYTILE_OK;
}

/** *why stays NULL if a launch may be pooled, whether or not it can be cut. */
static polytile_status find_why_not(const pti_team *team, int at, const char **why) {
    const pti_prepared *prepared = team->recorded[at].prepared;
    polytile_status status;
    bool is_home = true, has_room;
    PTI_TRY(find_room(team, prepared, &has_room));
    *why = has_internal(team, prepared) ? "an internal array lies with the devices"
           : !has_room                  ? "a device has no room for it"
                                        : NULL;
    if (*why != NULL || !could_stay(team))
        return POLYTILE_OK;
    PTI_TRY(find_at_home(team, prepared, &is_home));
    *why = !is_home                  ? "what it uses lies with the devices, and fits them"
           : is_used_again(team, at) ? "what it writes is used again, and fits the devices"
                                     : NULL;
done:
    return status;
}

/** The array's domains; of those that are written only the rows that are. */
static polytile_domain *find_domains(const pti_team *team, const pti_prepared *prepared) {
    polytile_domain *domains = calloc((size_t)team->n_arrays + 1, sizeof *domains);
    for (int p = 0; domains != NULL && p < team->n_arrays; p++) {
        if (team->array[p].array != NULL)
            domains[p] = team->array[p].array->domain;
    }
    for (int a = 0; domains != NULL && a < prepared->n_arrays; a++) {
        const polytile_domain *written = &prepared->written[a];
        if (!pti_box_is_empty(written))
            domains[prepared->position[a]].range[0] =
                (polytile_range){written->range[0].lo, written->range[0].hi, 1};
    }
    return domains;
}

static pti_pool_obstacle cut(const pti_team *team, const pti_prepared *prepared, pti_pool *pool) {
    const pti_shared_launch launch = {
        .instance = prepared->instance, .array = prepared->position, .runs_once = true};
    polytile_domain *domains = find_domains(team, prepared);
    *pool = (pti_pool){0};
    pti_pool_obstacle obstacle =
        domains == NULL ? PTI_POOL_NO_MEMORY
                        : pti_pool_cut(&launch, domains, team->n_arrays,
                                       PTI_POOL_PIECES * team->transport->n_local, pool);
    free(domains);
    return obstacle;
}

/* Running it. */

static void free_pooled(pooled *of) {
    pti_pool_free(&of->pool);
    free(of->taken_by);
    free(of->last_item);
    free(of->prior_item);
}

static polytile_status make_pooled(pooled *of) {
    size_t n_pieces = (size_t)of->pool.n_pieces, n_local = (size_t)of->team->transport->n_local;
    of->taken_by = calloc(n_pieces + 1, sizeof *of->taken_by);
    of->last_item = calloc(n_local, sizeof *of->last_item);
    of->prior_item = calloc(n_local, sizeof *of->prior_item);
    if (of->taken_by == NULL || of->last_item == NULL || of->prior_item == NULL)
        return pti_fail_memory(of->team->ctx, of->recorded->prepared->instance->kernel_name,
                               (double)n_pieces * (double)sizeof *of->taken_by);
    for (size_t p = 0; p < n_pieces; p++)
        of->taken_by[p] = NOBODY;
    return POLYTILE_OK;
}

/** Every member is done, whatever fails; the first failure. */
static polytile_status wait_for_members(const pooled *of, polytile_status status) {
    char *text = pti_error_keep(of->team->queue, status);
    for (int m = 0; m < of->team->transport->n_local; m++) {
        polytile_status ended = polytile_queue_wait(of->team->member[m]);
        if (status != POLYTILE_OK || ended == POLYTILE_OK)
            continue;
        status = ended;
        text = pti_error_keep(of->team->queue, status);
    }
    pti_error_restore(of->team->queue, status, text);
    return status;
}

/** Each member has an array over all that any piece touches. */
static polytile_status reach_all(const pooled *of) {
    const pti_prepared *prepared = of->recorded->prepared;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < of->team->transport->n_local; m++) {
        for (int a = 0; a < prepared->n_arrays; a++)
            PTI_TRY(pti_team_reach(of->team, prepared->position[a], m, &prepared->touched[a]));
    }
done:
    return status;
}

/** Add what a piece writes of an operand. */
static void add_written(const pooled *of, int piece, int operand, pti_boxes *written) {
    const pti_boxes *threads = &of->pool.threads[piece];
    pti_boxes boxes = {0};
    for (int t = 0; t < threads->n_boxes; t++) {
        pti_footprint_boxes(of->recorded->prepared->instance, operand, PTI_WRITES, &threads->box[t],
                            PTI_MAX_WRITE_BOXES, &boxes);
        for (int b = 0; b < boxes.n_boxes; b++)
            pti_boxes_append(written, &boxes.box[b]);
        written->failed |= boxes.failed;
    }
    pti_boxes_free(&boxes);
}

static polytile_array *member_array(const pooled *of, int operand, int local) {
    int position = of->recorded->prepared->position[operand];
    return of->team->array[position].member[local];
}

typedef polytile_status tell(polytile_queue *queue, polytile_array *array, const pti_boxes *boxes);

/** Tell a member of what some pieces write: those that a member took, or all others did. */
static polytile_status tell_written(const pooled *of, int local, int first, int end, bool of_others,
                                    tell *told) {
    const pti_prepared *prepared = of->recorded->prepared;
    pti_boxes written = {0};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (!prepared->instance->operand[a].writes)
            continue;
        pti_boxes_clear(&written);
        for (int p = first; p < end; p++) {
            if ((of->taken_by[p] != local) == of_others)
                add_written(of, p, a, &written);
        }
        if (written.failed)
            PTI_TRY(pti_fail_memory(of->team->ctx, prepared->instance->operand[a].name,
                                    sizeof *written.box));
        if (written.n_boxes > 0)
            PTI_TRY(told(of->team->member[local], member_array(of, a, local), &written));
    }
done:
    pti_boxes_free(&written);
    return status;
}

/** What others computed, or what failed, is newer at home than on a member's device. */
static polytile_status renew_all(const pooled *of) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < of->team->transport->n_local; m++)
        PTI_TRY(tell_written(of, m, 0, of->pool.n_pieces, true, pti_queue_renew));
done:
    return status;
}

/** Its results come home with it. */
static polytile_status queue_piece(pooled *of, int piece, int local) {
    const pti_boxes *threads = &of->pool.threads[piece];
    polytile_status status = POLYTILE_OK;
    for (int b = 0; b < threads->n_boxes; b++)
        PTI_TRY(pti_team_launch_box(of->team, of->recorded, local, &threads->box[b]));
    PTI_TRY(tell_written(of, local, piece, piece + 1, false, pti_queue_fetch));
done:
    return status;
}

static polytile_status take_piece(pooled *of, int local) {
    polytile_queue *member = of->team->member[local];
    int piece = of->n_taken++;
    of->taken_by[piece] = local;
    polytile_queue_pause(member);
    polytile_status status = queue_piece(of, piece, local);
    polytile_queue_resume(member);
    of->prior_item[local] = of->last_item[local];
    pthread_mutex_lock(&member->mutex);
    of->last_item[local] = member->n_queued;
    pthread_mutex_unlock(&member->mutex);
    return status;
}

/** What a member is about. */
typedef enum state { BUSY, HUNGRY, FAILED } state;

/** A device with memory of its own has a second piece ready while it runs one. */
static state find_state(const pooled *of, int local) {
    polytile_queue *member = of->team->member[local];
    pthread_mutex_lock(&member->mutex);
    int64_t n_done = member->n_queued - member->n_left;
    bool has_failed = member->status != POLYTILE_OK;
    pthread_mutex_unlock(&member->mutex);
    int64_t needed = member->device->reaches_host ? of->last_item[local] : of->prior_item[local];
    return has_failed ? FAILED : n_done >= needed ? HUNGRY : BUSY;
}

/** One piece for each member that is out of work; whether there was any, or a failure. */
static polytile_status feed(pooled *of, bool *is_anyone_hungry, bool *has_failed) {
    polytile_status status = POLYTILE_OK;
    *is_anyone_hungry = false;
    for (int m = 0; m < of->team->transport->n_local && of->n_taken < of->pool.n_pieces; m++) {
        state is = find_state(of, m);
        *has_failed |= is == FAILED;
        if (is != HUNGRY || *has_failed)
            continue;
        *is_anyone_hungry = true;
        PTI_TRY(take_piece(of, m));
    }
done:
    return status;
}

/** Between two looks at who is done. */
static const struct timespec nap = {.tv_nsec = 50000};

static polytile_status hand_out(pooled *of) {
    bool is_anyone_hungry, has_failed = false;
    polytile_status status = POLYTILE_OK;
    while (of->n_taken < of->pool.n_pieces && !has_failed) {
        PTI_TRY(feed(of, &is_anyone_hungry, &has_failed));
        if (!is_anyone_hungry)
            nanosleep(&nap, NULL);
    }
done:
    return status;
}

/** After a failure nobody keeps anything of what was to be written. */
static void give_up_all(pooled *of) {
    for (int p = 0; p < of->pool.n_pieces; p++)
        of->taken_by[p] = NOBODY;
}

static polytile_status run_pieces(pooled *of) {
    polytile_status status = wait_for_members(of, hand_out(of));
    if (status != POLYTILE_OK)
        give_up_all(of);
    char *text = pti_error_keep(of->team->queue, status);
    polytile_status renewed = renew_all(of);
    status = status == POLYTILE_OK ? renewed : status;
    pti_error_restore(of->team->queue, status, text);
    return status;
}

/** Nobody still reads what is about to be written. */
static polytile_status settle_all(const pooled *of) {
    polytile_status status = wait_for_members(of, POLYTILE_OK);
    of->team->was_deep = false;
    for (int p = 0; p < of->team->n_arrays; p++)
        of->team->array[p].is_lent = false;
    return status;
}

static int count_taken(const pooled *of, int local) {
    int n_taken = 0;
    for (int p = 0; p < of->pool.n_pieces; p++)
        n_taken += of->taken_by[p] == local;
    return n_taken;
}

static void tell_pooled(const pooled *of) {
    pti_text text = {0};
    for (int m = 0; m < of->team->transport->n_local; m++)
        pti_text_add(&text, "%s %d on %s", m == 0 ? "" : ",", count_taken(of, m),
                     pti_queue_text(of->team->member[m]));
    if (!text.failed)
        pti_log(of->team->ctx, PTI_LOG_INFO, "%s: pieces taken from the pool:%s",
                of->recorded->prepared->instance->kernel_name, text.data);
    pti_text_free(&text);
}

/** Tell a local member of elements of its array, those that it contains. */
static polytile_status tell_inside(const pti_team *team, int position, int local,
                                   const pti_boxes *elements, tell *told) {
    polytile_array *array = team->array[position].member[local];
    pti_boxes inside = {0};
    polytile_status status = POLYTILE_OK;
    if (array == NULL)
        return POLYTILE_OK;
    pti_boxes_copy(&inside, elements);
    pti_boxes_clip(&inside, &array->domain);
    if (inside.failed)
        PTI_TRY(pti_fail_memory(team->ctx, array->name, sizeof *inside.box));
    if (inside.n_boxes > 0)
        PTI_TRY(told(team->member[local], array, &inside));
done:
    pti_boxes_free(&inside);
    return status;
}

/** A member forgets what it has of an older version, and has the newest from now on, at home. */
static polytile_status catch_up(pti_team *team, const pti_prepared *prepared, int operand,
                                int local) {
    int position = prepared->position[operand];
    pti_boxes *copies = pti_copies_get(&team->copies, position, local);
    pti_boxes lacks = {0};
    polytile_status status = POLYTILE_OK;
    find_lacking(team, prepared, operand, local, &lacks);
    for (int b = 0; b < lacks.n_boxes; b++)
        pti_boxes_add(copies, &lacks.box[b]);
    if (lacks.failed || copies->failed)
        PTI_TRY(fail_memory(team, prepared));
    PTI_TRY(tell_inside(team, position, local, &lacks, pti_queue_renew));
done:
    pti_boxes_free(&lacks);
    return status;
}

/** What a member owns of all that a launch touches comes home. */
static polytile_status bring_owned(const pti_team *team, const pti_prepared *prepared, int operand,
                                   int local) {
    int position = prepared->position[operand];
    polytile_domain touched = find_touched(prepared, operand);
    pti_boxes owned = {0};
    polytile_status status = POLYTILE_OK;
    pti_ownership_boxes(&team->ownership[position], local, &owned);
    if (pti_box_is_empty(&touched))
        pti_boxes_clear(&owned);
    else
        pti_boxes_clip(&owned, &touched);
    if (owned.failed)
        PTI_TRY(fail_memory(team, prepared));
    PTI_TRY(tell_inside(team, position, local, &owned, pti_queue_fetch));
done:
    pti_boxes_free(&owned);
    return status;
}

/** All that a launch touches comes to the host's memory, as far as it is not there. */
static polytile_status bring_home(const pooled *of) {
    const pti_prepared *prepared = of->recorded->prepared;
    bool is_home;
    polytile_status status = find_at_home(of->team, prepared, &is_home);
    if (status != POLYTILE_OK || is_home)
        return status;
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < of->team->transport->n_local; m++)
            PTI_TRY(bring_owned(of->team, prepared, a, m));
    }
    PTI_TRY(wait_for_members(of, POLYTILE_OK));
    pti_team_touch_copies(of->team);
    for (int a = 0; a < prepared->n_arrays; a++) {
        for (int m = 0; m < of->team->transport->n_local; m++)
            PTI_TRY(catch_up(of->team, prepared, a, m));
    }
done:
    return status;
}

static polytile_status run(pti_team *team, int at, pti_pool pool) {
    pooled of = {.team = team, .recorded = &team->recorded[at], .pool = pool};
    polytile_status status;
    PTI_TRY(make_pooled(&of));
    PTI_TRY(settle_all(&of));
    PTI_TRY(bring_home(&of));
    PTI_TRY(reach_all(&of));
    PTI_TRY(run_pieces(&of));
    tell_pooled(&of);
done:
    free_pooled(&of);
    return status;
}

polytile_status pti_team_run_pooled(pti_team *team, int at, bool *is_done) {
    const char *name = team->recorded[at].prepared->instance->kernel_name;
    const char *why;
    pti_pool pool;
    polytile_status status;
    *is_done = false;
    if (!team->options.pools)
        return POLYTILE_OK;
    PTI_TRY(find_why_not(team, at, &why));
    if (why == NULL) {
        pti_pool_obstacle obstacle = cut(team, team->recorded[at].prepared, &pool);
        *is_done = obstacle == PTI_POOL_NONE;
        why = pti_pool_obstacle_text(obstacle);
    }
    if (*is_done)
        PTI_TRY(run(team, at, pool));
    else
        pti_log(team->ctx, PTI_LOG_INFO, "%s: shared in blocks, not from the pool: %s", name, why);
done:
    return status;
}
