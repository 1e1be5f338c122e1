#include "launch/device/view.h"

#include <string.h>

static int64_t origin_to_first(const polytile_domain *resident, const int64_t *stride_bytes) {
    int64_t offset_bytes = 0;
    for (int d = 0; d < resident->n_dims; d++)
        offset_bytes += resident->range[d].lo * stride_bytes[d];
    return offset_bytes;
}

polytile_view pti_view_of(void *base, const pti_memory_layout *layout,
                          const polytile_domain *array) {
    polytile_view view = {.resident = layout->hull};
    for (int d = 0; d < array->n_dims; d++) {
        view.array_first[d] = array->range[d].lo;
        view.array_last[d] = array->range[d].hi;
    }
    memcpy(view.stride_bytes, layout->stride_bytes, sizeof view.stride_bytes);
    int64_t offset_bytes = origin_to_first(&view.resident, view.stride_bytes);
    view.origin = (void *)((uintptr_t)base - (uintptr_t)offset_bytes);
    return view;
}

pti_memory_layout pti_memory_layout_of_view(const polytile_view *view) {
    pti_memory_layout layout = {.hull = view->resident};
    memcpy(layout.stride_bytes, view->stride_bytes, sizeof layout.stride_bytes);
    return layout;
}

void *pti_view_first(const polytile_view *view) {
    int64_t offset_bytes = origin_to_first(&view->resident, view->stride_bytes);
    return (void *)((uintptr_t)view->origin + (uintptr_t)offset_bytes);
}
