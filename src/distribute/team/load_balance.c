#include "distribute/share/load_balance.h"
#include "base/text.h"
#include "distribute/team/state.h"

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
static void add_load(const pti_team *team, const pti_prepared *prepared, pti_load *load,
                     moved *of_arrays) {
    moved all = {0};
    for (int a = 0; a < prepared->n_arrays; a++) {
        const pti_operand *operand = &prepared->instance->operand[a];
        moved *of_array = &of_arrays[prepared->position[a]];
        double touched = bytes_of_box(prepared, a, &prepared->touched[a]);
        double read = operand->reads ? touched : 0;
        double written = bytes_of_box(prepared, a, &prepared->written[a]);
        bool is_moved = team->array[prepared->position[a]].memory != PTI_TEAM_QUEUES;
        load->touched += touched;
        all.read += read;
        all.written += written;
        of_array->read = is_moved ? fmax(of_array->read, read) : 0;
        of_array->written = is_moved ? fmax(of_array->written, written) : 0;
    }
    load->streamed += fmax(all.read, all.written);
}

static pti_load find_load(const pti_team *team, moved *of_arrays) {
    pti_load load = {0};
    moved all = {0};
    for (int k = 0; k < team->n_recorded; k++)
        add_load(team, team->recorded[k].prepared, &load, of_arrays);
    for (int p = 0; p < team->n_arrays; p++) {
        all.read += of_arrays[p].read;
        all.written += of_arrays[p].written;
        load.held += team->array[p].array == NULL ? 0 : (double)team->array[p].array->n_bytes;
    }
    load.once = fmax(all.read, all.written);
    return load;
}

static void balance_members(const pti_team *team, const pti_load *load, double *weights) {
    pti_balanced_member members[PTI_MAX_WEIGHTS];
    int n_members = team->transport->n_local;
    for (int m = 0; m < n_members; m++)
        members[m] =
            (pti_balanced_member){.speed = team->speed[m],
                                  .is_in_place = team->member[m]->device->reaches_host,
                                  .usable_bytes = pti_queue_get_usable_bytes(team->member[m])};
    pti_balance_load(n_members, members, load, weights);
}

/** Weights of coordinates, each of its slowest member; returns how many there are. */
static int balance_coordinates(const pti_team *team, const pti_load *load, double *of_coordinates) {
    double of_members[PTI_MAX_WEIGHTS], sum = 0;
    int n_coordinates = team->transport->n_members;
    balance_members(team, load, of_members);
    pti_balance_coordinate(team->options.grid, 0, &n_coordinates);
    for (int p = 0; p < n_coordinates; p++)
        of_coordinates[p] = INFINITY;
    for (int m = 0; m < team->transport->n_members; m++) {
        double *of_coordinate =
            &of_coordinates[pti_balance_coordinate(team->options.grid, m, &n_coordinates)];
        *of_coordinate = fmin(*of_coordinate, of_members[m]);
    }
    for (int p = 0; p < n_coordinates; p++)
        sum += of_coordinates[p];
    for (int p = 0; p < n_coordinates && !(sum > 0); p++)
        of_coordinates[p] = 1;
    return n_coordinates;
}

/** So that a run can be repeated with the same shares. */
static void log_weights(const pti_team *team, const pti_distribution *distribution) {
    pti_text text = {0};
    for (int p = 0; p < distribution->n_weights; p++)
        pti_text_add(&text, "%s%g", p == 0 ? "" : ",", distribution->weight[p]);
    if (!text.failed)
        pti_log(team->ctx, PTI_LOG_INFO, "queue on %s: shared as weighted(%s)",
                pti_queue_text(team->queue), text.data);
    pti_text_free(&text);
}

static void redo_ownerships(pti_team *team) {
    for (int p = 0; p < team->n_arrays; p++) {
        pti_team_array *of = &team->array[p];
        if (of->array == NULL)
            continue;
        of->ownership = pti_ownership_of(&of->array->domain, team->transport->n_members,
                                         team->options.grid, &team->options.distribution);
        team->ownership[p] = of->ownership;
    }
    pti_team_forget_prepared(team);
}

polytile_status pti_team_balance_load(pti_team *team) {
    double weights[PTI_MAX_WEIGHTS];
    if (team->speed == NULL || team->is_balanced || team->n_recorded == 0)
        return POLYTILE_OK;
    moved *of_arrays = calloc((size_t)team->n_arrays + 1, sizeof *of_arrays);
    if (of_arrays == NULL)
        return pti_fail_memory(team->ctx, pti_queue_text(team->queue),
                               (double)team->n_arrays * (double)sizeof *of_arrays);
    pti_load load = find_load(team, of_arrays);
    int n_coordinates = balance_coordinates(team, &load, weights);
    team->options.distribution = pti_weighted(n_coordinates, weights);
    team->is_balanced = true;
    log_weights(team, &team->options.distribution);
    redo_ownerships(team);
    free(of_arrays);
    return POLYTILE_OK;
}
