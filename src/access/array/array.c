#include "access/array/array.h"

#include "access/array/index_array.h"
#include "access/set/box.h"
#include "base/checked.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Indices stay within +-2^61, so that differences of two and one addition cannot overflow. */
static const int64_t index_limit = INT64_C(1) << 61;

/** Give an unfinished file its name if the array is complete. */
static void end_file(polytile_array *array) {
    polytile_context *ctx = array->object.context;
    const pti_part_file *part = &array->part;
    if (part->path == NULL)
        return;
    if (!pti_array_is_complete(array))
        pti_log(ctx, PTI_LOG_WARN,
                "array %s is incomplete, so %s is as it was; what there is of the array stays in "
                "%s",
                array->name, part->path, part->part);
    else if (pti_part_file_commit(ctx, &array->part) != POLYTILE_OK)
        pti_log(ctx, PTI_LOG_ERROR, "%s; array %s stays in %s", polytile_last_error(ctx),
                array->name, part->part);
    pti_part_file_keep(&array->part);
}

void pti_array_forget_indices(polytile_array *array) {
    pti_index_array_release(array->indices);
    array->indices = NULL;
}

static void destroy_array(pti_object *object);

polytile_array *pti_array_next(const polytile_context *ctx, const polytile_array *after) {
    pti_object *object = after == NULL ? pti_get_newest(ctx) : after->object.next;
    while (object != NULL && object->destroy != destroy_array)
        object = object->next;
    return (polytile_array *)object;
}

/** End the views of an array, which do not outlive it. */
static void destroy_views(polytile_array *base) {
    polytile_array *at = NULL;
    while (base->n_views > 0) {
        polytile_array *next = pti_array_next(base->object.context, at);
        const bool is_view = next->base == base;
        if (is_view)
            pti_object_release(&next->object);
        at = is_view ? NULL : next;
    }
}

static void destroy_array(pti_object *object) {
    polytile_array *array = (polytile_array *)object;
    if (array->queue != NULL)
        array->leave_queue(array, true);
    destroy_views(array);
    if (array->base != NULL)
        array->base->n_views--;
    if (array->mapping != NULL)
        munmap(array->mapping, (size_t)array->mapping_bytes);
    end_file(array);
    pti_array_forget_indices(array);
    free(array->name);
    free(array);
}

static polytile_status check_range(polytile_context *ctx, const char *name, int d,
                                   polytile_range range) {
    if (range.lo < -index_limit || range.hi > index_limit)
        return pti_fail(ctx, POLYTILE_OVERFLOW,
                        "array %s: dimension %d runs over %" PRId64 ":%" PRId64
                        "; indices must stay within -2^61:2^61",
                        name, d, range.lo, range.hi);
    if (range.hi < range.lo)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: dimension %d has no elements; each extent must be at least 1",
                        name, d);
    if (range.step != 1)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: dimension %d has step %" PRId64
                        "; wrap memory over steps of 1, and take every so many of its indices by "
                        "polytile_array_select()",
                        name, d, range.step);
    return POLYTILE_OK;
}

static polytile_status check_domain(polytile_context *ctx, const char *name, polytile_type type,
                                    const polytile_domain *domain, int64_t *n_bytes) {
    int64_t bytes = polytile_type_get_bytes(type);
    if (bytes < 1)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: %d is no element type; use POLYTILE_F32 and so on, or "
                        "POLYTILE_BYTES(n)",
                        name, type);
    if (domain->n_dims < 1 || domain->n_dims > POLYTILE_MAX_DIMS)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "array %s: %d dimensions; an array has 1 to %d of them", name,
                        domain->n_dims, POLYTILE_MAX_DIMS);
    for (int d = 0; d < domain->n_dims; d++) {
        polytile_status status = check_range(ctx, name, d, domain->range[d]);
        if (status != POLYTILE_OK)
            return status;
        if (pti_mul_overflows(bytes, pti_range_count(domain->range[d]), &bytes))
            return pti_fail(ctx, POLYTILE_OVERFLOW,
                            "array %s: its bytes exceed 64 bits at dimension %d of %d; the "
                            "largest array has 2^63 - 1 bytes",
                            name, d, domain->n_dims);
    }
    *n_bytes = bytes;
    return POLYTILE_OK;
}

static polytile_array *allocate_array(const char *name) {
    polytile_array *array = calloc(1, sizeof *array);
    if (array == NULL)
        return NULL;
    array->name = strdup(name);
    if (array->name == NULL) {
        free(array);
        return NULL;
    }
    return array;
}

static polytile_status refuse_no_place(polytile_context *ctx, const char *name) {
    return pti_fail(ctx, POLYTILE_INVALID, "array %s: the place for the array is NULL",
                    name == NULL ? "?" : name);
}

polytile_status pti_array_check_domain(polytile_context *ctx, const char *name, polytile_type type,
                                       const polytile_domain *domain) {
    int64_t n_bytes;
    return check_domain(ctx, name, type, domain, &n_bytes);
}

polytile_status pti_array_create_strided(polytile_context *ctx, const char *name,
                                         polytile_type type, const polytile_domain *domain,
                                         polytile_array **array) {
    polytile_array *made = allocate_array(name);
    *array = NULL;
    if (made == NULL)
        return pti_fail_memory(ctx, name, (double)sizeof *made);
    made->type = type;
    made->element_bytes = polytile_type_get_bytes(type);
    made->domain = *domain;
    made->n_bytes = pti_box_count(domain) * made->element_bytes;
    pti_object_adopt(ctx, &made->object, destroy_array);
    made->known_as = made->object.serial;
    *array = made;
    return POLYTILE_OK;
}

polytile_status pti_array_create(polytile_context *ctx, const char *name, polytile_type type,
                                 const polytile_domain *domain, polytile_array **array) {
    if (array == NULL)
        return refuse_no_place(ctx, name);
    *array = NULL;
    if (name == NULL || *name == '\0')
        return pti_fail(ctx, POLYTILE_INVALID, "an array needs a name, for its errors and plans");
    if (domain == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: its domain is NULL", name);
    polytile_status status = pti_array_check_domain(ctx, name, type, domain);
    if (status == POLYTILE_OK)
        status = pti_array_create_strided(ctx, name, type, domain, array);
    if (status == POLYTILE_OK)
        (*array)->layout = pti_memory_layout_of(domain, (*array)->element_bytes);
    return status;
}

/** Refuse data that is not there. */
static polytile_status check_data(polytile_context *ctx, const char *name, const void *data) {
    if (data != NULL)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_INVALID,
                    "array %s: its data is NULL; polytile_array_describe() makes one without "
                    "memory, to plan with",
                    name == NULL ? "?" : name);
}

polytile_status polytile_array_wrap_domain(polytile_context *ctx, const char *name,
                                           polytile_type type, const polytile_domain *domain,
                                           void *data, polytile_array **array) {
    PTI_ENTER(ctx, ctx, "context");
    if (array == NULL)
        return refuse_no_place(ctx, name);
    *array = NULL;
    polytile_status status = check_data(ctx, name, data);
    if (status == POLYTILE_OK)
        status = pti_array_create(ctx, name, type, domain, array);
    if (status == POLYTILE_OK)
        (*array)->data = data;
    return status;
}

polytile_status polytile_array_wrap(polytile_context *ctx, const char *name, polytile_type type,
                                    int n_dims, const int64_t *extents, void *data,
                                    polytile_array **array) {
    PTI_ENTER(ctx, ctx, "context");
    if (array == NULL)
        return refuse_no_place(ctx, name);
    *array = NULL;
    if (extents == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "array %s: its extents are NULL",
                        name == NULL ? "?" : name);
    polytile_domain domain = polytile_domain_from_extents(n_dims, extents);
    return polytile_array_wrap_domain(ctx, name, type, &domain, data, array);
}

polytile_status polytile_array_describe(polytile_context *ctx, const char *name, polytile_type type,
                                        const polytile_domain *domain, polytile_array **array) {
    PTI_ENTER(ctx, ctx, "context");
    return pti_array_create(ctx, name, type, domain, array);
}

void polytile_array_destroy(polytile_array *array) {
    if (array == NULL || (array->queue != NULL && !array->leave_queue(array, false)))
        return;
    pti_object_release(&array->object);
}

const char *polytile_array_get_name(const polytile_array *array) {
    return array == NULL ? "" : array->name;
}

polytile_type polytile_array_get_type(const polytile_array *array) {
    return array == NULL ? POLYTILE_BYTES(0) : array->type;
}

const polytile_domain *polytile_array_get_domain(const polytile_array *array) {
    static const polytile_domain none = {0};
    return array == NULL ? &none : &array->domain;
}

void *polytile_array_get_data(const polytile_array *array) {
    bool is_shown = array != NULL && !pti_array_root(array)->is_internal;
    return is_shown ? array->data : NULL;
}

void pti_array_warn_incomplete(const polytile_array *array, const char *kernel_name) {
    static const char *const why[] = {[PTI_ARRAY_HARMED] = "which a failed run left incomplete",
                                      [PTI_ARRAY_DISCARDED] =
                                          "which was discarded and not overwritten whole since"};
    pti_array_state state = pti_array_get_state(array);
    if (!pti_array_is_complete(array))
        pti_log(array->object.context, PTI_LOG_WARN, "%s: reads array %s, %s", kernel_name,
                array->name, why[state]);
}

bool polytile_array_is_complete(const polytile_array *array) {
    return array != NULL && pti_array_is_complete(array);
}

polytile_array_state polytile_array_get_state(const polytile_array *array) {
    if (!polytile_array_is_complete(array))
        return POLYTILE_ARRAY_INCOMPLETE;
    return pti_array_get_state(array) == PTI_ARRAY_UNTOUCHED ? POLYTILE_ARRAY_UNTOUCHED
                                                             : POLYTILE_ARRAY_COMPLETE;
}
