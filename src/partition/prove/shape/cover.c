#include "partition/prove/shape/shape.h"

#include "access/set/boxes.h"
#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>

/** A superblock by its first index along one dimension, to sort superblocks. */
typedef struct cover_key {
    int64_t first;
    int64_t superblock;
} cover_key;

static bool reject_superblock(const pti_schedule *schedule, int64_t k, const char *reason,
                              pti_text *why) {
    pti_text_add(why, "superblock %" PRId64 ", threads ", k);
    pti_box_write(why, &schedule->superblock[k]);
    return PTI_REJECT(why, ", %s", reason);
}

static int compare_keys(const void *left, const void *right) {
    const cover_key *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/** The dimension that is longest against the superblocks, which have most first indices there. */
static int find_longest_dimension(const pti_schedule *schedule, const pti_schedule_launch *launch) {
    const polytile_domain *box = &schedule->superblock[launch->first_superblock];
    int longest = 0;
    double most = 0;
    for (int d = 0; d < launch->call.instance->n_indices; d++) {
        double extents = 0;
        for (int64_t k = 0; k < launch->n_superblocks; k++)
            extents += (double)pti_range_count(box[k].range[d]);
        double length = (double)pti_range_count(launch->call.instance->threads.range[d]) / extents;
        longest = length > most ? d : longest;
        most = length > most ? length : most;
    }
    return longest;
}

/** Fill keys with a launch's superblocks, sorted along dimension d. */
static void sort_superblocks(const pti_schedule *schedule, const pti_schedule_launch *launch, int d,
                             cover_key *keys) {
    for (int64_t k = 0; k < launch->n_superblocks; k++) {
        int64_t superblock = launch->first_superblock + k;
        keys[k] = (cover_key){schedule->superblock[superblock].range[d].lo, superblock};
    }
    qsort(keys, (size_t)launch->n_superblocks, sizeof *keys, compare_keys);
}

/** Return whether each superblock lies after the one before it, along one dimension. */
static bool follow_along(const pti_schedule *schedule, const pti_schedule_launch *launch, int d) {
    const polytile_domain *box = &schedule->superblock[launch->first_superblock];
    for (int64_t k = 1; k < launch->n_superblocks; k++)
        if (box[k].range[d].lo <= box[k - 1].range[d].hi)
            return false;
    return true;
}

static bool check_disjoint(const pti_schedule *schedule, const pti_schedule_launch *launch,
                           cover_key *keys, pti_text *why) {
    for (int along = 0; along < launch->call.instance->n_indices; along++)
        if (follow_along(schedule, launch, along))
            return true;
    int d = find_longest_dimension(schedule, launch);
    sort_superblocks(schedule, launch, d, keys);
    for (int64_t i = 0; i < launch->n_superblocks; i++) {
        const polytile_domain *box = &schedule->superblock[keys[i].superblock];
        polytile_domain common;
        for (int64_t j = i + 1; j < launch->n_superblocks && keys[j].first <= box->range[d].hi; j++)
            if (pti_box_may_meet(box, &schedule->superblock[keys[j].superblock]) &&
                pti_box_intersect(box, &schedule->superblock[keys[j].superblock], &common))
                return reject_superblock(schedule, keys[i].superblock, "overlaps another", why);
    }
    return true;
}

/** Superblocks that are inside the domain and disjoint cover it if they are as many threads. */
static bool check_n_threads(const pti_schedule *schedule, const pti_schedule_launch *launch,
                            pti_text *why) {
    int64_t n_threads = 0, n_all = pti_box_count(&launch->call.instance->threads);
    for (int64_t n = 0; n < launch->n_superblocks; n++) {
        int64_t k = launch->first_superblock + n;
        const polytile_domain *box = &schedule->superblock[k];
        if (!pti_check_box_inside(box, &launch->call.instance->threads))
            return reject_superblock(schedule, k, "is no box of the launch domain", why);
        if (pti_box_has_gaps(box))
            return reject_superblock(schedule, k, "has gaps", why);
        if (pti_add_overflows(n_threads, pti_box_count(box), &n_threads))
            return reject_superblock(schedule, k, "makes more threads than 64 bits count", why);
    }
    if (n_threads != n_all)
        return PTI_REJECT(why,
                          "the superblocks hold %" PRId64 " threads, the launch domain %" PRId64,
                          n_threads, n_all);
    return true;
}

bool pti_check_ranges(const pti_schedule *schedule, pti_text *why) {
    int64_t next = 0, next_placement = 0;
    for (int l = 0; l < schedule->n_launches; l++) {
        const pti_schedule_launch *launch = &schedule->launch[l];
        if (launch->first_superblock != next || launch->n_superblocks < 1 ||
            launch->n_superblocks > schedule->n_superblocks - next)
            return PTI_REJECT(why,
                              "launch %d has %" PRId64 " superblocks from %" PRId64
                              ", where the next of %" PRId64 " is %" PRId64,
                              l, launch->n_superblocks, launch->first_superblock,
                              schedule->n_superblocks, next);
        if (launch->first_placement != next_placement)
            return PTI_REJECT(
                why, "launch %d has placements from %" PRId64 ", where the next is %" PRId64, l,
                launch->first_placement, next_placement);
        next += launch->n_superblocks;
        next_placement += launch->n_superblocks * launch->call.instance->n_operands;
    }
    if (next != schedule->n_superblocks)
        return PTI_REJECT(why, "superblock %" PRId64 " is of no launch", next);
    if (next_placement != schedule->n_launch_placements)
        return PTI_REJECT(
            why, "the superblocks use %" PRId64 " placements, where %" PRId64 " are listed",
            next_placement, schedule->n_launch_placements);
    return true;
}

bool pti_check_superblocks(const pti_schedule *schedule, pti_text *why) {
    if (!pti_check_ranges(schedule, why))
        return false;
    cover_key *keys = calloc((size_t)schedule->n_superblocks + 1, sizeof *keys);
    if (keys == NULL)
        return PTI_REJECT(why, "out of host memory for %" PRId64 " superblocks",
                          schedule->n_superblocks);
    bool holds = true;
    for (int l = 0; l < schedule->n_launches && holds; l++)
        holds = check_n_threads(schedule, &schedule->launch[l], why) &&
                check_disjoint(schedule, &schedule->launch[l], keys, why);
    free(keys);
    return holds;
}
