#include "base/text.h"
#include "distribute/team/pool_launch.h"

#include <stdlib.h>
#include <time.h>

/* A launch cut into pieces: who takes which, and bringing home what it computes. */

enum { NOBODY = -1 };

/** One launch while it runs. */
typedef struct pooled {
    pti_team *team;
    const pti_recorded *recorded;
    const pti_pool *pool;
    int *taken_by;       /* of each piece: the local member; owned, as all below */
    int64_t *last_item;  /* of each member: the number of the last item of its last piece, */
    int64_t *prior_item; /* and of the one before */
    int n_taken;
} pooled;

static void free_pooled(pooled *of) {
    free(of->taken_by);
    free(of->last_item);
    free(of->prior_item);
}

static polytile_status make_pooled(pooled *of) {
    size_t n_pieces = (size_t)of->pool->n_pieces, n_local = (size_t)of->team->transport->n_local;
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

/** Each member has an array over all that any piece touches. */
static polytile_status reach_all(const pooled *of) {
    const pti_prepared *prepared = of->recorded->prepared;
    pti_boxes all = {0};
    polytile_status status = POLYTILE_OK;
    pti_boxes_append(&all, &prepared->instance->threads);
    if (all.failed)
        PTI_TRY(pti_fail_memory(of->team->ctx, prepared->instance->kernel_name, sizeof *all.box));
    for (int m = 0; m < of->team->transport->n_local; m++) {
        for (int a = 0; a < prepared->n_arrays; a++)
            PTI_TRY(pti_team_reach(of->team, prepared->position[a], m, &prepared->touched[a]));
        PTI_TRY(pti_team_reach_operands(of->team, of->recorded, m, &all));
    }
done:
    pti_boxes_free(&all);
    return status;
}

/** Add what a piece writes of an operand. */
static void add_written(const pooled *of, int piece, int operand, pti_boxes *written) {
    const pti_boxes *threads = &of->pool->threads[piece];
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

/** Tell a member of what some pieces write: those that a member took, or all others did. */
static polytile_status tell_written(const pooled *of, int local, int first, int end, bool of_others,
                                    pti_team_tell *tell) {
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
            PTI_TRY(tell(of->team->member[local], member_array(of, a, local), &written));
    }
done:
    pti_boxes_free(&written);
    return status;
}

/** What others computed, or what failed, is newer at home than on a member's device. */
static polytile_status renew_all(const pooled *of) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < of->team->transport->n_local; m++)
        PTI_TRY(tell_written(of, m, 0, of->pool->n_pieces, true, pti_queue_renew));
done:
    return status;
}

/** Its results come home with it. */
static polytile_status queue_piece(pooled *of, int piece, int local) {
    const pti_boxes *threads = &of->pool->threads[piece];
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
    bool has_failed = member->error.status != POLYTILE_OK;
    pthread_mutex_unlock(&member->mutex);
    int64_t needed = member->device->reaches_host ? of->last_item[local] : of->prior_item[local];
    return has_failed ? FAILED : n_done >= needed ? HUNGRY : BUSY;
}

/** One piece for each member that is out of work; whether there was any, or a failure. */
static polytile_status feed(pooled *of, bool *is_anyone_hungry, bool *has_failed) {
    polytile_status status = POLYTILE_OK;
    *is_anyone_hungry = false;
    for (int m = 0; m < of->team->transport->n_local && of->n_taken < of->pool->n_pieces; m++) {
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
    while (of->n_taken < of->pool->n_pieces && !has_failed) {
        PTI_TRY(feed(of, &is_anyone_hungry, &has_failed));
        if (!is_anyone_hungry)
            nanosleep(&nap, NULL);
    }
done:
    return status;
}

/** After a failure nobody keeps anything of what was to be written. */
static void give_up_all(pooled *of) {
    for (int p = 0; p < of->pool->n_pieces; p++)
        of->taken_by[p] = NOBODY;
}

static polytile_status run_pieces(pooled *of) {
    pti_error first = {0};
    polytile_status status = pti_team_settle_members(of->team, hand_out(of));
    if (status != POLYTILE_OK)
        give_up_all(of);
    pti_error_keep(&first, of->team->ctx, status);
    pti_error_keep(&first, of->team->ctx, renew_all(of));
    return pti_error_restore(of->team->ctx, &first);
}

static int count_taken(const pooled *of, int local) {
    int n_taken = 0;
    for (int p = 0; p < of->pool->n_pieces; p++)
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

polytile_status pti_team_run_pieces(pti_team *team, const pti_recorded *recorded,
                                    const pti_pool *pool) {
    pooled of = {.team = team, .recorded = recorded, .pool = pool};
    polytile_status status;
    PTI_TRY(make_pooled(&of));
    PTI_TRY(reach_all(&of));
    PTI_TRY(run_pieces(&of));
    tell_pooled(&of);
done:
    free_pooled(&of);
    return status;
}
