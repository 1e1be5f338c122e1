#include "spmv_elements.h"

#include "common/compare.h"
#include "common/generate.h"
#include "spmv_kernels.h"

enum { SEED = 5, LARGEST = 8 };

#define DEFINE_SPMV_ELEMENTS(T, suffix, epsilon)                                                   \
    static void fill_##suffix(void *data, int64_t n) {                                             \
        T *x = data;                                                                               \
        _Pragma("omp parallel for") for (int64_t i = 0; i < n; ++i) x[i] =                         \
            (T)small_integer(i, SEED, LARGEST);                                                    \
    }                                                                                              \
    static T multiply_row_##suffix(const spmv_problem *of, int64_t i, double *size) {              \
        const T *V = of->V, *x = of->x;                                                            \
        T sum = 0;                                                                                 \
        *size = 0.0;                                                                               \
        for (int64_t e = of->P[i]; e < of->P[i + 1]; ++e) {                                        \
            const T product = V[e] * x[of->K[e]];                                                  \
            sum += product;                                                                        \
            *size += fabs((double)product);                                                        \
        }                                                                                          \
        return sum;                                                                                \
    }                                                                                              \
    static double compare_##suffix(const spmv_problem *of, double *bound) {                        \
        const T *y = of->y;                                                                        \
        double worst = 0.0, most = 0.0;                                                            \
        _Pragma("omp parallel for reduction(max : worst, most)") for (int64_t i = 0;               \
                                                                      i < of->n_rows; ++i) {       \
            double size;                                                                           \
            const T sum = multiply_row_##suffix(of, i, &size);                                     \
            const double n = (double)(of->P[i + 1] - of->P[i]);                                    \
            worst = fmax(worst, difference(y[i], sum));                                            \
            most = fmax(most, 2.0 * n * (epsilon)*size);                                           \
        }                                                                                          \
        *bound = most;                                                                             \
        return worst;                                                                              \
    }                                                                                              \
    const spmv_elements spmv_elements_##suffix = {spmv_rows_##suffix##_implementation,             \
                                                  spmv_entries_##suffix##_implementation,          \
                                                  fill_##suffix, compare_##suffix}

DEFINE_SPMV_ELEMENTS(float, f32, FLT_EPSILON);
DEFINE_SPMV_ELEMENTS(double, f64, DBL_EPSILON);
