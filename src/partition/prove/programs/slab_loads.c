#include "partition/prove/programs/slab_loads.h"

#include "partition/prove/needs/needs.h"

/** Find the threads that tiles run of a launch. Returns how many boxes they are. */
static int list_parts_of_slab(const pti_schedule *schedule, const pti_tiles *tiles, int launch,
                              const polytile_domain *own, polytile_domain parts[PTI_TILING_PARTS]) {
    const int n_later = pti_slab_last_launch(tiles) - launch;
    pti_margin margin = {{0}, {0}};
    for (int d = 0; d < own->n_dims; d++) {
        margin.before[d] = n_later * tiles->margin_per_launch.before[d];
        margin.after[d] = n_later * tiles->margin_per_launch.after[d];
    }
    return pti_parts_around(own, &margin, &schedule->launch[launch].call.instance->threads,
                            tiles->rounds, parts);
}

typedef bool role_filter(polytile_role role);

/** Of any role but out it loads, if only to keep what is there. */
static bool does_role_load(polytile_role role) {
    return role != POLYTILE_OUT;
}

static bool does_role_write(polytile_role role) {
    return role != POLYTILE_IN;
}

/** Put what threads touch of an array by some sections after the boxes of a list. */
static void list_touched(const pti_call *call, int array, role_filter *is_of,
                         const polytile_domain *threads, pti_boxes *list) {
    for (int s = 0; s < call->instance->n_sections; s++) {
        const pti_section *section = &call->instance->section[s];
        if (call->array[section->operand] == array && is_of(section->role))
            pti_needs_list(call->instance, section, threads, list);
    }
}

void pti_slab_loads(const pti_schedule *schedule, const pti_tiles *tiles,
                    const polytile_domain *own, int array, pti_boxes *loads) {
    pti_boxes written = {0}, listed = {0}, read = {0};
    pti_boxes_clear(loads);
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++) {
        const pti_call *call = &schedule->launch[l].call;
        polytile_domain parts[PTI_TILING_PARTS];
        const int n_parts = list_parts_of_slab(schedule, tiles, l, own, parts);
        pti_boxes_clear(&listed);
        pti_boxes_clear(&read);
        for (int p = 0; p < n_parts; p++)
            list_touched(call, array, does_role_load, &parts[p], &listed);
        pti_boxes_unite(&read, &listed, pti_boxes_add);
        pti_boxes_subtract_all(&read, &written);
        pti_boxes_unite(loads, &read, pti_boxes_include);
        list_touched(call, array, does_role_write, &call->instance->threads, &written);
    }
    loads->failed |= written.failed || listed.failed || read.failed;
    pti_boxes_free(&written);
    pti_boxes_free(&listed);
    pti_boxes_free(&read);
}

void pti_slab_writes(const pti_schedule *schedule, const pti_tiles *tiles, int array,
                     pti_boxes *writes) {
    pti_boxes listed = {0};
    pti_boxes_clear(writes);
    for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles); l++) {
        const pti_call *call = &schedule->launch[l].call;
        list_touched(call, array, does_role_write, &call->instance->threads, &listed);
    }
    pti_boxes_unite(writes, &listed, pti_boxes_add);
    writes->failed |= listed.failed;
    pti_boxes_free(&listed);
}
