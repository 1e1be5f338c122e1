#include "base/checked.h"
#include "base/mix.h"
#include "distribute/policy/speeds.h"
#include "distribute/team/deal_launch.h"

/* Local members as units that rows are dealt out to. */

/** What a piece costs beside its rows, until it is known better: a launch of a queue. */
static const double piece_s = 10e-6;

static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++)
        hash = pti_mix(hash, *text);
    return hash;
}

/** What a speed is kept by: the kernel, the size of a row, and the device. */
static uint64_t key_of(const pti_team *team, const pti_recorded *recorded, int local) {
    const polytile_domain *threads = &recorded->prepared->instance->threads;
    uint64_t key = recorded->kernel->declaration_hash;
    for (int d = 1; d < threads->n_dims; d++)
        key = pti_mix(key, pti_range_count(threads->range[d]));
    return hash_text(key, pti_queue_text(team->member[local]));
}

/** Threads of a device that run one of a launch: launchers say how many. */
static int64_t count_lanes(const polytile_device *device, const polytile_implementation *of) {
    return device->cuda_capability == 0 || of->cuda_launcher == NULL ? 1
                                                                     : pti_max(1, of->cuda_lanes);
}

/** How many rows have as many threads as fill a device, with some lanes each. */
static int64_t find_fill_rows(const polytile_device *device, int64_t n_lanes,
                              const polytile_domain *threads) {
    int64_t row_threads = n_lanes;
    for (int d = 1; d < threads->n_dims && row_threads < device->fill_threads; d++)
        row_threads *= pti_max(1, pti_min(pti_range_count(threads->range[d]), INT32_MAX));
    return pti_max(1, pti_ceil_div(device->fill_threads, row_threads));
}

void pti_team_describe_units(const pti_team *team, const pti_recorded *recorded, bool are_rows,
                             polytile_unit *units) {
    const polytile_domain *threads = &recorded->prepared->instance->threads;
    const polytile_implementation *implementation = &recorded->prepared->implementation;
    for (int m = 0; m < team->transport->n_local; m++) {
        const polytile_device *device = team->member[m]->device;
        const int64_t n_lanes = count_lanes(device, implementation);
        units[m] = (polytile_unit){
            .device = pti_queue_text(team->member[m]),
            .n_threads = device->reaches_host ? (int)device->fill_threads : 0,
            .fill_rows = are_rows ? find_fill_rows(device, n_lanes, threads) : 1,
            .piece_s = piece_s,
            .prior_rows_per_s =
                are_rows ? pti_speeds_find(team->ctx, key_of(team, recorded, m)) : 0};
    }
}

void pti_team_note_speeds(const pti_team *team, const pti_recorded *recorded,
                          const pti_deal *deal) {
    for (int m = 0; m < team->transport->n_local; m++) {
        const polytile_unit *unit = &deal->unit[m];
        if (unit->done_rows > 0 && unit->busy_s > 0)
            pti_speeds_keep(team->ctx, key_of(team, recorded, m), pti_unit_rows_per_s(unit));
    }
}
