#include "access/isl/point.h"

#include "access/isl/isl_memory.h"
#include "access/isl/relations.h"

#include <isl/point.h>
#include <isl/val.h>

static int64_t get_coordinate(__isl_keep isl_point *point, int at) {
    isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, at);
    int64_t held = value == NULL ? 0 : isl_val_get_num_si(value);
    isl_val_free(value);
    return held;
}

static bool has_point(__isl_keep isl_set *set, __isl_keep isl_point *point) {
    isl_set *one = isl_set_from_point(isl_point_copy(point));
    bool has =
        isl_set_is_empty(one) == isl_bool_false && isl_set_is_subset(one, set) == isl_bool_true;
    isl_set_free(one);
    return has;
}

/** Return the first point, or any if isl does not find it; void if the set is empty, NULL if isl
 * fails. */
static __isl_give isl_point *sample_set(__isl_take isl_set *set) {
    isl_point *first = isl_set_sample_point(isl_set_lexmin(isl_set_copy(set)));
    if (has_point(set, first)) {
        isl_set_free(set);
        return first;
    }
    isl_point_free(first);
    if (pti_isl_memory_ran_out()) {
        isl_set_free(set);
        return NULL;
    }
    pti_isl_begin(isl_set_get_ctx(set));
    return isl_set_sample_point(set);
}

bool pti_first_point(__isl_take isl_set *set, int64_t *point) {
    int n_dims = set == NULL ? 0 : (int)isl_set_dim(set, isl_dim_set);
    isl_point *found = set == NULL ? NULL : sample_set(set);
    bool is_found = found != NULL && isl_point_is_void(found) == isl_bool_false;
    for (int d = 0; is_found && d < n_dims; d++)
        point[d] = get_coordinate(found, d);
    isl_point_free(found);
    return is_found;
}

bool pti_first_pair(__isl_take isl_map *map, int64_t *from, int64_t *to) {
    int64_t point[2 * POLYTILE_MAX_DIMS];
    int n_from = map == NULL ? 0 : (int)isl_map_dim(map, isl_dim_in);
    int n_to = map == NULL ? 0 : (int)isl_map_dim(map, isl_dim_out);
    bool is_found = pti_first_point(isl_map_wrap(map), point);
    for (int k = 0; is_found && k < n_from; k++)
        from[k] = point[k];
    for (int d = 0; is_found && d < n_to; d++)
        to[d] = point[n_from + d];
    return is_found;
}
