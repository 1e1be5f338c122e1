#include "launch/device/view.h"

#include "base/checked.h"

#include <string.h>

static uintptr_t origin_to_first(const polytile_domain *resident, const int64_t *stride_bytes) {
    uintptr_t offset_bytes = 0;
    for (int d = 0; d < resident->n_dims; d++)
        offset_bytes += (uintptr_t)pti_mul_wrapped(resident->range[d].lo, stride_bytes[d]);
    return offset_bytes;
}

static void set_array_ends(polytile_view *view, const polytile_domain *array) {
    for (int d = 0; d < array->n_dims; d++) {
        view->array_first[d] = array->range[d].lo;
        view->array_last[d] = array->range[d].hi;
    }
}

polytile_view pti_view_of(void *base, const pti_memory_layout *layout,
                          const polytile_domain *array) {
    polytile_view view = {.resident = layout->hull};
    set_array_ends(&view, array);
    memcpy(view.stride_bytes, layout->stride_bytes, sizeof view.stride_bytes);
    view.origin = (void *)((uintptr_t)base - origin_to_first(&view.resident, view.stride_bytes));
    return view;
}

polytile_view pti_view_through(const polytile_view *view, const pti_index_map *map,
                               const polytile_domain *array) {
    polytile_view through = {0};
    uintptr_t offset_bytes = 0;
    set_array_ends(&through, array);
    for (int d = 0; d < map->n_to; d++) {
        offset_bytes += (uintptr_t)pti_mul_wrapped(map->constant[d], view->stride_bytes[d]);
        for (int k = 0; k < map->n_from; k++)
            through.stride_bytes[k] =
                (int64_t)((uint64_t)through.stride_bytes[k] +
                          (uint64_t)pti_mul_wrapped(map->coefficient[d][k], view->stride_bytes[d]));
    }
    through.origin = (void *)((uintptr_t)view->origin + offset_bytes);
    return through;
}

pti_memory_layout pti_memory_layout_of_view(const polytile_view *view) {
    pti_memory_layout layout = {.hull = view->resident};
    memcpy(layout.stride_bytes, view->stride_bytes, sizeof layout.stride_bytes);
    return layout;
}

void *pti_view_first(const polytile_view *view) {
    return (void *)((uintptr_t)view->origin + origin_to_first(&view->resident, view->stride_bytes));
}
