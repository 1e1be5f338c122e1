#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "base/mix.h"
#include "distribute/deal/launch.h"
#include "distribute/policy/speeds.h"

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

/** How many rows have as many threads as fill a device. */
static int64_t find_fill_rows(const polytile_device *device, const polytile_domain *threads) {
    int64_t row_threads = 1;
    for (int d = 1; d < threads->n_dims && row_threads < device->fill_threads; d++)
        row_threads *= pti_max(1, pti_min(pti_range_count(threads->range[d]), INT32_MAX));
    return pti_max(1, pti_ceil_div(device->fill_threads, row_threads));
}

/** What a launch moves. */
typedef struct traffic {
    double touched_bytes; /* by all rows */
    double fixed_bytes;   /* of these, what each row reads as a whole */
} traffic;

static traffic find_traffic(const pti_instance *instance) {
    traffic of = {0};
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        polytile_domain hull;
        if (operand->is_scratch ||
            !pti_footprint_find_hull(instance, o, PTI_TOUCHES, &instance->threads, &hull))
            continue;
        const double n_bytes = (double)pti_box_count(&hull) * (double)operand->element_bytes;
        of.touched_bytes += n_bytes;
        if (operand->reads && !operand->writes && !pti_operand_depends(instance, o, 0))
            of.fixed_bytes += n_bytes;
    }
    return of;
}

/** The bytes that come again to a member's device with each piece: what each row reads, as the
 * second matrix of a product, where half of the memory does not hold it. */
static double bytes_a_piece(polytile_queue *member, const traffic *of) {
    const double usable_bytes = (double)pti_queue_get_usable_bytes(member);
    const bool stays = of->touched_bytes <= usable_bytes || 2 * of->fixed_bytes <= usable_bytes;
    return member->device->reaches_host || stays ? 0 : of->fixed_bytes;
}

/** What is assumed of a member's link: what the launch says, else what was measured. */
static const polytile_link *link_of(const polytile_queue *member, const pti_recorded *recorded) {
    const polytile_link *asked = recorded->prepared->options.link;
    return asked != NULL ? asked : polytile_device_get_link(member->device);
}

/** As many rows as move what each piece brings anyway, but at most a quarter of an equal part. */
static int64_t rows_worth_bringing(const traffic *of, double bytes, int64_t n_rows, int n_units) {
    const double row_bytes = (of->touched_bytes - of->fixed_bytes) / (double)pti_max(n_rows, 1);
    const int64_t most = pti_max(1, n_rows / (4 * n_units));
    return bytes < row_bytes * (double)most ? (int64_t)ceil(bytes / row_bytes) : most;
}

static polytile_unit describe_member(const pti_group *group, const pti_recorded *recorded,
                                     int local, const traffic *of) {
    polytile_queue *member = group->member[local];
    const polytile_domain *threads = &recorded->prepared->instance->threads;
    const double bytes = bytes_a_piece(member, of);
    polytile_unit unit = {
        .fill_rows = find_fill_rows(member->device, threads),
        .piece_s = launch_s + bytes / link_of(member, recorded)->upload_bytes_per_s,
        .prior_rows_per_s = pti_speeds_find(group->ctx, key_of(group, recorded, local))};
    if (bytes > 0)
        unit.fill_rows = pti_max(unit.fill_rows,
                                 rows_worth_bringing(of, bytes, pti_range_count(threads->range[0]),
                                                     group->transport->n_local));
    return unit;
}

void pti_group_describe_units(const pti_group *group, const pti_recorded *recorded, bool are_rows,
                              polytile_unit *units) {
    const traffic of = find_traffic(recorded->prepared->instance);
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
        const polytile_unit *unit = &deal->unit[m];
        if (unit->done_rows > 0 && unit->busy_s > 0)
            pti_speeds_keep(group->ctx, key_of(group, recorded, m), pti_unit_rows_per_s(unit));
    }
}
