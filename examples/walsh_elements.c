#include "walsh_elements.h"

#include "common/compare.h"
#include "common/generate.h"
#include "walsh_kernels.h"

enum { SEED = 3, LARGEST = 8 };

#define DEFINE_WALSH_ELEMENTS(T, suffix)                                                           \
    static void fill_##suffix(void *data, int64_t n) {                                             \
        T *x = data;                                                                               \
        _Pragma("omp parallel for") for (int64_t i = 0; i < n; ++i) x[i] =                         \
            (T)small_integer(i, SEED, LARGEST);                                                    \
    }                                                                                              \
    static void stage_##suffix(T *x, int64_t n, int64_t distance) {                                \
        _Pragma("omp parallel for") for (int64_t k = 0; k < n / 2; ++k) {                          \
            int64_t first = k / distance * (2 * distance) + k % distance;                          \
            T one = x[first], other = x[first + distance];                                         \
            x[first] = one + other;                                                                \
            x[first + distance] = one - other;                                                     \
        }                                                                                          \
    }                                                                                              \
    static void transform_##suffix(void *x, int64_t n) {                                           \
        for (int64_t distance = 1; distance < n; distance *= 2)                                    \
            stage_##suffix(x, n, distance);                                                        \
    }                                                                                              \
    static double compare_##suffix(const void *x_data, const void *expected_data, int64_t n) {     \
        const T *x = x_data, *expected = expected_data;                                            \
        double worst = 0.0;                                                                        \
        _Pragma("omp parallel for reduction(max : worst)") for (int64_t i = 0; i < n; ++i) worst = \
            fmax(worst, difference(x[i], expected[i]));                                            \
        return worst;                                                                              \
    }                                                                                              \
    const walsh_elements walsh_elements_##suffix = {walsh_columns_##suffix##_implementation,       \
                                                    walsh_rows_##suffix##_implementation,          \
                                                    walsh_near_##suffix##_implementation,          \
                                                    fill_##suffix,                                 \
                                                    transform_##suffix,                            \
                                                    compare_##suffix}

DEFINE_WALSH_ELEMENTS(float, f32);
DEFINE_WALSH_ELEMENTS(double, f64);
