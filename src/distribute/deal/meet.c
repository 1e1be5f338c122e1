#include "distribute/deal/launch.h"

#include "base/checked.h"

#include <stdio.h>
#include <string.h>

/* What processes tell each other before the rows of a launch are dealt out to members of all. */

/** A member, as its process describes it. */
typedef struct told_unit {
    int64_t fill_rows;
    int64_t n_threads;
    double piece_s;
    double prior_rows_per_s;
    char device[64];
} told_unit;

/** What a process says first. */
typedef struct told_process {
    int64_t obstacle;
} told_process;

static int64_t count_told_bytes(const pti_group *group) {
    return (int64_t)sizeof(told_process) + group->transport->n_local * (int64_t)sizeof(told_unit);
}

static told_unit unit_to_tell(const polytile_unit *unit) {
    told_unit told = {.fill_rows = unit->fill_rows,
                      .n_threads = unit->n_threads,
                      .piece_s = unit->piece_s,
                      .prior_rows_per_s = unit->prior_rows_per_s};
    snprintf(told.device, sizeof told.device, "%s", unit->device);
    return told;
}

/** Write what this process tells. */
static polytile_status write_told(const pti_group *group, const pti_recorded *recorded,
                                  bool are_rows, pti_deal_obstacle obstacle, char *bytes) {
    const int n_local = group->transport->n_local;
    const told_process process = {.obstacle = obstacle};
    polytile_unit *units = calloc((size_t)n_local, sizeof *units);
    if (units == NULL)
        return pti_fail_memory(group->ctx, recorded->prepared->instance->kernel_name,
                               n_local * (double)sizeof *units);
    pti_group_describe_units(group, recorded, are_rows, units);
    memcpy(bytes, &process, sizeof process);
    for (int m = 0; m < n_local; m++) {
        const told_unit told = unit_to_tell(&units[m]);
        memcpy(bytes + sizeof process + (size_t)m * sizeof told, &told, sizeof told);
    }
    free(units);
    return POLYTILE_OK;
}

static pti_deal_obstacle find_obstacle_of_any(const pti_group *group, const pti_gathered *told) {
    int64_t most = PTI_DEAL_NO_OBSTACLE;
    for (int q = 0; q < pti_transport_count_processes(group->transport); q++) {
        told_process process;
        int64_t n_bytes;
        memcpy(&process, pti_gathered_of(told, q, &n_bytes), sizeof process);
        most = pti_max(most, process.obstacle);
    }
    return (pti_deal_obstacle)most;
}

polytile_status pti_deal_meet(const pti_group *group, const pti_recorded *recorded, bool are_rows,
                              polytile_status own, pti_deal_obstacle *obstacle,
                              pti_gathered *told) {
    pti_transport *transport = group->transport;
    const int64_t n_bytes = count_told_bytes(group);
    char *bytes = calloc(1, (size_t)n_bytes);
    polytile_status status;
    *told = (pti_gathered){0};
    if (bytes == NULL && own == POLYTILE_OK)
        own =
            pti_fail_memory(group->ctx, recorded->prepared->instance->kernel_name, (double)n_bytes);
    if (own == POLYTILE_OK)
        own = write_told(group, recorded, are_rows, *obstacle, bytes);
    PTI_TRY(transport->functions->gather(transport, own, bytes, n_bytes, told));
    *obstacle = find_obstacle_of_any(group, told);
done:
    free(bytes);
    return status;
}

static polytile_unit unit_as_told(const char *bytes, int process) {
    told_unit told;
    memcpy(&told, bytes, sizeof told);
    return (polytile_unit){.device = bytes + offsetof(told_unit, device),
                           .node = process,
                           .n_threads = (int)told.n_threads,
                           .fill_rows = told.fill_rows,
                           .piece_s = told.piece_s,
                           .prior_rows_per_s = told.prior_rows_per_s};
}

void pti_deal_list_units(const pti_group *group, const pti_gathered *told, polytile_unit *units) {
    const int n_local = group->transport->n_local;
    for (int u = 0; u < group->transport->n_members; u++) {
        int64_t n_bytes;
        const char *bytes = pti_gathered_of(told, u / n_local, &n_bytes);
        const size_t place = sizeof(told_process) + (size_t)(u % n_local) * sizeof(told_unit);
        units[u] = unit_as_told(bytes + place, u / n_local);
    }
}
