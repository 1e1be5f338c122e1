#ifndef POLYTILE_KERNEL_H
#define POLYTILE_KERNEL_H

/**
 * One kernel body for every device, written for one thread and with the arrays' global indices:
 *
 *     POLYTILE_KERNEL(jacobi, (i, j), (const float, A, 2), (float, B, 2)) {
 *         PT_AT(B, i, j) = 0.25f * (PT_AT(A, i - 1, j) + PT_AT(A, i + 1, j) +
 *                                   PT_AT(A, i, j - 1) + PT_AT(A, i, j + 1));
 *     }
 *
 * defines `static const polytile_implementation jacobi_kernel`, for polytile_kernel_create(), which
 * refuses it for a declaration with another number of indices or arrays; a run refuses arrays whose
 * elements have another type, or which have another number of dimensions, than the body's. Types
 * are compared where the body's is float, double or an integer, and sizes where it is any other.
 *
 * A C or C++ compiler makes a function for the host of the body; nvcc, compiling the same file as
 * CUDA (with CMake: its LANGUAGE is CUDA), makes that and a CUDA kernel. docs/kernels.md shows how.
 *
 * A parameter, (type, name), is a value that the launch gives, by the declaration's name:
 *
 *     POLYTILE_KERNEL(saxpy, (i), (float, a), (const float, x, 1), (float, y, 1)) {
 *         PT_AT(y, i) += a * PT_AT(x, i);
 *     }
 *
 * Shapes  1 to 8 indices, in the declaration's order; 1 to 8 views (element type, name, number of
 *         dimensions 1 to 8), one an array, in the order in which the declaration first names them;
 *         the number of dimensions is a plain number; up to 16 parameters, anywhere among the views
 *         and in any order, of which a body names those that it needs.
 * In the body
 *         PT_AT(A, i, j)      the element of A with these indices, to read or to assign
 *         PT_FIRST(A, d)      the first index of dimension d that may be used; of a dimension that
 *         PT_LAST(A, d)       is declared whole (:) they are the array's first and last index
 *         PT_ARRAY_FIRST(A, d), PT_ARRAY_LAST(A, d), PT_EXTENT(A, d)
 *                             the whole array's first and last index, and how many it has
 *         PT_WRAP(A, d, i - 1), PT_CLAMP(A, d, i - 1)
 *                             the index that wrap(i-1) or clamp(i-1) of the declaration names in
 *                             dimension d: PT_AT(A, PT_WRAP(A, 0, i - 1), j)
 *         a                   a parameter's value, which is the same for all threads of a launch
 *         PT_SUM(PT_AT(s, i), value), PT_PROD, PT_MIN, PT_MAX
 *                             combine a value, converted to the element's type, into an element of
 *                             a reducing role (sum, prod, min, max); atomic on a GPU
 *         PT_ARGMAX(PT_AT(s, 0), value, i), PT_ARGMIN
 *                             the same of a value and its index, into an element of argmax or
 *                             argmin, such as a pt_f32_i64 of kernel_pair.h
 *         PT_SUM_RANGE(sum, e, lo, hi, (V, x), PT_AT(V, e) * PT_AT(x, e));
 *                             sum += value for each e from lo to hi, which differ from thread to
 *                             thread; the value names e and what is listed, views and parameters
 *         and an early `return` ends the thread. Only elements that the declaration says may be
 *         touched. Functions that a body calls begin with PT_FUNCTION.
 *
 * POLYTILE_PERIODIC_TILES, 0 unless it is defined before this file is included
 *
 *     #define POLYTILE_PERIODIC_TILES 1
 *
 * lets CUDA kernels run several launches over periodic arrays as one, too, in tiles that go round
 * their ends (docs/on_chip.md). nvcc takes about twice as long for each body of two indices then,
 * and its kernels more registers: files of bodies that do not wrap leave it 0.
 */
#include <polytile/kernel_combine.h>
#include <polytile/kernel_host.h>
#include <polytile/kernel_range.h>
#include <polytile/kernel_view.h>

#ifdef __CUDACC__
#include <polytile/kernel_cuda.h>
#else
#include <polytile/kernel_no_cuda.h>
#endif

#define POLYTILE_KERNEL(kernel, indices, ...)                                                      \
    PT_EACH(PT_DECLARE, kernel, __VA_ARGS__)                                                       \
    enum { PT_EACH(PT_VIEW_PLACE, kernel, __VA_ARGS__) kernel##_n_views };                         \
    enum { PT_EACH(PT_PARAMETER_PLACE, kernel, __VA_ARGS__) kernel##_n_parameters };               \
    PT_ASSERT(kernel##_n_views >= 1 && kernel##_n_views <= 8,                                      \
              "a body takes 1 to 8 views, (type, name, number of dimensions)");                    \
    PT_ASSERT(kernel##_n_parameters <= 16, "a body takes at most 16 parameters, (type, name)");    \
    PT_BODY(kernel, indices, __VA_ARGS__);                                                         \
    PT_HOST_FUNCTION(kernel, indices, __VA_ARGS__)                                                 \
    PT_CUDA_FUNCTION(kernel, indices, __VA_ARGS__)                                                 \
    PT_CUDA_TILES_FUNCTION(kernel, indices, __VA_ARGS__)                                           \
    static const polytile_view_shape kernel##_shapes[] = {                                         \
        PT_EACH(PT_VIEW_SHAPE, kernel, __VA_ARGS__)};                                              \
    static const polytile_body_parameter kernel##_parameters[] = {                                 \
        PT_EACH(PT_BODY_PARAMETER, kernel, __VA_ARGS__){0, 0, POLYTILE_ANY_NUMBER}};               \
    PT_UNUSED static const polytile_implementation kernel##_kernel =                               \
        PT_IMPLEMENTATION(kernel, indices, __VA_ARGS__);                                           \
    PT_BODY(kernel, indices, __VA_ARGS__)

/**
 * Begin a function that bodies call with this, so that every device has it:
 *
 *     PT_FUNCTION float mean(float a, float b) { return (a + b) / 2; }
 */
#define PT_FUNCTION PT_UNUSED PT_DEVICE_FUNCTION

#define PT_UNUSED __attribute__((unused))

#define PT_IMPLEMENTATION(kernel, indices, ...)                                                    \
    {                                                                                              \
        kernel##_host, 0, PT_COUNT indices, kernel##_n_views, kernel##_shapes,                     \
            kernel##_n_parameters, kernel##_parameters, PT_CUDA_ADDRESSES(kernel), 0, 0, true,     \
            PT_CUDA_PIECES(kernel), 0, true, false, 0, PT_CUDA_COARSE(kernel, PT_COUNT indices),   \
            PT_CUDA_TILES(kernel, indices, __VA_ARGS__), 0, 0, PT_CUDA_TILES_GO_ROUND,             \
            PT_NONE_RESERVED                                                                       \
    }

/* The reserved members of an implementation. */
#define PT_NONE_RESERVED                                                                           \
    { 0, 0, 0, 0 }

#ifdef __cplusplus
#define PT_ASSERT static_assert
#else
#define PT_ASSERT _Static_assert
#endif

/* The body, a function of one thread. */
#define PT_BODY(kernel, indices, ...)                                                              \
    PT_FUNCTION void kernel##_thread(                                                              \
        PT_INDEX_PARAMETERS indices PT_EACH(PT_BODY_ARGUMENT, kernel, __VA_ARGS__))

/* What each place needs of a parameter, the tuple (T, a), and of a view, (T, A, n_dims). */
#define PT_DECLARE_2(kernel, T, a)
#define PT_DECLARE_3(kernel, T, A, n_dims) typedef PT_VIEW_STRUCT(T, n_dims) kernel##_##A##_view;

#define PT_VIEW_PLACE_2(kernel, T, a)
#define PT_VIEW_PLACE_3(kernel, T, A, n_dims) kernel##_##A##_place,

#define PT_PARAMETER_PLACE_2(kernel, T, a) kernel##_##a##_place,
#define PT_PARAMETER_PLACE_3(kernel, T, A, n_dims)

#define PT_BODY_ARGUMENT_2(kernel, T, a)         , T a PT_UNUSED
#define PT_BODY_ARGUMENT_3(kernel, T, A, n_dims) , kernel##_##A##_view A PT_UNUSED

#define PT_PASS_2(kernel, T, a)         , a
#define PT_PASS_3(kernel, T, A, n_dims) , A

#define PT_VIEW_SHAPE_2(kernel, T, a)
#define PT_VIEW_SHAPE_3(kernel, T, A, n_dims) POLYTILE_VIEW_SHAPE(T, n_dims),

#define PT_BODY_PARAMETER_2(kernel, T, a) {#a, (int64_t)sizeof(T), PT_NUMBER_OF(T)},
#define PT_BODY_PARAMETER_3(kernel, T, A, n_dims)

/* Turns the tuple of index names into the parameters of a body. */
#define PT_INDEX_PARAMETERS(...) PT_CAT(PT_INDEX_PARAMETERS_, PT_COUNT(__VA_ARGS__))(__VA_ARGS__)

#define PT_INDEX(i)                             int64_t i PT_UNUSED
#define PT_INDEX_PARAMETERS_1(a)                PT_INDEX(a)
#define PT_INDEX_PARAMETERS_2(a, b)             PT_INDEX_PARAMETERS_1(a), PT_INDEX(b)
#define PT_INDEX_PARAMETERS_3(a, b, c)          PT_INDEX_PARAMETERS_2(a, b), PT_INDEX(c)
#define PT_INDEX_PARAMETERS_4(a, b, c, d)       PT_INDEX_PARAMETERS_3(a, b, c), PT_INDEX(d)
#define PT_INDEX_PARAMETERS_5(a, b, c, d, e)    PT_INDEX_PARAMETERS_4(a, b, c, d), PT_INDEX(e)
#define PT_INDEX_PARAMETERS_6(a, b, c, d, e, f) PT_INDEX_PARAMETERS_5(a, b, c, d, e), PT_INDEX(f)
#define PT_INDEX_PARAMETERS_7(a, b, c, d, e, f, g)                                                 \
    PT_INDEX_PARAMETERS_6(a, b, c, d, e, f), PT_INDEX(g)
#define PT_INDEX_PARAMETERS_8(a, b, c, d, e, f, g, h)                                              \
    PT_INDEX_PARAMETERS_7(a, b, c, d, e, f, g), PT_INDEX(h)

#endif
