#include "jacobi3d_elements.h"

#include "common/plate.h"
#include "jacobi3d_kernels.h"

#include <string.h>

/** Draw out the first plane aslant: each plane has its rows, one further on than the plane before.
 */
static void draw_out(char *field, const int64_t *extent, int64_t element_bytes) {
    const int64_t planes = extent[0], rows = extent[1], row_bytes = extent[2] * element_bytes;
#pragma omp parallel for
    for (int64_t i = 1; i < planes; ++i)
        for (int64_t j = 0; j < rows; ++j)
            memcpy(field + (i * rows + j) * row_bytes, field + (i + j) % rows * row_bytes,
                   (size_t)row_bytes);
}

/* Everything for one element type T; seventh is 1/7 in it. */
#define DEFINE_JACOBI3D_ELEMENTS(T, suffix, seventh)                                               \
    static void fill_##suffix(void *field, const int64_t *extent) {                                \
        plate_fill_##suffix(field, extent[1], extent[2]);                                          \
        draw_out(field, extent, (int64_t)sizeof(T));                                               \
    }                                                                                              \
    static void step_row_##suffix(const T *here, T *row, int64_t plane, int64_t columns) {         \
        for (int64_t k = 1; k < columns - 1; ++k)                                                  \
            row[k] =                                                                               \
                SEVEN_POINT_MEAN(here[k], here[k - plane], here[k + plane], here[k - columns],     \
                                 here[k + columns], here[k - 1], here[k + 1], seventh);            \
    }                                                                                              \
    static void step_##suffix(const void *from, void *to, const int64_t *extent) {                 \
        const int64_t rows = extent[1], columns = extent[2], plane = rows * columns;               \
        _Pragma("omp parallel for") for (int64_t i = 1; i < extent[0] - 1; ++i) {                  \
            const T *here = (const T *)from + i * plane;                                           \
            T *written = (T *)to + i * plane;                                                      \
            for (int64_t at = columns; at < (rows - 1) * columns; at += columns)                   \
                step_row_##suffix(here + at, written + at, plane, columns);                        \
        }                                                                                          \
    }                                                                                              \
    const stencil_elements jacobi3d_elements_##suffix = {                                          \
        .update = jacobi3d_##suffix##_implementation,                                              \
        .copy = copy3d_##suffix##_implementation,                                                  \
        .fill = fill_##suffix,                                                                     \
        .step = step_##suffix,                                                                     \
    }

DEFINE_JACOBI3D_ELEMENTS(float, f32, 1.0f / 7.0f);
DEFINE_JACOBI3D_ELEMENTS(double, f64, 1.0 / 7.0);
