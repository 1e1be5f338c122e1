#include "partition/window/engine.h"

#include "partition/window/lone.h"
#include "partition/window/tiles.h"
#include "partition/window/tiles_aside.h"
#include "partition/window/tiles_text.h"

#include <stdlib.h>

/** A walk over the steps of a window. */
typedef struct walk {
    const pti_step_window *window;
    const pti_consumer *consumer;
    int first;        /* the first step that is not handed on */
    int first_launch; /* launches before it */
    int at;           /* the first step that is not looked at */
} walk;

int pti_batch_find_end(const pti_step *step, int first, int end) {
    int64_t n_superblocks = 0;
    bool has_launch = false, has_lone = false;
    int k = first;
    for (; k < end; k++) {
        const bool is_launch = step[k].kind == PTI_STEP_LAUNCH;
        if (is_launch)
            n_superblocks += step[k].partition->n_superblocks;
        if (k > first && (n_superblocks > PTI_PLAN_SUPERBLOCKS || (is_launch && has_lone) ||
                          (step[k].is_lone && has_launch)))
            break;
        has_launch |= is_launch;
        has_lone |= step[k].is_lone;
    }
    return k;
}

bool pti_batch_streams(const pti_batch *batch) {
    return batch->group != NULL && !batch->group->is_resident && batch->window->residency != NULL;
}

static int count_launches(const pti_step *step, int n_steps) {
    int n_launches = 0;
    for (int k = 0; k < n_steps; k++)
        n_launches += step[k].kind == PTI_STEP_LAUNCH;
    return n_launches;
}

/** The lone launch of some steps; NULL: there is none. */
static const pti_step *find_lone_step(int n_steps, const pti_step *step) {
    for (int k = 0; k < n_steps; k++)
        if (step[k].is_lone)
            return &step[k];
    return NULL;
}

/** Plan a lone launch; what else the batch has finds nothing on the device. *schedule stays NULL
 * where it cannot be. */
static polytile_status plan_lone(pti_batch *batch, const pti_step *lone) {
    const pti_step_window *window = batch->window;
    polytile_status status =
        pti_lone_build(lone, window->arrays, window->link, window->memory_bytes, &batch->built);
    batch->schedule = batch->built;
    return status == POLYTILE_NO_MEMORY ? status : POLYTILE_OK;
}

polytile_status pti_batch_plan(pti_batch *batch) {
    const pti_step_window *window = batch->window;
    const pti_step *lone = batch->group == NULL && window->residency != NULL
                               ? find_lone_step(batch->n_steps, batch->step)
                               : NULL;
    if (window->residency == NULL && batch->group == NULL)
        batch->schedule = window->asked[batch->first].in_place;
    if (window->residency == NULL || pti_batch_streams(batch))
        return POLYTILE_OK;
    if (lone != NULL) {
        polytile_status status = plan_lone(batch, lone);
        if (status != POLYTILE_OK || batch->schedule != NULL)
            return status;
    }
    polytile_status status = pti_residency_plan(window->residency, batch->n_steps, batch->step,
                                                window->link, &batch->planned);
    batch->schedule = batch->planned;
    return status;
}

/** Return whether some launches of a schedule may run in tiles, for which there is memory. */
static bool has_placed_tiles(const pti_schedule *schedule) {
    bool has = false;
    for (int t = 0; schedule != NULL && t < schedule->n_tiles; t++)
        has = has || pti_tiles_are_placed(&schedule->tiles[t]);
    return has;
}

polytile_status pti_batch_interleave(pti_batch *batch) {
    if (batch->group == NULL || has_placed_tiles(batch->schedule))
        return POLYTILE_OK;
    batch->built = batch->group->is_resident
                       ? pti_fusion_group_build_resident(batch->group, batch->schedule)
                       : pti_fusion_group_build(batch->window, batch->group);
    if (batch->built != NULL)
        batch->schedule = batch->built;
    return batch->schedule != NULL ? POLYTILE_OK : POLYTILE_NO_MEMORY;
}

/** The launches of a batch. */
typedef struct asked_launches {
    int n;
    const pti_asked **asked; /* of each; owned */
} asked_launches;

static pti_tile_kernel tiles_asked_for(const void *of, int launch) {
    const asked_launches *list = of;
    const polytile_plan_options *options = list->asked[launch]->options;
    const bool may_be = launch < list->n && (options == NULL || options->launches_per_pass != 1);
    return may_be ? list->asked[launch]->tiles : PTI_TILES_NONE;
}

/** Add tiles to a schedule, all that there are or none. */
static polytile_status add_all_tiles(const pti_batch *batch, const asked_launches *list,
                                     pti_schedule *schedule, pti_text *why) {
    polytile_status status =
        pti_tiles_find(&batch->window->tile_room, tiles_asked_for, list, schedule, why);
    if (status == POLYTILE_OK)
        status = pti_tiles_place_aside(schedule, why);
    schedule->has_all_tiles = status == POLYTILE_OK;
    if (status != POLYTILE_OK)
        schedule->n_tiles = 0;
    return status;
}

/** The launches of a plan that was kept were looked at when it was made; what lies on the device
 * may have other places now. */
static polytile_status place_tiles_again(pti_schedule *schedule) {
    pti_text ignored = {0};
    polytile_status status = pti_tiles_place_aside(schedule, &ignored);
    pti_text_free(&ignored);
    return status;
}

static polytile_status tile_launches(pti_batch *batch, const asked_launches *list, pti_text *why) {
    if (batch->planned != NULL)
        return batch->planned->has_all_tiles ? place_tiles_again(batch->planned)
                                             : add_all_tiles(batch, list, batch->planned, why);
    pti_schedule *tiled = pti_schedule_copy(batch->schedule);
    polytile_status status =
        tiled == NULL ? POLYTILE_NO_MEMORY : add_all_tiles(batch, list, tiled, why);
    if (status == POLYTILE_OK && tiled->n_tiles > 0)
        batch->schedule = batch->built = tiled;
    else
        pti_schedule_free(tiled);
    return status;
}

polytile_status pti_batch_tile(pti_batch *batch, pti_text *why) {
    asked_launches list = {0};
    polytile_status status = POLYTILE_OK;
    int n_tileable = 0;
    if (pti_batch_streams(batch))
        pti_tiles_describe_chain(&batch->group->chain, &batch->group->shape, why);
    if (batch->window->tile_room.image_bytes == 0 || pti_batch_streams(batch) ||
        batch->schedule == NULL || batch->schedule->in_place)
        return POLYTILE_OK;
    list.asked = calloc((size_t)batch->n_launches + 1, sizeof *list.asked);
    if (list.asked == NULL)
        return POLYTILE_NO_MEMORY;
    for (int k = 0; k < batch->n_steps; k++)
        if (batch->n_launches > list.n && batch->step[k].kind == PTI_STEP_LAUNCH) {
            list.asked[list.n] = &batch->window->asked[batch->first + k];
            n_tileable += list.asked[list.n++]->tiles != PTI_TILES_NONE;
        }
    if (n_tileable > 1 && list.n == batch->schedule->n_launches)
        status = tile_launches(batch, &list, why);
    free(list.asked);
    return status;
}

/** Add the box of an operation on an array, in all turns in which it comes. */
static void gather_turns(const pti_schedule *schedule, int64_t op, int array, pti_boxes *set) {
    for (int64_t turn = 0; turn < pti_schedule_times(schedule, op); turn++) {
        const polytile_domain box =
            turn == 0 ? schedule->op[op].box
                      : pti_box_moved(&schedule->op[op].box, &schedule->period.array[array], turn);
        pti_boxes_gather(set, &box);
    }
}

/** What a schedule brought to the host is written from then on, and no longer zero. False when
 * memory runs out. */
static bool note_written_back(pti_residency *residency, const pti_schedule *schedule) {
    bool is_noted = true;
    for (int a = 0; a < schedule->instance->n_operands && is_noted; a++) {
        pti_boxes written = {0};
        if (pti_residency_unwritten(residency, a)->n_boxes == 0)
            continue;
        for (int64_t k = 0; k < schedule->n_ops; k++) {
            const pti_op *op = &schedule->op[k];
            if (op->kind == PTI_DOWNLOAD && schedule->placement[op->placement].operand == a)
                gather_turns(schedule, k, a, &written);
        }
        pti_boxes_merge(&written);
        is_noted = !written.failed;
        if (is_noted)
            pti_residency_note_written(residency, a, &written);
        pti_boxes_free(&written);
    }
    return is_noted;
}

/** Hand a batch to the consumer, and note what a chain that streams brought to the host. */
static polytile_status take_batch(const pti_consumer *consumer, pti_batch *batch) {
    polytile_status status = consumer->take(consumer->of, batch);
    if (status == POLYTILE_OK && pti_batch_streams(batch) && batch->schedule != NULL &&
        !note_written_back(batch->window->residency, batch->schedule))
        status = consumer->explain(consumer->of, batch, POLYTILE_NO_MEMORY);
    pti_schedule_free(batch->built);
    return status;
}

/** Hand on the next n_steps as one batch. n_single: the steps from its first on that run one after
 * the other, in this batch and those after it. */
static polytile_status hand_on_batch(walk *of, int n_steps, int n_single, pti_fusion_group *group) {
    const pti_step *step = of->window->step + of->first;
    pti_batch batch = {.window = of->window,
                       .first = of->first,
                       .n_steps = n_steps,
                       .step = step,
                       .first_launch = of->first_launch,
                       .n_launches = count_launches(step, n_steps),
                       .n_single = n_single,
                       .group = group};
    of->first += n_steps;
    of->first_launch += batch.n_launches;
    return take_batch(of->consumer, &batch);
}

/** In place superblocks are whole launches. */
static polytile_status cut_launches(const walk *of) {
    bool is_cut = of->window->residency == NULL || of->consumer->cut == NULL;
    return is_cut ? POLYTILE_OK : of->consumer->cut(of->consumer->of);
}

static polytile_status flush_arrays(const walk *of) {
    int n_arrays = of->window->arrays->n_operands;
    pti_step *step = calloc((size_t)n_arrays + 1, sizeof *step);
    pti_batch batch = {.window = of->window,
                       .first = of->first,
                       .n_steps = n_arrays,
                       .step = step,
                       .first_launch = of->first_launch,
                       .n_single = n_arrays};
    for (int a = 0; step != NULL && a < n_arrays; a++)
        step[a] = (pti_step){.kind = PTI_STEP_FLUSH, .position = a};
    polytile_status status =
        step == NULL ? of->consumer->explain(of->consumer->of, &batch, POLYTILE_NO_MEMORY)
                     : take_batch(of->consumer, &batch);
    free(step);
    return status;
}

/** Hand on the steps before one, which run one after the other. */
static polytile_status hand_on_single(walk *of, int end) {
    polytile_status status = POLYTILE_OK;
    bool in_place = of->window->residency == NULL;
    if (of->first < end && count_launches(of->window->step + of->first, end - of->first) > 0)
        PTI_TRY(cut_launches(of));
    while (of->first < end) {
        const pti_step *step = of->window->step;
        int next = in_place ? of->first + 1 : pti_batch_find_end(step, of->first, end);
        if (!in_place && find_lone_step(next - of->first, step + of->first) != NULL)
            PTI_TRY(flush_arrays(of));
        PTI_TRY(hand_on_batch(of, next - of->first, end - of->first, NULL));
    }
done:
    return status;
}

polytile_status pti_engine_flush(const pti_step_window *window, const pti_consumer *consumer) {
    return flush_arrays(&(walk){.window = window, .consumer = consumer});
}

/** Hand on the next steps, which are the chain of a group. */
static polytile_status hand_on_chain(walk *of, pti_fusion_group *group) {
    polytile_status status = POLYTILE_OK;
    if (group->is_resident)
        PTI_TRY(cut_launches(of));
    else if (of->window->residency != NULL)
        PTI_TRY(flush_arrays(of));
    PTI_TRY(hand_on_batch(of, group->n_launches, 0, group));
done:
    return status;
}

/** Look at the next step, and at the group that begins with it. In place there is nothing to gain
 * from knowing what comes after a launch that runs by itself. */
static polytile_status advance_walk(walk *of) {
    polytile_status status;
    pti_fusion_group *group;
    if (of->window->step[of->at].kind != PTI_STEP_LAUNCH) {
        of->at++;
        return POLYTILE_OK;
    }
    PTI_TRY(of->consumer->find_group(of->consumer->of, of->window, of->at, &group));
    if (group->n_launches > 0) {
        PTI_TRY(hand_on_single(of, of->at));
        PTI_TRY(hand_on_chain(of, group));
        of->at = of->first;
        return POLYTILE_OK;
    }
    of->at += group->n_single;
    if (of->window->residency == NULL)
        PTI_TRY(hand_on_single(of, of->at));
done:
    return status;
}

polytile_status pti_engine_run(const pti_step_window *window, int first,
                               const pti_consumer *consumer) {
    walk of = {.window = window,
               .consumer = consumer,
               .first = first,
               .first_launch = count_launches(window->step, first),
               .at = first};
    polytile_status status = POLYTILE_OK;
    while (of.at < window->n_steps)
        PTI_TRY(advance_walk(&of));
    PTI_TRY(hand_on_single(&of, window->n_steps));
done:
    return status;
}
