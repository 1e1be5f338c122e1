#include "fields.h"

#include "count.h"

#include <stdio.h>
#include <sys/stat.h>

field_shape field_get_shape(const polytile_array *array) {
    const polytile_domain *domain = polytile_array_get_domain(array);
    field_shape shape = {.type = polytile_array_get_type(array), .n_dims = domain->n_dims};
    for (int d = 0; d < domain->n_dims; ++d)
        shape.extent[d] = domain->range[d].hi - domain->range[d].lo + 1;
    return shape;
}

polytile_status field_open_input(session *s, int k, const char *name, int n_dims,
                                 polytile_array **array) {
    *array = NULL;
    if (k >= s->options.n_inputs)
        return POLYTILE_OK;
    const char *path = s->options.input[k];
    TRY(polytile_npy_open(s->ctx, name, path, false, array));
    field_shape shape = field_get_shape(*array);
    if (shape.n_dims != n_dims)
        return session_fail(s, POLYTILE_INVALID, "%s has %d dimensions; array %s has %d", path,
                            shape.n_dims, name, n_dims);
    if (shape.type != POLYTILE_F32 && shape.type != POLYTILE_F64)
        return session_fail(s, POLYTILE_INVALID,
                            "%s has elements other than f32 and f64, which this example computes "
                            "with; convert it, for instance with numpy's astype('float32')",
                            path);
    return POLYTILE_OK;
}

/** Count the bytes of an array. Errors: OVERFLOW. */
static polytile_status count_bytes(session *s, const char *name, const field_shape *shape,
                                   int64_t *n_bytes) {
    *n_bytes = polytile_type_get_bytes(shape->type);
    for (int d = 0; d < shape->n_dims; ++d)
        if (__builtin_mul_overflow(*n_bytes, shape->extent[d], n_bytes))
            return session_fail(s, POLYTILE_OVERFLOW, "the bytes of array %s exceed 64 bits", name);
    return POLYTILE_OK;
}

polytile_status field_create(session *s, const char *name, const field_shape *shape,
                             polytile_array **array) {
    polytile_domain domain = polytile_domain_from_extents(shape->n_dims, shape->extent);
    if (s->options.plan_only)
        return polytile_array_describe(s->ctx, name, shape->type, &domain, array);
    return field_create_filled(s, name, shape, array);
}

polytile_status field_create_filled(session *s, const char *name, const field_shape *shape,
                                    polytile_array **array) {
    int64_t n_bytes;
    void *data;
    TRY(count_bytes(s, name, shape, &n_bytes));
    TRY(session_allocate(s, name, n_bytes, s->options.pinned, &data));
    return polytile_array_wrap(s->ctx, name, shape->type, shape->n_dims, shape->extent, data,
                               array);
}

/** Return whether a path leads to one of the inputs, which creating it would destroy. */
static bool is_an_input(const session *s, const char *path) {
    struct stat output, input;
    if (stat(path, &output) != 0)
        return false;
    for (int k = 0; k < s->options.n_inputs; ++k)
        if (stat(s->options.input[k], &input) == 0 && input.st_dev == output.st_dev &&
            input.st_ino == output.st_ino)
            return true;
    return false;
}

polytile_status field_create_output(session *s, int k, const char *name, const field_shape *shape,
                                    polytile_array **array) {
    if (k >= s->options.n_outputs || s->options.plan_only || s->ranks.rank > 0)
        return field_create(s, name, shape, array);
    const char *path = s->options.output[k];
    if (is_an_input(s, path))
        return session_fail(s, POLYTILE_INVALID,
                            "--output %s would overwrite an input; choose another file", path);
    polytile_domain domain = polytile_domain_from_extents(shape->n_dims, shape->extent);
    TRY(polytile_npy_create(s->ctx, name, path, shape->type, &domain, array));
    s->output[k] = *array;
    return POLYTILE_OK;
}

polytile_status field_finish_outputs(const session *s) {
    for (int k = 0; k < EXAMPLE_MAX_FILES; ++k)
        if (s->output[k] != NULL)
            TRY(polytile_npy_finish(s->output[k]));
    return POLYTILE_OK;
}

void field_abandon_outputs(const session *s) {
    for (int k = 0; k < EXAMPLE_MAX_FILES; ++k)
        polytile_npy_abandon(s->output[k]);
}

/** Format a shape for people, such as "f32 of 4096x4096", in a buffer of at least 256 bytes. */
static char *format_shape(const field_shape *shape, char *buffer) {
    int length = sprintf(buffer, "%s of ", shape->type == POLYTILE_F64 ? "f64" : "f32");
    for (int d = 0; d < shape->n_dims; ++d)
        length += sprintf(buffer + length, "%s%lld", d > 0 ? "x" : "", (long long)shape->extent[d]);
    return buffer;
}

polytile_status field_require_shape(session *s, const polytile_array *array,
                                    const field_shape *shape) {
    char is[256], needed[256];
    field_shape own = field_get_shape(array);
    bool same = own.type == shape->type && own.n_dims == shape->n_dims;
    for (int d = 0; same && d < own.n_dims; ++d)
        same = own.extent[d] == shape->extent[d];
    if (same)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INVALID, "input %s is %s; %s is needed",
                        polytile_array_get_name(array), format_shape(&own, is),
                        format_shape(shape, needed));
}

polytile_status field_require_n(session *s, int64_t extent) {
    if (s->options.n == 0 || s->options.n == extent)
        return POLYTILE_OK;
    return session_fail(s, POLYTILE_INVALID,
                        "--n %lld contradicts the input file, whose size is %lld; leave --n out",
                        (long long)s->options.n, (long long)extent);
}
