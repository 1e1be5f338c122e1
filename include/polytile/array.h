#ifndef POLYTILE_ARRAY_H
#define POLYTILE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

#include <polytile/context.h>
#include <polytile/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Element types: name in the API, name in texts, bytes. bf16 is the upper half of an f32; c64 and
 * c128 are complex numbers of two f32 and of two f64, the real part first. */
#define POLYTILE_TYPES(X)                                                                          \
    X(I8, "i8", 1)                                                                                 \
    X(I16, "i16", 2)                                                                               \
    X(I32, "i32", 4)                                                                               \
    X(I64, "i64", 8)                                                                               \
    X(U8, "u8", 1)                                                                                 \
    X(U16, "u16", 2)                                                                               \
    X(U32, "u32", 4)                                                                               \
    X(U64, "u64", 8)                                                                               \
    X(F16, "f16", 2)                                                                               \
    X(F32, "f32", 4)                                                                               \
    X(F64, "f64", 8)                                                                               \
    X(BF16, "bf16", 2)                                                                             \
    X(C64, "c64", 8)                                                                               \
    X(C128, "c128", 16)

typedef enum polytile_scalar {
#define POLYTILE_TYPE_CODE(name, text, bytes) POLYTILE_##name,
    POLYTILE_TYPES(POLYTILE_TYPE_CODE)
#undef POLYTILE_TYPE_CODE
} polytile_scalar;

/** A polytile_scalar, POLYTILE_INDEXED(scalar), or POLYTILE_BYTES(n) for elements that the library
 * only moves. */
typedef int polytile_type;

/** The elements of argmin and argmax: a value of a scalar type that has an order, and at byte 8 of
 * 16 an index, an i64. Their name in texts is that of the scalar with "_i64" at the end:
 * "f32_i64". */
#ifdef __cplusplus
#define POLYTILE_INDEXED(scalar) (64 + static_cast<int>(scalar))
#else
#define POLYTILE_INDEXED(scalar) (64 + (int)(scalar))
#endif

#ifdef __cplusplus
#define POLYTILE_BYTES(n) (-1 - static_cast<int>(n))
#else
#define POLYTILE_BYTES(n) (-1 - (int)(n))
#endif

/** Return the bytes of one element; 0 if the type is unknown. */
int64_t polytile_type_get_bytes(polytile_type type);

/** Parse the name of a type, such as "f32", "f32_i64" or "12" (bytes), as the command does. Errors:
 * INVALID, without a context's text. */
polytile_status polytile_type_parse(const char *text, polytile_type *type);

/** Data on the host with an index domain, in C order (the last index is contiguous) unless wrapped
 * with strides. */
typedef struct polytile_array polytile_array;

/**
 * Wrap host memory as an array with indices from 0.
 *
 * Shapes  extents: n_dims numbers, each >= 1; data holds their product of elements, C order.
 * Errors  INVALID (null, an extent < 1, an unknown type), OVERFLOW (the bytes exceed 64 bits).
 * Owns    data stays the caller's and must outlive the array; the context owns the array, which
 *         polytile_array_destroy() can end sooner.
 */
polytile_status polytile_array_wrap(polytile_context *ctx, const char *name, polytile_type type,
                                    int n_dims, const int64_t *extents, void *data,
                                    polytile_array **array);

/**
 * Wrap host memory over any index domain of steps 1, such as -1 .. n for a ghost border.
 *
 * Errors  As polytile_array_wrap(), and INVALID (a domain that is NULL, empty or has steps).
 * Owns    As polytile_array_wrap().
 */
polytile_status polytile_array_wrap_domain(polytile_context *ctx, const char *name,
                                           polytile_type type, const polytile_domain *domain,
                                           void *data, polytile_array **array);

/**
 * Wrap host memory whose elements lie apart: rows with a pitch, Fortran order, a field of structs.
 *
 * Shapes  domain: of steps 1; stride_bytes: one a dimension, each >= 1, from an element to the next
 *         along it: {pitch, sizeof(float)} for rows with a pitch, {sizeof(float), n *
 *         sizeof(float)} for n rows in Fortran order. data: of the element with the lowest indices.
 *         Bytes between elements stay as they are.
 * Errors  As polytile_array_wrap(); INVALID also if elements would overlap.
 * Owns    As polytile_array_wrap().
 */
polytile_status polytile_array_wrap_strides(polytile_context *ctx, const char *name,
                                            polytile_type type, const polytile_domain *domain,
                                            const int64_t *stride_bytes, void *data,
                                            polytile_array **array);

/** Memory of a GPU that the program has, say of CuPy or PyTorch. */
typedef struct polytile_device_memory {
    void *data;                  /**< of the element with the lowest indices */
    const int64_t *stride_bytes; /**< as of polytile_array_wrap_strides(); NULL: C order */
    void *stream;                /**< a cudaStream_t; NULL: CUDA's default stream */
    bool read_only;              /**< nothing may write it */
    int64_t reserved[4];         /**< 0 */
} polytile_device_memory;

/**
 * Wrap memory of a GPU as an array: runs on that GPU use it in place and copy nothing.
 *
 * polytile_run() takes such arrays where all of a launch lie on its device; it waits for what was
 * submitted to their streams before, and is done when it returns. A launch then takes no memory of
 * the library's, whatever the limit. Host devices, queues and checks that run the kernel refuse
 * such arrays, and so do kernels with scratch and team kernels.
 *
 * Shapes  domain: of steps 1.
 * Errors  As polytile_array_wrap_strides(); INVALID also for reserved members. Whether the memory
 *         is a GPU's is looked up by the run.
 * Owns    data stays the caller's and must outlive the array, and so must the stream; the context
 *         owns the array.
 */
polytile_status polytile_array_wrap_device(polytile_context *ctx, const char *name,
                                           polytile_type type, const polytile_domain *domain,
                                           const polytile_device_memory *memory,
                                           polytile_array **array);

/*
 * Views: an array over elements of another one, its base, which may be a view itself.
 *
 * A launch of a queue may be given views of an array that is attached to it: they need not be
 * attached. The queue knows that the elements are the same, and moves nothing because of a view. It
 * has to know where in the attached array each of them lies, which it does not where
 * polytile_array_reshape() joins dimensions: attach an array with as few dimensions as possible,
 * and let views split them. polytile_run() and polytile_plan_create() take all views;
 * polytile_plan_create_chain() takes the outermost array for attached.
 *
 * A view may also be attached itself, if its base is not. It has no state of its own: it is
 * complete if its base is. It ends with its base.
 */

/**
 * Select a part of an array, with the same indices: a subarray, every second row.
 *
 * Shapes  part: a box of the array's domain, not empty. Where its step is not 1, kernels may only
 *         name indices of its own: x[2*i], or x[:] for all of them.
 * Errors  INVALID (null, a part that is empty or not inside the domain), NO_MEMORY.
 * Owns    The context owns *view; on error it is NULL. It ends with the array.
 * Source  Torres et al., section III-A: tiles of tiles; in Hitmap hit_tileSelect().
 */
polytile_status polytile_array_select(polytile_array *array, const char *name,
                                      const polytile_domain *part, polytile_array **view);

/**
 * Give the elements of an array other indices, in the same C order, in the same memory.
 *
 * A dimension may become several, as 4096 rows become 64 x 64, and neighbours may become one.
 *
 * Shapes  domain: of steps 1, with as many elements as the array has.
 * Errors  INVALID (null; another number of elements; neighbours of which the outer one's elements
 *         do not follow those of the inner one in memory, as rows with a pitch), NO_MEMORY.
 * Owns    As polytile_array_select().
 */
polytile_status polytile_array_reshape(polytile_array *array, const char *name,
                                       const polytile_domain *domain, polytile_array **view);

/** Return the array whose elements a view has; NULL if it is none. */
polytile_array *polytile_array_get_base(const polytile_array *array);

/** Return the bytes from an element of an array to the next along a dimension; 0 if there is no
 * such dimension. */
int64_t polytile_array_get_stride_bytes(const polytile_array *array, int dim);

/**
 * Create an array without memory, to plan with at any size. Runs refuse it.
 *
 * Errors  As polytile_array_wrap_domain().
 * Owns    The context owns the array, which polytile_array_destroy() can end sooner.
 */
polytile_status polytile_array_describe(polytile_context *ctx, const char *name, polytile_type type,
                                        const polytile_domain *domain, polytile_array **array);

/** End an array; NULL does nothing. One that a queue has leaves it first. */
void polytile_array_destroy(polytile_array *array);

/** Return the name that it was given; it lives as long as the array, as its domain does. */
const char *polytile_array_get_name(const polytile_array *array);
/** Return the type of its elements. */
polytile_type polytile_array_get_type(const polytile_array *array);
/** Return its index domain. */
const polytile_domain *polytile_array_get_domain(const polytile_array *array);
/** Return the host memory of the first element; NULL for a described array, for one of a queue, and
 * for one in the memory of a GPU. */
void *polytile_array_get_data(const polytile_array *array);

/** Return false after a run failed while it wrote this array, until a run has written all of it. */
bool polytile_array_is_complete(const polytile_array *array);

/** What a run that failed or was cancelled has left of an array. */
typedef enum polytile_array_state {
    POLYTILE_ARRAY_COMPLETE,  /* all launches so far that write it are done */
    POLYTILE_ARRAY_UNTOUCHED, /* some did not run: it holds all of what those before them left */
    POLYTILE_ARRAY_INCOMPLETE /* some elements were lost, see polytile_array_is_complete() */
} polytile_array_state;

/** Return what became of an array. UNTOUCHED ends with the next launch that writes it. A queue over
 * several devices calls all arrays incomplete that its failed launches write. */
polytile_array_state polytile_array_get_state(const polytile_array *array);

#ifdef __cplusplus
}
#endif

#endif
