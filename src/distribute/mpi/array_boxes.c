#include "distribute/mpi/array_open.h"

#include <polytile/mpi.h>

#include <limits.h>

/** Return the ownership of an array that is spread over ranks; NULL: it is not. */
static const pti_ownership *find_ownership(const polytile_array *array, int *rank) {
    pti_team *team = array == NULL || array->queue == NULL ? NULL : pti_team_over_mpi(array->queue);
    const pti_team_array *of = team == NULL ? NULL : pti_team_find(team, array);
    if (of == NULL || of->memory != PTI_TEAM_OWN)
        return NULL;
    *rank = pti_team_transport(team)->first;
    return &of->ownership;
}

int polytile_mpi_array_count_boxes(const polytile_array *array) {
    int rank = 0, coordinate[POLYTILE_MAX_DIMS];
    const pti_ownership *ownership = find_ownership(array, &rank);
    if (ownership == NULL)
        return 0;
    int64_t n_boxes = 1;
    pti_member_grid_locate(&ownership->grid, rank, coordinate);
    for (int d = 0; d < ownership->domain.n_dims; d++)
        n_boxes *= pti_ownership_count(ownership, d, coordinate[d]);
    return n_boxes > INT_MAX ? INT_MAX : (int)n_boxes;
}

polytile_domain polytile_mpi_array_get_box(const polytile_array *array, int k) {
    int rank = 0, coordinate[POLYTILE_MAX_DIMS];
    const pti_ownership *ownership = find_ownership(array, &rank);
    if (ownership == NULL || k < 0 || k >= polytile_mpi_array_count_boxes(array))
        return pti_box_empty(array == NULL ? 1 : array->domain.n_dims);
    polytile_domain box = {.n_dims = ownership->domain.n_dims};
    pti_member_grid_locate(&ownership->grid, rank, coordinate);
    for (int d = box.n_dims - 1; d >= 0; d--) {
        int64_t n_ranges = pti_ownership_count(ownership, d, coordinate[d]);
        box.range[d] = pti_ownership_range(ownership, d, coordinate[d], k % n_ranges);
        k = (int)(k / n_ranges);
    }
    return box;
}
