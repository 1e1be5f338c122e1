#ifndef POLYTILE_TESTS_LAUNCH_CASES_H
#define POLYTILE_TESTS_LAUNCH_CASES_H

#include "launch/kernels.h"

#include <functional>
#include <polytile/polytile.h>
#include <string>
#include <vector>

/* What tests run: a declaration with its body, and the sizes of its arrays for a size n. */

using Extents = std::vector<int64_t>;

struct ArrayShape {
    const char *name;
    polytile_type type;
    std::function<Extents(int64_t n)> extents;
};

struct Case {
    const char *declaration;
    const polytile_implementation *implementation;
    std::function<polytile_domain(int64_t n)> domain;
    std::vector<ArrayShape> arrays;
    bool has_parameter; /* called n */
    int64_t largest_n;
};

inline polytile_domain bounds(Extents lo, Extents hi) {
    return polytile_domain_from_bounds(static_cast<int>(lo.size()), lo.data(), hi.data());
}

inline Extents line(int64_t n) {
    return {n};
}
inline Extents square(int64_t n) {
    return {n, n};
}

inline const std::vector<Case> &all_cases() {
    const polytile_type f32 = POLYTILE_F32, f64 = POLYTILE_F64;
    auto whole_line = [](int64_t n) { return bounds({0}, {n - 1}); };
    auto inner_line = [](int64_t n) { return bounds({1}, {n - 2}); };
    auto whole_square = [](int64_t n) { return bounds({0, 0}, {n - 1, n - 1}); };
    auto inner_square = [](int64_t n) { return bounds({1, 1}, {n - 2, n - 2}); };
    auto inner_cube = [](int64_t n) { return bounds({1, 1, 1}, {n - 2, n - 2, n - 2}); };
    auto whole_cube = [](int64_t n) { return bounds({0, 0, 0}, {n - 1, n - 1, n - 1}); };
    auto cube = [](int64_t n) { return Extents{n, n, n}; };
    auto one = [](int64_t) { return Extents{1}; };
    auto wide = [](int64_t n) { return Extents{n, 2 * n}; };
    auto twice = [](int64_t n) { return Extents{2 * n + 1}; };
    auto thrice = [](int64_t n) { return Extents{3 * n}; };
    static const std::vector<Case> cases = {
        {"add[i]: in x[i], y[i]; out z[i]",
         &add_kernel,
         whole_line,
         {{"x", f32, line}, {"y", f32, line}, {"z", f32, line}},
         false,
         3000},
        {"smooth[i]: in A[i-1:i+1]; out B[i]",
         &smooth_kernel,
         inner_line,
         {{"A", f64, line}, {"B", f64, line}},
         false,
         3000},
        {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
         &jacobi_kernel,
         inner_square,
         {{"A", f32, square}, {"B", f32, square}},
         false,
         60},
        {"heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]",
         &heat_kernel,
         inner_cube,
         {{"A", f32, cube}, {"B", f32, cube}},
         false,
         14},
        {"matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
         &matmul_kernel,
         whole_square,
         {{"A", f32, square}, {"B", f32, square}, {"C", f32, square}},
         false,
         40},
        {"gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]",
         &gemm_kernel,
         whole_cube,
         {{"A", f32, square}, {"B", f32, square}, {"C", f32, square}},
         false,
         24},
        {"gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
         &gemm_kernel,
         whole_cube,
         {{"A", f32, square}, {"B", f32, square}, {"C", f32, square}},
         false,
         24},
        {"dot[i]: in x[i], y[i]; out sum s[0]",
         &dot_kernel,
         whole_line,
         {{"x", f64, line}, {"y", f64, line}, {"s", f64, one}},
         false,
         3000},
        {"dot[i]: in x[i], y[i]; sum s[0]",
         &dot_kernel,
         whole_line,
         {{"x", f64, line}, {"y", f64, line}, {"s", f64, one}},
         false,
         3000},
        {"least[i, j]: in A[i, j]; out min m[j]",
         &least_kernel,
         whole_square,
         {{"A", POLYTILE_I32, square}, {"m", POLYTILE_I32, line}},
         false,
         60},
        {"coarsen[i]: in fine[2*i:2*i+2]; out coarse[i]",
         &coarsen_kernel,
         whole_line,
         {{"fine", f32, twice}, {"coarse", f32, line}},
         false,
         2000},
        {"odd[i]: in x[1:n-1:2]; out y[i]",
         &odd_kernel,
         whole_line,
         {{"x", POLYTILE_I64, line}, {"y", POLYTILE_I64, line}},
         true,
         200},
        {"lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
         &lower_kernel,
         whole_line,
         {{"L", f64, square}, {"x", f64, line}, {"y", f64, line}},
         false,
         60},
        {"hankel[i, j]: in h[i+j]; out H[i, j]",
         &hankel_kernel,
         whole_square,
         {{"h", POLYTILE_I16, twice}, {"H", POLYTILE_I16, square}},
         false,
         60},
        {"prefix[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]",
         &prefix_kernel,
         whole_square,
         {{"A", f32, square}, {"B", f32, square}},
         false,
         40},
        {"scatter[i]: in x[i]; out y[3*i+1]",
         &scatter_kernel,
         whole_line,
         {{"x", POLYTILE_U8, line}, {"y", POLYTILE_U8, thrice}},
         false,
         2000},
        {"scale[i]: inout x[i]", &scale_kernel, whole_line, {{"x", f32, line}}, false, 3000},
        {"gram[i, j]: in A[i, :], A[j, :]; out G[i, j]",
         &gram_kernel,
         whole_square,
         {{"A", f32, square}, {"G", f32, square}},
         false,
         40},
        {"skip[i]: in x[i], x[2*i], x[0]; out y[i]",
         &skip_kernel,
         whole_line,
         {{"x", f32, twice}, {"y", f32, line}},
         false,
         2000},
        {"diagonal[i]: in D[i, 2*i:2*i+1]; out y[i]",
         &diagonal_kernel,
         whole_line,
         {{"D", f32, wide}, {"y", f32, line}},
         false,
         60},
        {"falling[i]: inout D[i, 2*n-2*i-2:2*n-2*i-1]; in y[i]",
         &falling_kernel,
         whole_line,
         {{"D", f32, wide}, {"y", f32, line}},
         true,
         60},
        {"clipped[i]: inout D[i, i-1:i+1]; in y[i]",
         &clipped_kernel,
         whole_line,
         {{"D", f32, square}, {"y", f32, line}},
         false,
         60},
        {"turn[i]: in A[i, :]; scratch i32 w[i, 1:n], f64 most[i]; out B[i, :]",
         &turn_kernel,
         whole_line,
         {{"A", POLYTILE_I32, square}, {"B", POLYTILE_I32, square}},
         true,
         60},
        {"front[i, j]: in L[i, 0:j]; scratch f64 w[j, i, 0:j]; out S[i, j]",
         &front_kernel,
         whole_square,
         {{"L", f64, square}, {"S", f64, square}},
         false,
         24},
    };
    return cases;
}

#endif
