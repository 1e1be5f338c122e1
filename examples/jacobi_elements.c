#include "jacobi_elements.h"

#include "common/plate.h"
#include "jacobi_kernels.h"

/* Everything for one element type T; fifth is 1/5 in it. */
#define DEFINE_JACOBI_ELEMENTS(T, suffix, fifth)                                                   \
    static void fill_##suffix(void *field, const int64_t *extent) {                                \
        plate_fill_##suffix(field, extent[0], extent[1]);                                          \
    }                                                                                              \
    static void step_##suffix(const void *from, void *to, const int64_t *extent) {                 \
        const int64_t rows = extent[0], columns = extent[1];                                       \
        _Pragma("omp parallel for") for (int64_t i = 1; i < rows - 1; ++i) {                       \
            const T *here = (const T *)from + i * columns;                                         \
            const T *north = here - columns, *south = here + columns;                              \
            T *row = (T *)to + i * columns;                                                        \
            for (int64_t j = 1; j < columns - 1; ++j)                                              \
                row[j] =                                                                           \
                    FIVE_POINT_MEAN(here[j], north[j], south[j], here[j - 1], here[j + 1], fifth); \
        }                                                                                          \
    }                                                                                              \
    const stencil_elements jacobi_elements_##suffix = {                                            \
        .update = jacobi_##suffix##_implementation,                                                \
        .copy = copy_##suffix##_implementation,                                                    \
        .fill = fill_##suffix,                                                                     \
        .step = step_##suffix,                                                                     \
    }

DEFINE_JACOBI_ELEMENTS(float, f32, 0.2f);
DEFINE_JACOBI_ELEMENTS(double, f64, 0.2);
