#include "partition/memory/relocation.h"

#include <stdlib.h>
#include <string.h>

/** Return the segment that contains some memory; -1: none does. */
static int find_within(const pti_placed *placed, int64_t offset_bytes, int64_t size_bytes) {
    for (int k = 0; k < placed->segments->n_segments; k++) {
        int64_t end_bytes = placed->place[k] + placed->segments->memory[k].size_bytes;
        if (placed->place[k] <= offset_bytes && offset_bytes + size_bytes <= end_bytes)
            return k;
    }
    return -1;
}

static bool find_placements_within(const pti_placed *before, const pti_schedule *schedule,
                                   int *within) {
    bool found = true;
    for (int64_t k = 0; k < schedule->n_placements && found; k++) {
        const pti_placement *placement = &schedule->placement[k];
        within[k] = find_within(before, placement->offset_bytes, placement->layout.size_bytes);
        found = within[k] >= 0;
    }
    return found;
}

static bool find_segments_within(const pti_placed *before, const pti_placed *after, int *within) {
    bool found = true;
    for (int k = 0; k < after->segments->n_segments && found; k++) {
        within[k] = find_within(before, after->place[k], after->segments->memory[k].size_bytes);
        found = within[k] >= 0;
    }
    return found;
}

static int64_t *duplicate_offsets(const int64_t *list, int n) {
    int64_t *made = malloc(((size_t)n + 1) * sizeof *made);
    if (made != NULL)
        memcpy(made, list, (size_t)n * sizeof *made);
    return made;
}

bool pti_relocation_create(const pti_placed *before, const pti_placed *after,
                           const pti_schedule *schedule, pti_relocation *relocation) {
    int n_before = before->segments->n_segments, n_after = after->segments->n_segments;
    *relocation = (pti_relocation){
        .n_before = n_before,
        .before = duplicate_offsets(before->place, n_before),
        .n_after = n_after,
        .after = duplicate_offsets(after->place, n_after),
        .after_within = malloc(((size_t)n_after + 1) * sizeof *relocation->after_within),
        .placement_within =
            malloc(((size_t)schedule->n_placements + 1) * sizeof *relocation->placement_within)};
    if (relocation->before == NULL || relocation->after == NULL ||
        relocation->after_within == NULL || relocation->placement_within == NULL) {
        pti_relocation_free(relocation);
        return false;
    }
    relocation->is_movable = find_segments_within(before, after, relocation->after_within) &&
                             find_placements_within(before, schedule, relocation->placement_within);
    return true;
}

void pti_relocation_free(pti_relocation *relocation) {
    free(relocation->before);
    free(relocation->after);
    free(relocation->after_within);
    free(relocation->placement_within);
    *relocation = (pti_relocation){0};
}

static bool is_there(const pti_relocation *relocation, const int64_t *place) {
    return memcmp(relocation->before, place, (size_t)relocation->n_before * sizeof *place) == 0;
}

bool pti_relocation_fits(const pti_relocation *relocation, const int64_t *place) {
    return relocation->is_movable || is_there(relocation, place);
}

bool pti_relocation_apply(pti_relocation *relocation, const int64_t *place,
                          pti_schedule *schedule) {
    if (is_there(relocation, place))
        return false;
    for (int64_t k = 0; k < schedule->n_placements; k++) {
        int within = relocation->placement_within[k];
        schedule->placement[k].offset_bytes += place[within] - relocation->before[within];
    }
    for (int k = 0; k < relocation->n_after; k++) {
        int within = relocation->after_within[k];
        relocation->after[k] += place[within] - relocation->before[within];
    }
    memcpy(relocation->before, place, (size_t)relocation->n_before * sizeof *place);
    return true;
}

int64_t pti_relocation_bytes(const pti_relocation *relocation, const pti_schedule *schedule) {
    int64_t n_offsets = relocation->n_before + relocation->n_after;
    return n_offsets * (int64_t)sizeof *relocation->before +
           (relocation->n_after + schedule->n_placements) *
               (int64_t)sizeof *relocation->after_within;
}
