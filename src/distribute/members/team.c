#include "access/set/boxes.h"
#include "distribute/members/launch_box.h"
#include "distribute/members/state.h"
#include "launch/open/open.h"
#include "message/server.h"
#include "queue/calls/calls.h"

#include <stdlib.h>

/* Slots of a team kernel, dealt out to the members as the threads of other launches are. */

/** The number of a thread among those of a box. */
static int64_t find_rank(const polytile_domain *box, const int64_t *index) {
    int64_t rank = 0;
    for (int d = 0; d < box->n_dims; d++)
        rank = rank * pti_range_count(box->range[d]) +
               (index[d] - box->range[d].lo) / box->range[d].step;
    return rank;
}

/** A slot that no part has yet. */
enum { NO_PART = INT32_MIN };

/** Give the threads of a box to a part; false: one of them has another part already. */
static bool take_box(const polytile_domain *threads, const polytile_domain *box, int part,
                     int32_t *part_of) {
    int64_t index[POLYTILE_MAX_DIMS];
    for (int64_t k = 0; k < pti_box_count(box); k++) {
        pti_box_find_point(box, k, index);
        int32_t *of = &part_of[find_rank(threads, index)];
        if (*of != NO_PART)
            return false;
        *of = part;
    }
    return true;
}

/** The slots of all members while they are dealt out. */
typedef struct dealing {
    const pti_group *group;
    const pti_prepared_superstep *prepared;
    const pti_recorded *recorded;
    int n_parts; /* of this process */
    int32_t *part_of;
    int64_t n_dealt;
    bool is_once; /* each so far */
} dealing;

/** Give a member of this process, or of another one, its slots. */
static void take_slots(dealing *of, int member, const pti_boxes *own) {
    const pti_transport *transport = of->group->transport;
    const int process = member / transport->n_local;
    const bool is_here = process == pti_transport_process(transport);
    const polytile_domain *threads = &of->recorded->prepared->instance->threads;
    for (int b = 0; b < own->n_boxes && of->is_once; b++)
        of->is_once =
            take_box(threads, &own->box[b], is_here ? of->n_parts : -1 - process, of->part_of);
    of->n_parts += is_here && own->n_boxes > 0;
    of->n_dealt += pti_boxes_count(own);
}

/** Take the slots of a member of another process, whose work is not prepared here. False when
 * memory runs out. */
static bool take_slots_elsewhere(dealing *of, int member) {
    const pti_group *group = of->group;
    const pti_shared_launch launch =
        pti_group_shared_launch(group, of->recorded->prepared, of->prepared->runs_once);
    const pti_superstep superstep = {.n_launches = 1,
                                     .launch = &launch,
                                     .n_arrays = group->n_arrays,
                                     .ownerships = group->ownership,
                                     .n_members = group->transport->n_members};
    pti_work work;
    if (!pti_work_create(&superstep, member, &work))
        return false;
    take_slots(of, member, &work.threads[0]);
    pti_work_free(&work);
    return true;
}

/** Deal all slots out; false when memory runs out. */
static bool find_parts(dealing *of, int64_t n_slots) {
    const pti_transport *transport = of->group->transport;
    for (int64_t k = 0; k < n_slots; k++)
        of->part_of[k] = NO_PART;
    for (int m = 0; m < transport->n_members && of->is_once; m++) {
        const int local = m - transport->first;
        if (local >= 0 && local < transport->n_local)
            take_slots(of, m, &of->prepared->parts.work[local].threads[0]);
        else if (!take_slots_elsewhere(of, m))
            return false;
    }
    of->is_once &= of->n_dealt == n_slots;
    return true;
}

/** Return whether two devices are the same GPU, whatever their options, and however it is named.
 * Their texts were parsed when they were opened. */
static bool are_same_gpu(polytile_context *ctx, const polytile_device *one,
                         const polytile_device *other) {
    pti_device_text text, other_text;
    return one->cuda_capability > 0 && other->cuda_capability > 0 &&
           pti_device_text_parse(ctx, one->text, &text) == POLYTILE_OK &&
           pti_device_text_parse(ctx, other->text, &other_text) == POLYTILE_OK &&
           text.number == other_text.number;
}

/** Two kernels that wait for each other have to be on a GPU each. */
static polytile_status check_gpus(const pti_group *group, const pti_prepared_superstep *prepared,
                                  const char *name) {
    for (int m = 0; m < group->transport->n_local; m++)
        for (int k = 0; k < m; k++)
            if (prepared->parts.work[m].threads[0].n_boxes > 0 &&
                prepared->parts.work[k].threads[0].n_boxes > 0 &&
                are_same_gpu(group->ctx, group->member[m]->device, group->member[k]->device))
                return pti_fail(
                    group->ctx, POLYTILE_UNSUPPORTED,
                    "%s: %s is twice in the list of devices, and one GPU runs the slots "
                    "of one member at a time; list it once",
                    name, group->member[m]->device->text);
    return POLYTILE_OK;
}

static polytile_status check_combined(const pti_group *group,
                                      const pti_prepared_superstep *prepared, const char *name) {
    for (int k = 0; k < prepared->list.n_ops; k++)
        if (prepared->list.op[k].kind == PTI_JOINT_COMBINE)
            return pti_fail(group->ctx, POLYTILE_UNSUPPORTED,
                            "%s: slots of several devices reduce into the same elements of an "
                            "array; reduce by pt_reduce(), or launch on one device",
                            name);
    return POLYTILE_OK;
}

polytile_status pti_group_deal_slots(pti_group *group, const pti_prepared_superstep *prepared,
                                     const pti_recorded *recorded) {
    const char *name = recorded->prepared->instance->kernel_name;
    const int64_t n_slots = pti_box_count(&recorded->prepared->instance->threads);
    const size_t n_bytes = (size_t)n_slots * sizeof(int32_t);
    dealing of = {.group = group, .prepared = prepared, .recorded = recorded, .is_once = true};
    polytile_status status;
    PTI_TRY(check_combined(group, prepared, name));
    PTI_TRY(check_gpus(group, prepared, name));
    of.part_of = malloc(n_bytes + 1);
    if (of.part_of == NULL || !find_parts(&of, n_slots))
        PTI_TRY(pti_fail_memory(group->ctx, name, (double)n_bytes));
    if (!of.is_once)
        PTI_TRY(pti_fail(group->ctx, POLYTILE_UNSUPPORTED,
                         "%s: the layout does not say of each slot which one of %s runs it; let "
                         "slots write rows of an array that is dealt out",
                         name, pti_queue_text(group->queue)));
    if (!pti_server_deal(recorded->server, of.n_parts, of.part_of))
        PTI_TRY(pti_fail_memory(group->ctx, name, (double)n_bytes * of.n_parts));
done:
    free(of.part_of);
    return status;
}

/** Slots that lie apart run over arrays in place: a device with memory of its own would have other
 * slots' elements between them. */
static polytile_status refuse_slots_apart(const pti_group *group, const pti_recorded *recorded,
                                          int local, const pti_boxes *threads,
                                          const polytile_domain *box) {
    if (group->member[local]->device->reaches_host ||
        pti_boxes_count(threads) == pti_box_count(box))
        return POLYTILE_OK;
    return pti_fail(group->ctx, POLYTILE_UNSUPPORTED,
                    "%s: the %lld slots of %s lie apart, in %d places; a device with memory of its "
                    "own would also hold, and bring home, what the slots between them own, and so "
                    "runs slots that lie together; choose a block or weighted layout",
                    recorded->prepared->instance->kernel_name, (long long)pti_boxes_count(threads),
                    pti_queue_text(group->member[local]), threads->n_boxes);
}

polytile_status pti_group_launch_slots(pti_group *group, const pti_recorded *recorded, int local,
                                       const pti_boxes *threads) {
    const polytile_domain *all = &recorded->prepared->instance->threads;
    const polytile_domain box = pti_boxes_bounding(threads, all->n_dims);
    polytile_array *arrays[PTI_MAX_OPERANDS];
    int64_t first[POLYTILE_MAX_DIMS];
    polytile_status status = refuse_slots_apart(group, recorded, local, threads, &box);
    if (status != POLYTILE_OK)
        return status;
    pti_box_find_point(&threads->box[0], 0, first);
    const pti_box_launch launch = {
        recorded->kernel, recorded->prepared, recorded->values,
        pti_server_take_part(recorded->server, (int)find_rank(all, first))};
    pti_group_list_arrays(group, recorded, local, arrays);
    status = pti_queue_launch_box(group->member[local], &launch, &box, arrays);
    return status == POLYTILE_OK
               ? status
               : pti_error_prefix(group->ctx, status,
                                  "on %s: ", pti_queue_text(group->member[local]));
}
