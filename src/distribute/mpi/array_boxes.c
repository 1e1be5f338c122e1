#include "distribute/mpi/array_open.h"

#include <polytile/mpi.h>

#include <limits.h>

/* What a rank owns: its members' boxes, one member's after the other's. */

/** Return an array that is spread over ranks; NULL: it is not. */
static const pti_group_array *find_spread(const polytile_array *array, pti_transport **transport) {
    pti_group *group =
        array == NULL || array->queue == NULL ? NULL : pti_group_over_mpi(array->queue);
    const pti_group_array *group_array = group == NULL ? NULL : pti_group_find(group, array);
    if (group_array == NULL || group_array->memory != PTI_GROUP_OWN)
        return NULL;
    *transport = pti_group_transport(group);
    return group_array;
}

static int64_t count_member_boxes(const pti_ownership *ownership, int member) {
    int coordinate[POLYTILE_MAX_DIMS];
    int64_t n_boxes = 1;
    pti_member_grid_locate(&ownership->grid, member, coordinate);
    for (int d = 0; d < ownership->domain.n_dims; d++)
        n_boxes *= pti_ownership_count(ownership, d, coordinate[d]);
    return n_boxes;
}

static polytile_domain get_box(const pti_ownership *ownership, int member, int64_t k) {
    int coordinate[POLYTILE_MAX_DIMS];
    polytile_domain box = {.n_dims = ownership->domain.n_dims};
    pti_member_grid_locate(&ownership->grid, member, coordinate);
    for (int d = box.n_dims - 1; d >= 0; d--) {
        int64_t n_ranges = pti_ownership_count(ownership, d, coordinate[d]);
        box.range[d] = pti_ownership_range(ownership, d, coordinate[d], k % n_ranges);
        k /= n_ranges;
    }
    return box;
}

int polytile_mpi_array_count_boxes(const polytile_array *array) {
    pti_transport *transport;
    const pti_group_array *group_array = find_spread(array, &transport);
    int64_t n_boxes = 0;
    for (int m = 0; group_array != NULL && m < transport->n_local; m++)
        n_boxes += count_member_boxes(&group_array->ownership, transport->first + m);
    return n_boxes > INT_MAX ? INT_MAX : (int)n_boxes;
}

polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k) {
    pti_transport *transport;
    const pti_group_array *group_array = find_spread(array, &transport);
    if (group_array == NULL || k < 0 || k >= polytile_mpi_array_count_boxes(array))
        return pti_box_empty(array == NULL ? 1 : array->domain.n_dims);
    int64_t left = k;
    int member = transport->first;
    while (left >= count_member_boxes(&group_array->ownership, member))
        left -= count_member_boxes(&group_array->ownership, member++);
    return get_box(&group_array->ownership, member, left);
}
