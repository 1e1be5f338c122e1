#include "distribute/share/weigh.h"
#include "base/text.h"
#include "distribute/team/state.h"

#include <math.h>
#include <stdlib.h>

/* Sharing by speed: when the first launches are to run it is known what they do with which arrays,
 * and nothing lies with any member yet. */

/** What launches move of one array if it stays: all that any of them reads or writes, about. */
typedef struct moved {
    double read;
    double written;
} moved;

static double bytes_of(const pti_prepared *prepared, int operand, const polytile_domain *box) {
    return (double)pti_box_count(box) * (double)prepared->instance->operand[operand].element_bytes;
}

/** Of one launch; what it does with an array is kept if no launch before did more. */
static void add_load(const pti_team *team, const pti_prepared *prepared, pti_load *load,
                     moved *of_arrays) {
    moved all = {0};
    for (int a = 0; a < prepared->n_arrays; a++) {
        const pti_operand *operand = &prepared->instance->operand[a];
        moved *kept = &of_arrays[prepared->position[a]];
        double touched = bytes_of(prepared, a, &prepared->touched[a]);
        double read = operand->reads ? touched : 0;
        double written = bytes_of(prepared, a, &prepared->written[a]);
        bool is_moved = team->array[prepared->position[a]].memory != PTI_TEAM_QUEUES;
        load->touched += touched;
        all.read += read;
        all.written += written;
        kept->read = is_moved ? fmax(kept->read, read) : 0;
        kept->written = is_moved ? fmax(kept->written, written) : 0;
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

static void weigh_members(const pti_team *team, const pti_load *load, double *weights) {
    pti_weighed members[PTI_MAX_WEIGHTS];
    int n_members = team->transport->n_local;
    for (int m = 0; m < n_members; m++)
        members[m] = (pti_weighed){.speed = team->speed[m],
                                   .is_in_place = team->member[m]->device->reaches_host,
                                   .usable_bytes = pti_queue_get_usable_bytes(team->member[m])};
    pti_weigh(n_members, members, load, weights);
}

/** A part is as fast as its slowest member; returns how many there are. */
static int weigh_parts(const pti_team *team, const pti_load *load, double *of_parts) {
    double of_members[PTI_MAX_WEIGHTS], sum = 0;
    int n_parts = team->transport->n_members;
    weigh_members(team, load, of_members);
    pti_weigh_part(team->options.grid, 0, &n_parts);
    for (int p = 0; p < n_parts; p++)
        of_parts[p] = INFINITY;
    for (int m = 0; m < team->transport->n_members; m++) {
        double *of_part = &of_parts[pti_weigh_part(team->options.grid, m, &n_parts)];
        *of_part = fmin(*of_part, of_members[m]);
    }
    for (int p = 0; p < n_parts; p++)
        sum += of_parts[p];
    for (int p = 0; p < n_parts && !(sum > 0); p++)
        of_parts[p] = 1;
    return n_parts;
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

static void place_anew(pti_team *team) {
    for (int p = 0; p < team->n_arrays; p++) {
        pti_team_array *of = &team->array[p];
        if (of->array == NULL)
            continue;
        of->ownership = pti_ownership_of(&of->array->domain, team->transport->n_members,
                                         team->options.grid, &team->options.distribution);
        team->ownership[p] = of->ownership;
    }
    pti_team_forget_stages(team);
}

polytile_status pti_team_weigh(pti_team *team) {
    double weights[PTI_MAX_WEIGHTS];
    if (team->speed == NULL || team->is_weighed || team->n_recorded == 0)
        return POLYTILE_OK;
    moved *of_arrays = calloc((size_t)team->n_arrays + 1, sizeof *of_arrays);
    if (of_arrays == NULL)
        return pti_fail_memory(team->ctx, pti_queue_text(team->queue),
                               (double)team->n_arrays * (double)sizeof *of_arrays);
    pti_load load = find_load(team, of_arrays);
    int n_parts = weigh_parts(team, &load, weights);
    team->options.distribution = pti_weighted(n_parts, weights);
    team->is_weighed = true;
    log_weights(team, &team->options.distribution);
    place_anew(team);
    free(of_arrays);
    return POLYTILE_OK;
}
