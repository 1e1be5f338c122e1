#include "add_elements.h"

#include "common/compare.h"
#include "common/generate.h"

static const uint64_t seeds[] = {1, UINT64_C(1) << 40};

#define DEFINE_ADD_ELEMENTS(T, suffix)                                                             \
    static void fill_##suffix(void *data, int64_t n, int k) {                                      \
        T *x = data;                                                                               \
        _Pragma("omp parallel for") for (int64_t i = 0; i < n; ++i) x[i] =                         \
            (T)small_integer(i, seeds[k], 1000);                                                   \
    }                                                                                              \
    static double compare_##suffix(const void *x_data, const void *y_data, const void *z_data,     \
                                   int64_t n) {                                                    \
        const T *x = x_data, *y = y_data, *z = z_data;                                             \
        double worst = 0.0;                                                                        \
        _Pragma("omp parallel for reduction(max : worst)") for (int64_t i = 0; i < n; ++i) {       \
            T expected = x[i] + y[i];                                                              \
            worst = fmax(worst, difference(z[i], expected));                                       \
        }                                                                                          \
        return worst;                                                                              \
    }                                                                                              \
    const add_elements add_elements_##suffix = {fill_##suffix, compare_##suffix}

DEFINE_ADD_ELEMENTS(float, f32);
DEFINE_ADD_ELEMENTS(double, f64);
