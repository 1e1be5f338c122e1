#include "partition/prove/access_window.h"

#include "base/checked.h"

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

/** The window of one section; false if it is none. */
static bool find_window(const pti_instance *instance, const pti_section *section,
                        pti_access_window *window) {
    const polytile_domain *array = &instance->operand[section->operand].domain;
    bool is_named[POLYTILE_MAX_DIMS] = {false};
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        int k;
        if (subscript->step != 1 || array->range[d].step != 1 ||
            subscript->lo.constant > subscript->hi.constant ||
            !find_followed(subscript, instance->n_indices, &k) || (k >= 0 && is_named[k]))
            return false;
        if (k >= 0)
            is_named[k] = true;
        window->followed[d] = k;
        window->lo[d] = subscript->lo.constant;
        window->hi[d] = subscript->hi.constant;
    }
    return true;
}

static void extend_window(pti_access_window *window, const pti_access_window *added, int n_dims) {
    for (int d = 0; d < n_dims; d++) {
        if (window->n_sections > 0 && window->followed[d] != added->followed[d])
            window->is_known = false;
        window->followed[d] = added->followed[d];
        window->lo[d] =
            window->n_sections > 0 ? pti_min(window->lo[d], added->lo[d]) : added->lo[d];
        window->hi[d] =
            window->n_sections > 0 ? pti_max(window->hi[d], added->hi[d]) : added->hi[d];
    }
}

bool pti_section_is_of(const pti_section *section, pti_access_kind part) {
    if (part == PTI_ACCESS_READ)
        return section->role != POLYTILE_OUT && !section->fresh;
    return part == PTI_ACCESS_TOUCHED || section->role != POLYTILE_IN;
}

static void find_part(const pti_instance *instance, const pti_operand *operand,
                      pti_access_kind part, pti_access_window *window) {
    *window = (pti_access_window){.is_known = !operand->partial};
    for (int s = 0; s < operand->n_sections; s++) {
        const pti_section *section = &instance->section[operand->first_section + s];
        pti_access_window found;
        if (!pti_section_is_of(section, part))
            continue;
        if (find_window(instance, section, &found))
            extend_window(window, &found, section->n_dims);
        else
            window->is_known = false;
        window->n_sections++;
    }
}

const pti_access_window *pti_access_windows_of(pti_access_windows *windows,
                                               const pti_instance *instance) {
    size_t at = (size_t)((uintptr_t)instance / sizeof *instance % PTI_ACCESS_WINDOW_SLOTS);
    if (windows->slot[at].instance == instance)
        return windows->slot[at].window;
    pti_access_window *window =
        malloc(((size_t)instance->n_operands * PTI_N_ACCESS_KINDS + 1) * sizeof *window);
    free(windows->slot[at].window);
    windows->slot[at].window = window;
    windows->slot[at].instance = window == NULL ? NULL : instance;
    for (int o = 0; o < instance->n_operands && window != NULL; o++)
        for (int part = 0; part < PTI_N_ACCESS_KINDS; part++)
            find_part(instance, &instance->operand[o], (pti_access_kind)part,
                      &window[o * PTI_N_ACCESS_KINDS + part]);
    return window;
}

void pti_access_windows_free(pti_access_windows *windows) {
    for (int at = 0; at < PTI_ACCESS_WINDOW_SLOTS; at++)
        free(windows->slot[at].window);
}

bool pti_access_window_box(const pti_access_window *window, const polytile_domain *array,
                           const polytile_domain *threads, polytile_domain *box) {
    if (!window->is_known || window->n_sections == 0)
        return false;
    box->n_dims = array->n_dims;
    for (int d = 0; d < array->n_dims; d++) {
        int64_t lo = window->lo[d], hi = window->hi[d];
        if (window->followed[d] >= 0) {
            lo += threads->range[window->followed[d]].lo;
            hi += threads->range[window->followed[d]].hi;
        }
        box->range[d] =
            (polytile_range){pti_max(lo, array->range[d].lo), pti_min(hi, array->range[d].hi), 1};
        if (box->range[d].lo > box->range[d].hi)
            return false;
    }
    return true;
}
