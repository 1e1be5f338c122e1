#include "access/isl/edge_relation.h"

#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/space.h>
#include <isl/val.h>

/** A dimension of an array, and its place. */
typedef struct edge_dimension {
    int d;
    int n_dims;
    polytile_range array;
} edge_dimension;

/** An integer as a value of isl, in the context of a map. */
static __isl_give isl_val *isl_integer(__isl_keep isl_map *map, int64_t value) {
    return isl_val_int_from_si(isl_map_get_ctx(map), value);
}

/** Let all dimensions but one be equal before and after. */
static __isl_give isl_map *keep_others(__isl_take isl_map *map, const edge_dimension *of) {
    for (int e = 0; e < of->n_dims; e++)
        if (e != of->d)
            map = isl_map_equate(map, isl_dim_in, e, isl_dim_out, e);
    return map;
}

static __isl_give isl_map *end_inside(__isl_take isl_map *map, const edge_dimension *of) {
    map =
        isl_map_lower_bound_val(map, isl_dim_out, (unsigned)of->d, isl_integer(map, of->array.lo));
    return isl_map_upper_bound_val(map, isl_dim_out, (unsigned)of->d,
                                   isl_integer(map, of->array.hi));
}

/** Return { [element] -> [element, rounds] : they differ by that many rounds of the array }. */
static __isl_give isl_map *rounds_of(__isl_take isl_space *space, const edge_dimension *of) {
    space = isl_space_add_dims(space, isl_dim_out, 1);
    isl_constraint *turns =
        isl_constraint_alloc_equality(isl_local_space_from_space(isl_space_copy(space)));
    isl_ctx *isl = isl_space_get_ctx(space);
    turns = isl_constraint_set_coefficient_si(turns, isl_dim_in, of->d, 1);
    turns = isl_constraint_set_coefficient_si(turns, isl_dim_out, of->d, -1);
    turns = isl_constraint_set_coefficient_val(
        turns, isl_dim_out, of->n_dims, isl_val_int_from_si(isl, of->array.hi - of->array.lo + 1));
    return isl_map_add_constraint(isl_map_universe(space), turns);
}

static __isl_give isl_map *wrap_relation(__isl_take isl_space *space, const edge_dimension *of) {
    isl_map *map = keep_others(rounds_of(space, of), of);
    map = isl_map_project_out(map, isl_dim_out, (unsigned)of->n_dims, 1);
    return end_inside(map, of);
}

/** Return { [element] -> [outermost element] } of those beyond one end. */
static __isl_give isl_map *end_relation(__isl_take isl_space *space, const edge_dimension *of,
                                        bool is_low) {
    isl_map *map = keep_others(isl_map_universe(space), of);
    const unsigned d = (unsigned)of->d;
    map = isl_map_fix_val(map, isl_dim_out, d,
                          isl_integer(map, is_low ? of->array.lo : of->array.hi));
    return is_low ? isl_map_upper_bound_val(map, isl_dim_in, d, isl_integer(map, of->array.lo - 1))
                  : isl_map_lower_bound_val(map, isl_dim_in, d, isl_integer(map, of->array.hi + 1));
}

static __isl_give isl_map *clamp_relation(__isl_take isl_space *space, const edge_dimension *of) {
    isl_map *inside = end_inside(isl_map_identity(isl_space_copy(space)), of);
    isl_map *below = end_relation(isl_space_copy(space), of, true);
    return isl_map_union(inside, isl_map_union(below, end_relation(space, of, false)));
}

__isl_give isl_map *pti_apply_edges(__isl_take isl_map *map, const pti_access *access,
                                    const polytile_domain *whole) {
    isl_id *array = isl_map_get_tuple_id(map, isl_dim_out);
    map = isl_map_reset_tuple_id(map, isl_dim_out);
    for (int d = 0; d < access->n_dims; d++) {
        const edge_dimension of = {d, access->n_dims, whole->range[d]};
        isl_space *space = isl_space_map_from_set(isl_space_range(isl_map_get_space(map)));
        if (access->subscript[d].edge == POLYTILE_EDGE_CLIP)
            isl_space_free(space);
        else
            map = isl_map_apply_range(map, access->subscript[d].edge == POLYTILE_EDGE_WRAP
                                               ? wrap_relation(space, &of)
                                               : clamp_relation(space, &of));
    }
    return isl_map_set_tuple_id(map, isl_dim_out, array);
}
