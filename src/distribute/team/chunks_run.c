#include "base/text.h"
#include "distribute/team/chunks_launch.h"

#include <stdlib.h>
#include <time.h>

/* A launch cut into chunks: who takes which, and bringing home what it computes. */

enum { NOBODY = -1 };

/** One launch while it runs. */
typedef struct self_scheduled {
    pti_team *team;
    const pti_recorded *recorded;
    const pti_chunk_list *chunks;
    int *taken_by;       /* of each chunk: the local member; owned, as all below */
    int64_t *last_item;  /* of each member: the number of the last item of its last chunk, */
    int64_t *prior_item; /* and of the one before */
    int n_taken;
} self_scheduled;

static void free_self_scheduled(self_scheduled *of) {
    free(of->taken_by);
    free(of->last_item);
    free(of->prior_item);
}

static polytile_status begin_self_scheduled(self_scheduled *of) {
    size_t n_chunks = (size_t)of->chunks->n_chunks, n_local = (size_t)of->team->transport->n_local;
    of->taken_by = calloc(n_chunks + 1, sizeof *of->taken_by);
    of->last_item = calloc(n_local, sizeof *of->last_item);
    of->prior_item = calloc(n_local, sizeof *of->prior_item);
    if (of->taken_by == NULL || of->last_item == NULL || of->prior_item == NULL)
        return pti_fail_memory(of->team->ctx, of->recorded->prepared->instance->kernel_name,
                               (double)n_chunks * (double)sizeof *of->taken_by);
    for (size_t p = 0; p < n_chunks; p++)
        of->taken_by[p] = NOBODY;
    return POLYTILE_OK;
}

/** Let each member's arrays contain all that any chunk touches. */
static polytile_status reach_touched(const self_scheduled *of) {
    const pti_prepared *prepared = of->recorded->prepared;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < of->team->transport->n_local; m++) {
        for (int a = 0; a < prepared->n_arrays; a++)
            PTI_TRY(pti_team_reach(of->team, prepared->position[a], m, &prepared->touched[a]));
        PTI_TRY(pti_team_reach_operands(of->team, of->recorded, m));
    }
done:
    return status;
}

/** Add what a chunk writes of an operand. */
static void add_written(const self_scheduled *of, int chunk, int operand, pti_boxes *written) {
    const pti_boxes *threads = &of->chunks->threads[chunk];
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

static polytile_array *member_array(const self_scheduled *of, int operand, int local) {
    int position = of->recorded->prepared->position[operand];
    return of->team->array[position].member[local];
}

/** Notify a member's queue of what some chunks write: those that the member took, or those of all
 * others. */
static polytile_status notify_written(const self_scheduled *of, int local, int first, int end,
                                      bool of_others, pti_team_notify *notify) {
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
            PTI_TRY(notify(of->team->member[local], member_array(of, a, local), &written));
    }
done:
    pti_boxes_free(&written);
    return status;
}

/** Invalidate what others computed, or what failed, on each member's device. */
static polytile_status invalidate_written_by_others(const self_scheduled *of) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < of->team->transport->n_local; m++)
        PTI_TRY(notify_written(of, m, 0, of->chunks->n_chunks, true, pti_queue_invalidate));
done:
    return status;
}

/** Queue a chunk, and that its results come home. */
static polytile_status queue_chunk(self_scheduled *of, int chunk, int local) {
    const pti_boxes *threads = &of->chunks->threads[chunk];
    polytile_status status = POLYTILE_OK;
    for (int b = 0; b < threads->n_boxes; b++)
        PTI_TRY(pti_team_launch_box(of->team, of->recorded, local, &threads->box[b]));
    PTI_TRY(notify_written(of, local, chunk, chunk + 1, false, pti_queue_fetch));
done:
    return status;
}

static polytile_status take_chunk(self_scheduled *of, int local) {
    polytile_queue *member = of->team->member[local];
    int chunk = of->n_taken++;
    of->taken_by[chunk] = local;
    polytile_queue_pause(member);
    polytile_status status = queue_chunk(of, chunk, local);
    polytile_queue_resume(member);
    of->prior_item[local] = of->last_item[local];
    pthread_mutex_lock(&member->mutex);
    of->last_item[local] = member->n_queued;
    pthread_mutex_unlock(&member->mutex);
    return status;
}

/** What a member is about. */
typedef enum member_state { BUSY, HUNGRY, FAILED } member_state;

/** A device with memory of its own has a second chunk ready while it runs one. */
static member_state find_member_state(const self_scheduled *of, int local) {
    polytile_queue *member = of->team->member[local];
    pthread_mutex_lock(&member->mutex);
    int64_t n_done = member->n_queued - member->n_left;
    bool has_failed = member->error.status != POLYTILE_OK;
    pthread_mutex_unlock(&member->mutex);
    int64_t needed = member->device->reaches_host ? of->last_item[local] : of->prior_item[local];
    return has_failed ? FAILED : n_done >= needed ? HUNGRY : BUSY;
}

/** Give each member that is out of work a chunk; whether there was any, or a failure. */
static polytile_status feed_members(self_scheduled *of, bool *is_anyone_hungry, bool *has_failed) {
    polytile_status status = POLYTILE_OK;
    *is_anyone_hungry = false;
    for (int m = 0; m < of->team->transport->n_local && of->n_taken < of->chunks->n_chunks; m++) {
        member_state is = find_member_state(of, m);
        *has_failed |= is == FAILED;
        if (is != HUNGRY || *has_failed)
            continue;
        *is_anyone_hungry = true;
        PTI_TRY(take_chunk(of, m));
    }
done:
    return status;
}

/** Between two looks at who is done. */
static const struct timespec nap = {.tv_nsec = 50000};

static polytile_status hand_out_chunks(self_scheduled *of) {
    bool is_anyone_hungry, has_failed = false;
    polytile_status status = POLYTILE_OK;
    while (of->n_taken < of->chunks->n_chunks && !has_failed) {
        PTI_TRY(feed_members(of, &is_anyone_hungry, &has_failed));
        if (!is_anyone_hungry)
            nanosleep(&nap, NULL);
    }
done:
    return status;
}

/** After a failure no member keeps anything that was to be written. */
static void forget_takers(self_scheduled *of) {
    for (int p = 0; p < of->chunks->n_chunks; p++)
        of->taken_by[p] = NOBODY;
}

static polytile_status run_chunks(self_scheduled *of) {
    pti_error first = {0};
    polytile_status status = pti_team_wait_members(of->team, hand_out_chunks(of));
    if (status != POLYTILE_OK)
        forget_takers(of);
    pti_error_keep(&first, of->team->ctx, status);
    pti_error_keep(&first, of->team->ctx, invalidate_written_by_others(of));
    return pti_error_restore(of->team->ctx, &first);
}

static int count_taken(const self_scheduled *of, int local) {
    int n_taken = 0;
    for (int p = 0; p < of->chunks->n_chunks; p++)
        n_taken += of->taken_by[p] == local;
    return n_taken;
}

static void log_chunks_taken(const self_scheduled *of) {
    pti_text text = {0};
    for (int m = 0; m < of->team->transport->n_local; m++)
        pti_text_add(&text, "%s %d on %s", m == 0 ? "" : ",", count_taken(of, m),
                     pti_queue_text(of->team->member[m]));
    if (!text.failed)
        pti_log(of->team->ctx, PTI_LOG_INFO, "%s: pieces taken from the pool:%s",
                of->recorded->prepared->instance->kernel_name, text.data);
    pti_text_free(&text);
}

polytile_status pti_team_take_chunks(pti_team *team, const pti_recorded *recorded,
                                     const pti_chunk_list *chunks) {
    self_scheduled of = {.team = team, .recorded = recorded, .chunks = chunks};
    polytile_status status;
    PTI_TRY(begin_self_scheduled(&of));
    PTI_TRY(reach_touched(&of));
    PTI_TRY(run_chunks(&of));
    log_chunks_taken(&of);
done:
    free_self_scheduled(&of);
    return status;
}
