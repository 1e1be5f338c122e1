#include "partition/prove/needs/section_reach.h"

#include "base/checked.h"
#include "partition/prove/needs/indirect_needs.h"

#include <stdlib.h>

/** The one index that both ends of a subscript follow, thread by thread, -1 if none; false if the
 * ends follow others. */
static bool find_followed(const pti_subscript *subscript, int n_indices, int *followed) {
    *followed = -1;
    for (int k = 0; k < n_indices; k++) {
        int64_t factor = subscript->lo.index[k];
        if (factor != subscript->hi.index[k])
            return false;
        if (factor == 0)
            continue;
        if (factor != 1 || *followed >= 0)
            return false;
        *followed = k;
    }
    return true;
}

/** Find the reach of one section. False: it has none. A section with an edge has none, nor one that
 * is clipped to less than the array, since that may cut off all of it; one that is looked up has
 * none, since it follows no index. */
static bool find_section_reach(const pti_instance *instance, const pti_section *section,
                               pti_section_reach *reach) {
    const polytile_domain *array = &instance->operand[section->operand].domain;
    bool is_named[POLYTILE_MAX_DIMS] = {false};
    if (section->edges != 0 || section->within.n_dims > 0 || section->indirection != NULL ||
        pti_needs_in_band(instance, section) != NULL)
        return false;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        int k;
        if (subscript->step != 1 || array->range[d].step != 1 ||
            subscript->lo.constant > subscript->hi.constant ||
            !find_followed(subscript, instance->n_indices, &k) || (k >= 0 && is_named[k]))
            return false;
        if (k >= 0)
            is_named[k] = true;
        reach->followed[d] = k;
        reach->lo[d] = subscript->lo.constant;
        reach->hi[d] = subscript->hi.constant;
    }
    return true;
}

static void extend_reach(pti_section_reach *reach, const pti_section_reach *added, int n_dims) {
    for (int d = 0; d < n_dims; d++) {
        if (reach->n_sections > 0 && reach->followed[d] != added->followed[d])
            reach->is_known = false;
        reach->followed[d] = added->followed[d];
        reach->lo[d] = reach->n_sections > 0 ? pti_min(reach->lo[d], added->lo[d]) : added->lo[d];
        reach->hi[d] = reach->n_sections > 0 ? pti_max(reach->hi[d], added->hi[d]) : added->hi[d];
    }
}

bool pti_section_is_of(const pti_section *section, pti_access_kind kind) {
    if (section->role == POLYTILE_SCRATCH)
        return kind == PTI_ACCESS_TOUCHED;
    if (kind == PTI_ACCESS_READ)
        return section->role != POLYTILE_OUT && !section->fresh;
    return kind == PTI_ACCESS_TOUCHED || section->role != POLYTILE_IN;
}

static void find_access_reach(const pti_instance *instance, const pti_operand *operand,
                              pti_access_kind kind, pti_section_reach *reach) {
    *reach = (pti_section_reach){.is_known = !operand->partial};
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        pti_section_reach found;
        if (!pti_section_is_of(section, kind))
            continue;
        if (find_section_reach(instance, section, &found))
            extend_reach(reach, &found, section->n_dims);
        else
            reach->is_known = false;
        reach->n_sections++;
    }
}

const pti_section_reach *pti_section_reaches_of(pti_section_reaches *reaches,
                                                const pti_instance *instance) {
    size_t at = (size_t)((uintptr_t)instance->operand / 64 % PTI_SECTION_REACH_BUCKETS);
    if (reaches->bucket[at].reach != NULL && reaches->bucket[at].operand == instance->operand &&
        reaches->bucket[at].section == instance->section &&
        reaches->bucket[at].n_operands == instance->n_operands)
        return reaches->bucket[at].reach;
    pti_section_reach *reach =
        malloc(((size_t)instance->n_operands * PTI_N_ACCESS_KINDS + 1) * sizeof *reach);
    free(reaches->bucket[at].reach);
    reaches->bucket[at].reach = reach;
    reaches->bucket[at].operand = instance->operand;
    reaches->bucket[at].section = instance->section;
    reaches->bucket[at].n_operands = instance->n_operands;
    for (int o = 0; o < instance->n_operands && reach != NULL; o++)
        for (int kind = 0; kind < PTI_N_ACCESS_KINDS; kind++)
            find_access_reach(instance, &instance->operand[o], (pti_access_kind)kind,
                              &reach[o * PTI_N_ACCESS_KINDS + kind]);
    return reach;
}

void pti_section_reaches_free(pti_section_reaches *reaches) {
    for (int at = 0; at < PTI_SECTION_REACH_BUCKETS; at++)
        free(reaches->bucket[at].reach);
}

bool pti_section_reach_box(const pti_section_reach *reach, const polytile_domain *array,
                           const polytile_domain *threads, polytile_domain *box) {
    if (!reach->is_known || reach->n_sections == 0)
        return false;
    box->n_dims = array->n_dims;
    for (int d = 0; d < array->n_dims; d++) {
        int64_t lo = reach->lo[d], hi = reach->hi[d];
        if (reach->followed[d] >= 0) {
            lo += threads->range[reach->followed[d]].lo;
            hi += threads->range[reach->followed[d]].hi;
        }
        box->range[d] =
            (polytile_range){pti_max(lo, array->range[d].lo), pti_min(hi, array->range[d].hi), 1};
        if (box->range[d].lo > box->range[d].hi)
            return false;
    }
    return true;
}
