#include "reverse.h"

#include <ISO_Fortran_binding.h>
#include <polytile/compile.h>
#include <polytile/polytile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What polytile.f90 calls beside the public functions: arrays and views by the descriptors of
 * Fortran 2018, and texts in its order of subscripts. */

/* The module has these numbers. */
_Static_assert(POLYTILE_OK == 0 && POLYTILE_INVALID == 1 && POLYTILE_DECLARATION == 2,
               "as in Fortran");
_Static_assert(POLYTILE_CONFLICT == 3 && POLYTILE_NO_FIT == 4 && POLYTILE_OVERFLOW == 5,
               "as in Fortran");
_Static_assert(POLYTILE_NO_MEMORY == 6 && POLYTILE_IO == 7 && POLYTILE_DEVICE == 8,
               "as in Fortran");
_Static_assert(POLYTILE_UNSUPPORTED == 9 && POLYTILE_INTERNAL == 10, "as in Fortran");
_Static_assert(POLYTILE_DEADLOCK == 11 && POLYTILE_TIMEOUT == 12 && POLYTILE_CANCELLED == 13,
               "as in Fortran");
_Static_assert(POLYTILE_F32 == 9 && POLYTILE_F64 == 10 && POLYTILE_C64 == 12 && POLYTILE_C128 == 13,
               "as in Fortran");
_Static_assert(POLYTILE_ANY_NUMBER == 0 && POLYTILE_FLOAT_NUMBER == 3, "as in Fortran");
_Static_assert(sizeof(polytile_domain) == 200 && sizeof(polytile_view) == 408, "as in Fortran");
_Static_assert(sizeof(polytile_report) == 128 && sizeof(polytile_parameter) == 32, "as in Fortran");

/** The bytes of an error's text that the module passes. */
enum { WHY_BYTES = 256 };

static const struct {
    CFI_type_t of_fortran;
    polytile_scalar type;
} types[] = {
    {CFI_type_float, POLYTILE_F32},         {CFI_type_double, POLYTILE_F64},
    {CFI_type_int8_t, POLYTILE_I8},         {CFI_type_int16_t, POLYTILE_I16},
    {CFI_type_int32_t, POLYTILE_I32},       {CFI_type_int64_t, POLYTILE_I64},
    {CFI_type_float_Complex, POLYTILE_C64}, {CFI_type_double_Complex, POLYTILE_C128},
};

static bool find_type(const CFI_cdesc_t *data, polytile_type *type) {
    for (size_t k = 0; k < sizeof types / sizeof *types; k++)
        if (types[k].of_fortran == data->type) {
            *type = (polytile_type)types[k].type;
            return true;
        }
    return false;
}

/** Refuse what no array of the library can be, with a sentence for `why`. */
static bool check_data(const char *name, const CFI_cdesc_t *data, char *why) {
    if (data->rank < 1 || data->rank > POLYTILE_MAX_DIMS)
        snprintf(why, WHY_BYTES, "%s: it has rank %d; give an array of rank 1 to %d", name,
                 data->rank, POLYTILE_MAX_DIMS);
    else if (data->base_addr == NULL)
        snprintf(why, WHY_BYTES, "%s: it is not allocated or not associated", name);
    for (int d = 0; *why == '\0' && d < data->rank; d++)
        if (data->dim[d].extent < 1)
            snprintf(why, WHY_BYTES, "%s: dimension %d has %lld elements; give one or more", name,
                     d + 1, (long long)data->dim[d].extent);
        else if (data->dim[d].sm < 1 && data->dim[d].extent > 1)
            snprintf(why, WHY_BYTES,
                     "%s: dimension %d goes backwards; give a section that goes forward", name,
                     d + 1);
    return *why == '\0';
}

/** Refuse first indices of another number than the array has dimensions. */
static bool check_lower(const char *name, const CFI_cdesc_t *data, int n_lower, char *why) {
    if (n_lower != data->rank)
        snprintf(why, WHY_BYTES,
                 "%s: lower has %d %s and the array has rank %d; give lower=lbound(a)", name,
                 n_lower, n_lower == 1 ? "number" : "numbers", data->rank);
    return *why == '\0';
}

/** Wrap an array of Fortran; its last dimension becomes the first. lower: of each dimension;
 * n_lower < 0: 1 of all. On error `why` has the text, unless the context has. */
polytile_status polytile_fortran_array_wrap(polytile_context *ctx, const char *name,
                                            CFI_cdesc_t *data, int n_lower, const int64_t *lower,
                                            polytile_array **array, char *why) {
    polytile_domain domain = {.n_dims = data->rank};
    int64_t stride_bytes[POLYTILE_MAX_DIMS];
    polytile_type type;
    *array = NULL;
    *why = '\0';
    if (!check_data(name, data, why) || (n_lower >= 0 && !check_lower(name, data, n_lower, why)))
        return POLYTILE_INVALID;
    if (!find_type(data, &type)) {
        snprintf(
            why, WHY_BYTES,
            "%s: its elements are no real, complex or integer of a kind of C: give real32, real64, "
            "int8 to int64, or complex of real32 or real64",
            name);
        return POLYTILE_INVALID;
    }
    for (int d = 0; d < data->rank; d++) {
        const int c = data->rank - 1 - d;
        const int64_t lo = n_lower < 0 ? 1 : lower[d];
        domain.range[c] = (polytile_range){lo, lo + data->dim[d].extent - 1, 1};
        stride_bytes[c] = data->dim[d].sm < 1 ? (int64_t)data->elem_len : data->dim[d].sm;
    }
    return polytile_array_wrap_strides(ctx, name, type, &domain, stride_bytes, data->base_addr,
                                       array);
}

static polytile_status refuse_memory(char *why) {
    snprintf(why, WHY_BYTES, "out of host memory for a kernel's text");
    return POLYTILE_NO_MEMORY;
}

/** A kernel whose body is a procedure; both in the order of Fortran. */
polytile_status polytile_fortran_kernel_create(polytile_context *ctx, const char *declaration,
                                               polytile_host_function *body, void *user,
                                               polytile_kernel **kernel, char *why) {
    const polytile_implementation implementation = {.host = body, .user = user};
    char *text = polytile_fortran_reverse_declaration(declaration);
    *kernel = NULL;
    *why = '\0';
    if (text == NULL)
        return refuse_memory(why);
    const polytile_status status = polytile_kernel_create(ctx, text, &implementation, kernel);
    free(text);
    return status;
}

/** A kernel whose body is a text in C. */
polytile_status polytile_fortran_kernel_compile(polytile_context *ctx, const char *declaration,
                                                const char *body, polytile_kernel **kernel,
                                                char *why) {
    char *text = polytile_fortran_reverse_declaration(declaration);
    char *reversed = polytile_fortran_reverse_body(body, declaration, WHY_BYTES, why);
    polytile_status status;
    *kernel = NULL;
    if (*why != '\0')
        status = POLYTILE_DECLARATION;
    else if (text == NULL || reversed == NULL)
        status = refuse_memory(why);
    else
        status = polytile_kernel_compile(ctx, text, reversed, NULL, kernel);
    free(text);
    free(reversed);
    return status;
}

polytile_status polytile_fortran_run(polytile_device *device, const polytile_kernel *kernel,
                                     const polytile_domain *domain, int n_arrays,
                                     polytile_array *const *arrays, int n_parameters,
                                     const polytile_parameter *parameters) {
    const polytile_launch_options options = {.n_parameters = n_parameters,
                                             .parameters = parameters};
    return polytile_run(device, kernel, domain, n_arrays, arrays, &options);
}

polytile_status polytile_fortran_check(const polytile_kernel *kernel, const polytile_domain *domain,
                                       int n_arrays, polytile_array *const *arrays,
                                       int n_parameters, const polytile_parameter *parameters) {
    const polytile_launch_options options = {.n_parameters = n_parameters,
                                             .parameters = parameters};
    return polytile_check(kernel, domain, n_arrays, arrays, &options);
}

polytile_status polytile_fortran_launch(polytile_queue *queue, const polytile_kernel *kernel,
                                        const polytile_domain *domain, int n_arrays,
                                        polytile_array *const *arrays, int n_parameters,
                                        const polytile_parameter *parameters) {
    const polytile_launch_options options = {.n_parameters = n_parameters,
                                             .parameters = parameters};
    return polytile_queue_launch(queue, kernel, domain, n_arrays, arrays, &options);
}

/** An array of a queue's own, in the order of Fortran, with indices from 1: a view of one from 0. */
polytile_status polytile_fortran_queue_create_array(polytile_queue *queue, const char *name,
                                                    int type, int n_dims, const int64_t *extents,
                                                    polytile_array **array, char *why) {
    polytile_domain domain = {.n_dims = n_dims};
    int64_t reversed[POLYTILE_MAX_DIMS];
    polytile_array *from_0 = NULL;
    *array = NULL;
    *why = '\0';
    if (n_dims < 1 || n_dims > POLYTILE_MAX_DIMS) {
        snprintf(why, WHY_BYTES, "%s: it has rank %d; give 1 to %d extents", name, n_dims,
                 POLYTILE_MAX_DIMS);
        return POLYTILE_INVALID;
    }
    for (int d = 0; d < n_dims; d++) {
        reversed[n_dims - 1 - d] = extents[d];
        domain.range[n_dims - 1 - d] = (polytile_range){1, extents[d], 1};
    }
    const polytile_status status =
        polytile_queue_create_array(queue, name, type, n_dims, reversed, &from_0);
    return status == POLYTILE_OK ? polytile_array_reshape(from_0, name, &domain, array) : status;
}

/** Let a pointer of Fortran be what is resident of an array, with its own indices. */
static void point_to(CFI_cdesc_t *pointer, const polytile_view *view) {
    const int rank = pointer->rank;
    char *at = view->origin;
    if (view->resident.n_dims != rank) {
        fprintf(stderr, "polytile: a view of rank %d is asked for as one of rank %d\n",
                view->resident.n_dims, rank);
        abort();
    }
    for (int d = 0; d < rank; d++) {
        const int c = rank - 1 - d;
        const polytile_range range = view->resident.range[c];
        at += range.lo * view->stride_bytes[c];
        pointer->dim[d].lower_bound = range.lo;
        pointer->dim[d].extent = range.hi - range.lo + 1;
        pointer->dim[d].sm = view->stride_bytes[c];
    }
    pointer->base_addr = at;
}

/* A function for each type and rank, since Fortran tells procedures apart by these. */
#define VIEW_FUNCTION(type, rank)                                                                  \
    void polytile_view_##type##_##rank(const polytile_view *view, CFI_cdesc_t *pointer);           \
    void polytile_view_##type##_##rank(const polytile_view *view, CFI_cdesc_t *pointer) {          \
        point_to(pointer, view);                                                                   \
    }
#define VIEW_FUNCTIONS(type)                                                                       \
    VIEW_FUNCTION(type, 1)                                                                         \
    VIEW_FUNCTION(type, 2)                                                                         \
    VIEW_FUNCTION(type, 3)                                                                         \
    VIEW_FUNCTION(type, 4)

VIEW_FUNCTIONS(f32)
VIEW_FUNCTIONS(f64)
VIEW_FUNCTIONS(i32)
VIEW_FUNCTIONS(i64)
