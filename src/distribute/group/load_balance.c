#include "distribute/share/load_balance.h"
#include "base/text.h"
#include "distribute/group/run.h"

#include <math.h>
#include <stdlib.h>

/* Sharing by speed: before the first launches run it is known what they do with which arrays, and
 * nothing lies with any member yet. */

/** What launches move of one array if it stays: all that any of them reads or writes, about. */
typedef struct moved {
    double read;
    double written;
} moved;

static double bytes_of_box(const pti_prepared *prepared, int operand, const polytile_domain *box) {
    return (double)pti_box_count(box) * (double)prepared->instance->operand[operand].element_bytes;
}

/** Add the load of one launch, and note of each array the most that any launch moves. */
static void add_load(const pti_group *group, const pti_prepared *prepared, pti_load *load,
                     moved *of_arrays) {
    moved all = {0};
    for (int a = 0; a < prepared->n_arrays; a++) {
        const pti_operand *operand = &prepared->instance->operand[a];
        moved *of_array = &of_arrays[prepared->position[a]];
        double touched = bytes_of_box(prepared, a, &prepared->touched[a]);
        double read = operand->reads ? touched : 0;
        double written = bytes_of_box(prepared, a, &prepared->written[a]);
        bool is_moved = group->array[prepared->position[a]].memory != PTI_GROUP_QUEUES;
        load->touched += touched;
        all.read += read;
        all.written += written;
        of_array->read = is_moved ? fmax(of_array->read, read) : 0;
        of_array->written = is_moved ? fmax(of_array->written, written) : 0;
    }
    load->streamed += fmax(all.read, all.written);
}

static pti_load find_load(const pti_group *group, moved *of_arrays) {
    pti_load load = {0};
    moved all = {0};
    for (int k = 0; k < group->n_recorded; k++)
        add_load(group, group->recorded[k].prepared, &load, of_arrays);
    for (int p = 0; p < group->n_arrays; p++) {
        all.read += of_arrays[p].read;
        all.written += of_arrays[p].written;
        load.held += group->array[p].array == NULL ? 0 : (double)group->array[p].array->n_bytes;
    }
    load.once = fmax(all.read, all.written);
    return load;
}

static void balance_members(const pti_group *group, const pti_load *load, double *weights) {
    pti_balanced_member members[PTI_MAX_WEIGHTS];
    int n_members = group->transport->n_local;
    for (int m = 0; m < n_members; m++)
        members[m] =
            (pti_balanced_member){.speed = group->speed[m],
                                  .is_in_place = group->member[m]->device->reaches_host,
                                  .usable_bytes = pti_queue_get_usable_bytes(group->member[m])};
    pti_balance_load(n_members, members, load, weights);
}

/** Weights of coordinates, each of its slowest member; returns how many there are. */
static int balance_coordinates(const pti_group *group, const pti_load *load,
                               double *of_coordinates) {
    double of_members[PTI_MAX_WEIGHTS], sum = 0;
    int n_coordinates = group->transport->n_members;
    balance_members(group, load, of_members);
    pti_balance_coordinate(group->options.grid, 0, &n_coordinates);
    for (int p = 0; p < n_coordinates; p++)
        of_coordinates[p] = INFINITY;
    for (int m = 0; m < group->transport->n_members; m++) {
        double *of_coordinate =
            &of_coordinates[pti_balance_coordinate(group->options.grid, m, &n_coordinates)];
        *of_coordinate = fmin(*of_coordinate, of_members[m]);
    }
    for (int p = 0; p < n_coordinates; p++)
        sum += of_coordinates[p];
    for (int p = 0; p < n_coordinates && !(sum > 0); p++)
        of_coordinates[p] = 1;
    return n_coordinates;
}

/** So that a run can be repeated with the same shares. */
static void log_weights(const pti_group *group, const pti_distribution *distribution) {
    pti_text text = {0};
    for (int p = 0; p < distribution->n_weights; p++)
        pti_text_add(&text, "%s%g", p == 0 ? "" : ",", distribution->weight[p]);
    if (!text.failed)
        pti_log(group->ctx, PTI_LOG_INFO, "queue on %s: shared as weighted(%s)",
                pti_queue_text(group->queue), text.data);
    pti_text_free(&text);
}

static void redo_ownerships(pti_group *group) {
    for (int p = 0; p < group->n_arrays; p++) {
        pti_group_array *array = &group->array[p];
        if (array->array == NULL)
            continue;
        array->ownership = pti_ownership_of(&array->array->domain, group->transport->n_members,
                                            group->options.grid, &group->options.distribution);
        group->ownership[p] = array->ownership;
    }
    pti_group_forget_prepared(group);
}

polytile_status pti_group_balance_load(pti_group *group) {
    double weights[PTI_MAX_WEIGHTS];
    if (group->speed == NULL || group->is_balanced || group->n_recorded == 0)
        return POLYTILE_OK;
    moved *of_arrays = calloc((size_t)group->n_arrays + 1, sizeof *of_arrays);
    if (of_arrays == NULL)
        return pti_fail_memory(group->ctx, pti_queue_text(group->queue),
                               (double)group->n_arrays * (double)sizeof *of_arrays);
    pti_load load = find_load(group, of_arrays);
    int n_coordinates = balance_coordinates(group, &load, weights);
    group->options.distribution = pti_weighted(n_coordinates, weights);
    group->is_balanced = true;
    log_weights(group, &group->options.distribution);
    redo_ownerships(group);
    free(of_arrays);
    return POLYTILE_OK;
}
