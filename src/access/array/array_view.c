#include "access/array/array.h"

#include "access/set/box.h"
#include "access/set/box_text.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>

/* Arrays over memory that is laid out otherwise than in C order, or that is another array's. */

static int64_t element_stride_bytes(const polytile_array *array, int dim) {
    return array->layout.stride_bytes[dim] * array->domain.range[dim].step;
}

/* Strides. */

/** Return the dimension of several elements that has the shortest stride above one; -1: none is
 * left. Of equal ones the first comes first. */
static int next_outer(const polytile_array *array, int inner) {
    const int64_t *stride = array->layout.stride_bytes;
    int found = -1;
    for (int d = 0; d < array->domain.n_dims; d++) {
        bool is_above =
            inner < 0 || stride[d] > stride[inner] || (stride[d] == stride[inner] && d > inner);
        if (pti_range_count(array->domain.range[d]) > 1 && is_above &&
            (found < 0 || stride[d] < stride[found]))
            found = d;
    }
    return found;
}

static polytile_status refuse_stride(const polytile_array *array, int dim, int64_t least_bytes) {
    return pti_fail(array->object.context, POLYTILE_INVALID,
                    "array %s: dimension %d has a stride of %" PRId64
                    " bytes, so that elements overlap; it must be at least %" PRId64,
                    array->name, dim, array->layout.stride_bytes[dim], least_bytes);
}

/** Find the bytes from the first element to the last, dimension by dimension from the shortest
 * stride on: each must be at least as long as what lies within it. */
static polytile_status find_span(polytile_array *array) {
    int64_t span_bytes = array->element_bytes;
    for (int d = next_outer(array, -1); d >= 0; d = next_outer(array, d)) {
        int64_t stride_bytes = array->layout.stride_bytes[d], length_bytes;
        if (stride_bytes < span_bytes)
            return refuse_stride(array, d, span_bytes);
        if (pti_mul_overflows(pti_range_count(array->domain.range[d]) - 1, stride_bytes,
                              &length_bytes) ||
            pti_add_overflows(span_bytes, length_bytes, &span_bytes))
            return pti_fail(array->object.context, POLYTILE_OVERFLOW,
                            "array %s: with a stride of %" PRId64
                            " bytes in dimension %d its last element is 2^63 bytes away or more",
                            array->name, stride_bytes, d);
    }
    array->layout.size_bytes = span_bytes;
    return POLYTILE_OK;
}

static polytile_status set_strides(polytile_array *array, const int64_t *stride_bytes) {
    for (int d = 0; d < array->domain.n_dims; d++) {
        array->layout.stride_bytes[d] = stride_bytes[d];
        if (stride_bytes[d] < 1)
            return refuse_stride(array, d, 1);
    }
    return find_span(array);
}

polytile_status polytile_array_wrap_strides(polytile_context *ctx, const char *name,
                                            polytile_type type, const polytile_domain *domain,
                                            const int64_t *stride_bytes, void *data,
                                            polytile_array **array) {
    polytile_status status = polytile_array_wrap_domain(ctx, name, type, domain, data, array);
    if (status != POLYTILE_OK)
        return status;
    status = stride_bytes != NULL
                 ? set_strides(*array, stride_bytes)
                 : pti_fail(ctx, POLYTILE_INVALID, "array %s: its strides are NULL", name);
    if (status != POLYTILE_OK) {
        polytile_array_destroy(*array);
        *array = NULL;
    }
    return status;
}

/** Move an array that was wrapped as the host's to the memory of a GPU. */
static void move_to_gpu(polytile_array *array, const polytile_device_memory *memory) {
    array->device_data = array->data;
    array->data = NULL;
    array->stream = memory->stream;
    array->read_only = memory->read_only;
}

polytile_status polytile_array_wrap_device(polytile_context *ctx, const char *name,
                                           polytile_type type, const polytile_domain *domain,
                                           const polytile_device_memory *memory,
                                           polytile_array **array) {
    static const polytile_device_memory none = {0};
    const polytile_device_memory *device_memory = memory == NULL ? &none : memory;
    polytile_status status = POLYTILE_OK;
    PTI_ENTER(ctx, ctx, "context");
    if (array != NULL)
        *array = NULL;
    PTI_TRY(pti_check_reserved(ctx, name == NULL ? "?" : name, "polytile_device_memory",
                               device_memory->reserved));
    status = device_memory->stride_bytes == NULL
                 ? polytile_array_wrap_domain(ctx, name, type, domain, device_memory->data, array)
                 : polytile_array_wrap_strides(ctx, name, type, domain, device_memory->stride_bytes,
                                               device_memory->data, array);
    if (status == POLYTILE_OK)
        move_to_gpu(*array, device_memory);
done:
    return status;
}

int64_t polytile_array_get_stride_bytes(const polytile_array *array, int dim) {
    return array == NULL || dim < 0 || dim >= array->domain.n_dims
               ? 0
               : element_stride_bytes(array, dim);
}

/* Views. */

polytile_array *polytile_array_get_base(const polytile_array *array) {
    return array == NULL ? NULL : array->base;
}

bool pti_array_map_to(const polytile_array *array, const polytile_array *of, pti_index_map *map) {
    *map = pti_index_map_identity(array->domain.n_dims);
    for (; array != of; array = array->base) {
        if (!array->maps_indices)
            return false;
        *map = pti_index_map_compose(map, &array->to_base);
    }
    return true;
}

/** How a view lies in an array. */
typedef struct placing {
    pti_memory_layout layout; /* of the view's indices */
    int64_t offset_bytes;     /* of its first element, from the array's */
    bool maps_indices;        /* map is one, from the view's indices to the array's */
    pti_index_map map;
} placing;

static polytile_status make_view(polytile_array *array, const char *name, const placing *by,
                                 polytile_array **view) {
    polytile_array *made;
    polytile_status status;
    PTI_TRY(pti_array_create_strided(array->object.context, name, array->type, &by->layout.hull,
                                     &made));
    made->layout = by->layout;
    if (array->data != NULL && !array->is_internal)
        made->data = (char *)array->data + by->offset_bytes;
    if (pti_array_is_on_gpu(array))
        made->device_data = (char *)array->device_data + by->offset_bytes;
    made->stream = array->stream;
    made->read_only = array->read_only;
    made->base = array;
    made->maps_indices = by->maps_indices;
    made->to_base = by->map;
    array->n_views++;
    *view = made;
done:
    return status;
}

/** Check what both kinds of views are asked with. */
static polytile_status check_view_arguments(polytile_array *array, const char *name,
                                            const polytile_domain *domain, polytile_array **view,
                                            const char *call) {
    if (array == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the array is NULL", call);
    polytile_context *ctx = array->object.context;
    pti_clear_error(ctx);
    if (view != NULL)
        *view = NULL;
    if (view == NULL || domain == NULL || name == NULL || *name == '\0')
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: of a view, its %s NULL", array->name,
                        view == NULL     ? "place is"
                        : domain == NULL ? "domain is"
                                         : "name is empty or");
    return POLYTILE_OK;
}

static polytile_status refuse_part(const polytile_array *array, const char *name,
                                   const polytile_domain *part) {
    pti_text text = {0};
    pti_text_add(&text, "array %s: the part ", name);
    if (part->n_dims >= 1 && part->n_dims <= POLYTILE_MAX_DIMS)
        pti_box_write(&text, part);
    pti_text_add(&text, " is empty or not inside %s", array->name);
    pti_box_write(&text, &array->domain);
    polytile_status status =
        text.failed ? pti_fail_memory(array->object.context, name, PTI_UNKNOWN_BYTES)
                    : pti_fail(array->object.context, POLYTILE_INVALID, "%s", text.data);
    pti_text_free(&text);
    return status;
}

static bool is_part(const polytile_array *array, const polytile_domain *part) {
    bool is = part->n_dims == array->domain.n_dims;
    for (int d = 0; d < array->domain.n_dims && is; d++) {
        const polytile_range *range = &part->range[d];
        is = range->step >= 1 && range->lo <= range->hi && range->lo >= array->domain.range[d].lo &&
             range->hi <= array->domain.range[d].hi && (range->hi - range->lo) % range->step == 0;
    }
    return is && pti_box_contains(&array->domain, part);
}

polytile_status polytile_array_select(polytile_array *array, const char *name,
                                      const polytile_domain *part, polytile_array **view) {
    polytile_status status;
    PTI_TRY(check_view_arguments(array, name, part, view, __func__));
    if (!is_part(array, part))
        PTI_TRY(refuse_part(array, name, part));
    placing by = {.layout = pti_memory_layout_of_part(&array->layout, part, array->element_bytes),
                  .offset_bytes = pti_memory_layout_offset_of(&array->layout, part),
                  .maps_indices = true,
                  .map = pti_index_map_identity(part->n_dims)};
    PTI_TRY(make_view(array, name, &by, view));
done:
    return status;
}

/* Reshaping. Dimensions before and after fall into groups of as many elements, in C order. */

/** One group: dimensions first .. end - 1 of each. */
typedef struct dim_group {
    int first;
    int end;
    int new_first;
    int new_end;
} dim_group;

/** Find the group that begins with the given dimensions. Both shapes have as many elements. */
static dim_group find_dimension_group(const polytile_domain *before, const polytile_domain *after,
                                      int first, int new_first) {
    dim_group group = {first, first, new_first, new_first};
    int64_t count = 1, new_count = 1;
    do {
        bool takes_old =
            group.end < before->n_dims && (count <= new_count || group.new_end == after->n_dims);
        if (takes_old)
            count *= pti_range_count(before->range[group.end++]);
        else
            new_count *= pti_range_count(after->range[group.new_end++]);
    } while (count != new_count);
    return group;
}

/** Return the last dimension of a group that has several elements; -1: none has. */
static int inner_dim(const polytile_array *array, const dim_group *group, int end) {
    int d = end - 1;
    while (d >= group->first && pti_range_count(array->domain.range[d]) == 1)
        d--;
    return d < group->first ? -1 : d;
}

/** Refuse dimensions whose elements do not follow each other in memory. */
static polytile_status check_joined(const polytile_array *array, const char *name,
                                    const dim_group *group) {
    int inner = inner_dim(array, group, group->end);
    for (int outer; inner >= 0 && (outer = inner_dim(array, group, inner)) >= 0; inner = outer) {
        int64_t row_bytes =
            element_stride_bytes(array, inner) * pti_range_count(array->domain.range[inner]);
        if (element_stride_bytes(array, outer) != row_bytes)
            return pti_fail(
                array->object.context, POLYTILE_INVALID,
                "array %s: dimensions %d and %d of %s cannot become one: its rows of "
                "%" PRId64 " bytes are %" PRId64 " apart; keep these dimensions, or copy the array",
                name, outer, inner, array->name, row_bytes, element_stride_bytes(array, outer));
    }
    return POLYTILE_OK;
}

/** Place the new dimensions of a group over its old ones. */
static void place_group(const polytile_array *array, const dim_group *group, placing *by) {
    int inner = inner_dim(array, group, group->end);
    int64_t n_within = 1;
    int64_t stride_bytes = inner < 0 ? array->element_bytes : element_stride_bytes(array, inner);
    for (int d = group->first; d < group->end; d++)
        by->map.constant[d] = array->domain.range[d].lo;
    by->maps_indices = by->maps_indices && (inner < 0 || inner_dim(array, group, inner) < 0);
    for (int d = group->new_end - 1; d >= group->new_first; d--) {
        const polytile_range *range = &by->layout.hull.range[d];
        by->layout.stride_bytes[d] = n_within * stride_bytes;
        if (inner >= 0 && range->lo != range->hi) {
            int64_t coefficient = n_within * array->domain.range[inner].step;
            by->map.coefficient[inner][d] = coefficient;
            by->map.constant[inner] -= coefficient * range->lo;
        }
        n_within *= pti_range_count(*range);
    }
}

static polytile_status place_all(const polytile_array *array, const char *name, placing *by) {
    dim_group group = {0};
    polytile_status status = POLYTILE_OK;
    while (group.end < array->domain.n_dims || group.new_end < by->layout.hull.n_dims) {
        group = find_dimension_group(&array->domain, &by->layout.hull, group.end, group.new_end);
        PTI_TRY(check_joined(array, name, &group));
        place_group(array, &group, by);
    }
done:
    return status;
}

static polytile_status refuse_count(const polytile_array *array, const char *name,
                                    int64_t n_elements) {
    return pti_fail(array->object.context, POLYTILE_INVALID,
                    "array %s: its domain has %" PRId64 " elements, and %s has %" PRId64
                    "; a reshaped array has as many",
                    name, n_elements, array->name, pti_box_count(&array->domain));
}

polytile_status polytile_array_reshape(polytile_array *array, const char *name,
                                       const polytile_domain *domain, polytile_array **view) {
    polytile_status status;
    placing by = {.maps_indices = true};
    PTI_TRY(check_view_arguments(array, name, domain, view, __func__));
    PTI_TRY(pti_array_check_domain(array->object.context, name, array->type, domain));
    if (pti_box_count(domain) != pti_box_count(&array->domain))
        PTI_TRY(refuse_count(array, name, pti_box_count(domain)));
    by.layout = (pti_memory_layout){.hull = *domain, .size_bytes = array->layout.size_bytes};
    by.map = (pti_index_map){.n_from = domain->n_dims, .n_to = array->domain.n_dims};
    PTI_TRY(place_all(array, name, &by));
    PTI_TRY(make_view(array, name, &by, view));
done:
    return status;
}
