#include "jacobi_elements.h"

#include "common/compare.h"
#include "common/plate.h"
#include "jacobi_kernels.h"

#include <string.h>

/* Everything for one element type T; fifth is 1/5 in it. */
#define DEFINE_JACOBI_ELEMENTS(T, suffix, fifth)                                                   \
    static void fill_##suffix(void *field, int64_t rows, int64_t columns) {                        \
        plate_fill_##suffix(field, rows, columns);                                                 \
    }                                                                                              \
    static void copy_border_##suffix(void *to_data, const void *from_data, int64_t rows,           \
                                     int64_t columns) {                                            \
        T *to = to_data;                                                                           \
        const T *from = from_data;                                                                 \
        const int64_t last_row = (rows - 1) * columns;                                             \
        memcpy(to, from, (size_t)columns * sizeof(T));                                             \
        memcpy(to + last_row, from + last_row, (size_t)columns * sizeof(T));                       \
        for (int64_t at = 0; at <= last_row; at += columns) {                                      \
            to[at] = from[at];                                                                     \
            to[at + columns - 1] = from[at + columns - 1];                                         \
        }                                                                                          \
    }                                                                                              \
    static void step_##suffix(const T *a, T *b, int64_t rows, int64_t columns) {                   \
        _Pragma("omp parallel for") for (int64_t i = 1; i < rows - 1; ++i) {                       \
            const T *north = a + (i - 1) * columns, *here = north + columns;                       \
            const T *south = here + columns;                                                       \
            for (int64_t j = 1; j < columns - 1; ++j)                                              \
                b[i * columns + j] =                                                               \
                    FIVE_POINT_MEAN(here[j], north[j], south[j], here[j - 1], here[j + 1], fifth); \
        }                                                                                          \
    }                                                                                              \
    static void *run_plain_##suffix(void *first, void *second, int64_t rows, int64_t columns,      \
                                    int64_t steps) {                                               \
        void *from = first, *to = second;                                                          \
        for (int64_t step = 0; step < steps; ++step) {                                             \
            step_##suffix(from, to, rows, columns);                                                \
            void *written = to;                                                                    \
            to = from;                                                                             \
            from = written;                                                                        \
        }                                                                                          \
        return from;                                                                               \
    }                                                                                              \
    static double compare_##suffix(const void *field_data, const void *expected_data, int64_t n) { \
        const T *field = field_data, *expected = expected_data;                                    \
        double worst = 0.0;                                                                        \
        _Pragma("omp parallel for reduction(max : worst)") for (int64_t x = 0; x < n; ++x) worst = \
            fmax(worst, difference(field[x], expected[x]));                                        \
        return worst;                                                                              \
    }                                                                                              \
    const jacobi_elements jacobi_elements_##suffix = {                                             \
        jacobi_##suffix##_implementation,                                                          \
        copy_##suffix##_implementation,                                                            \
        fill_##suffix,                                                                             \
        copy_border_##suffix,                                                                      \
        run_plain_##suffix,                                                                        \
        compare_##suffix,                                                                          \
    }

DEFINE_JACOBI_ELEMENTS(float, f32, 0.2f);
DEFINE_JACOBI_ELEMENTS(double, f64, 0.2);
