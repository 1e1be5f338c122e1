#include "base/checked.h"
#include "base/mix.h"
#include "distribute/deal/launch.h"
#include "distribute/share/piece_traffic.h"
#include "launch/device/fill.h"
#include "launch/tuning/speeds.h"

#include <math.h>

/* Local members as units that rows are dealt out to. */

/** What a piece costs beside its rows and what it brings: a launch of a queue. */
static const double launch_s = 10e-6;

static uint64_t hash_text(uint64_t hash, const char *text) {
    for (; *text != '\0'; text++)
        hash = pti_mix(hash, *text);
    return hash;
}

/** Return the key of a speed: a hash of the kernel, the size of a row, and the device. */
static uint64_t key_of(const pti_group *group, const pti_recorded *recorded, int local) {
    const polytile_domain *threads = &recorded->prepared->instance->threads;
    uint64_t key = recorded->kernel->declaration_hash;
    for (int d = 1; d < threads->n_dims; d++)
        key = pti_mix(key, pti_range_count(threads->range[d]));
    return hash_text(key, pti_queue_text(group->member[local]));
}

/** Return how many rows have at least fill_threads threads. */
static int64_t find_fill_rows(int64_t fill_threads, const polytile_domain *threads) {
    int64_t row_threads = 1;
    for (int d = 1; d < threads->n_dims && row_threads < fill_threads; d++)
        row_threads *= pti_max(1, pti_min(pti_range_count(threads->range[d]), INT32_MAX));
    return pti_ceil_div(fill_threads, row_threads);
}

/** Return what is assumed of a member's link: what the launch says, else what was measured. */
static const polytile_link *link_of(const polytile_queue *member, const pti_recorded *recorded) {
    const polytile_link *asked = recorded->prepared->options.link;
    return asked != NULL ? asked : polytile_device_get_link(member->device);
}

/** The most launches of a piece. */
enum { MOST_PARTS = 8 };

/** through_buffers: time factor of results that go through pinned buffers to pageable memory, as
 * that of most programs is. part_at_end: share of the time of device-filling rows for which a
 * device is idle at a launch's end, between 0, where all end together, and a half. */
static const double through_buffers = 2.5, part_at_end = 0.25;

/** How many launches of a piece leave least that nothing hides: what the last one brings to the
 * host, and of each but the last that the device runs empty at its end. Units: seconds of all
 * results, and of such an end. */
static double count_parts(double results_s, double end_s) {
    return fmin(fmax(round(sqrt(results_s / end_s)), 1), MOST_PARTS);
}

int64_t pti_dealt_find_part(const pti_dealt_launch *dealt, int local, int64_t n_rows) {
    const polytile_queue *member = dealt->group->member[local];
    const polytile_unit *unit = &dealt->deal.unit[dealt->group->transport->first + local];
    const double speed = pti_unit_rows_per_s(unit);
    if (member->device->reaches_host || dealt->sums->pieces.n_sums > 0 || !(speed > 0))
        return n_rows;
    const pti_piece_traffic of = pti_piece_traffic_of(dealt->recorded->prepared->instance);
    const double row_s = through_buffers * of.written_bytes / (double)of.n_rows /
                         link_of(member, dealt->recorded)->download_bytes_per_s;
    const double end_s = unit->piece_s + part_at_end * (double)unit->fill_rows / speed;
    const double n_parts = count_parts((double)n_rows * row_s, end_s);
    const int64_t wanted = (int64_t)ceil((double)n_rows / n_parts);
    return pti_min(n_rows, pti_ceil_div(wanted, unit->fill_rows) * unit->fill_rows);
}

static polytile_unit describe_member(const pti_group *group, const pti_recorded *recorded,
                                     int local, const pti_piece_traffic *of) {
    polytile_queue *member = group->member[local];
    const polytile_domain *threads = &recorded->prepared->instance->threads;
    const int64_t fill_rows = find_fill_rows(
        pti_device_fill_threads(member->device, &recorded->prepared->implementation), threads);
    const double n_bytes = member->device->reaches_host
                               ? 0
                               : pti_piece_traffic_again(of, pti_queue_get_usable_bytes(member));
    return (polytile_unit){
        .fill_rows =
            pti_max(fill_rows, pti_piece_traffic_rows(of, n_bytes, group->transport->n_members)),
        .piece_s = launch_s + n_bytes / link_of(member, recorded)->upload_bytes_per_s,
        .prior_rows_per_s = pti_speeds_find(group->ctx, key_of(group, recorded, local))};
}

void pti_group_describe_units(const pti_group *group, const pti_recorded *recorded, bool are_rows,
                              polytile_unit *units) {
    const pti_piece_traffic of = pti_piece_traffic_of(recorded->prepared->instance);
    for (int m = 0; m < group->transport->n_local; m++) {
        const polytile_device *device = group->member[m]->device;
        units[m] = are_rows ? describe_member(group, recorded, m, &of)
                            : (polytile_unit){.fill_rows = 1, .piece_s = launch_s};
        units[m].device = pti_queue_text(group->member[m]);
        units[m].n_threads = device->reaches_host ? (int)device->fill_threads : 0;
    }
}

void pti_group_note_speeds(const pti_group *group, const pti_recorded *recorded,
                           const pti_deal *deal) {
    for (int m = 0; m < group->transport->n_local; m++) {
        const polytile_unit *unit = &deal->unit[group->transport->first + m];
        if (unit->done_rows > 0 && unit->busy_s > 0)
            pti_speeds_keep(group->ctx, key_of(group, recorded, m), pti_unit_rows_per_s(unit));
    }
}
