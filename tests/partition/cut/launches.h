#ifndef POLYTILE_TESTS_PARTITION_CUT_LAUNCHES_H
#define POLYTILE_TESTS_PARTITION_CUT_LAUNCHES_H

#include <map>
#include <string>
#include <vector>

#include "support/launch.h"

extern "C" {
#include "partition/cut/family.h"
#include "partition/cut/fit.h"
}

/* Launches that families of shapes cut, and the families' variants of them. */

namespace cut {

inline constexpr int64_t KiB = int64_t{1} << 10, MiB = int64_t{1} << 20;

using Arrays = std::map<std::string, std::string>;

struct Kernel {
    const char *declaration;
    std::string threads;
    Arrays arrays;
};

inline Kernel Add(int64_t n) {
    const std::string extent = std::to_string(n);
    return {
        "add[i]: in x[i], y[i]; out z[i]", extent, {{"x", extent}, {"y", extent}, {"z", extent}}};
}

inline Kernel Gemm(int64_t n, const char *declaration = "gemm[i, j, k]: in A[i, k], B[k, j]; "
                                                        "out sum C[i, j]") {
    const std::string extent = std::to_string(n), square = extent + "x" + extent;
    return {declaration, square + "x" + extent, {{"A", square}, {"B", square}, {"C", square}}};
}

inline Kernel Jacobi(int64_t n) {
    const std::string square = std::to_string(n) + "x" + std::to_string(n);
    const std::string inside = "1:" + std::to_string(n - 2);
    return {"jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
            inside + ", " + inside,
            {{"A", square}, {"B", square}}};
}

inline Kernel Triangle(int64_t n) {
    const std::string extent = std::to_string(n);
    return {"lower[i]: in L[i, 0:i], x[0:i]; out y[i]",
            extent,
            {{"L", extent + "x" + extent}, {"x", extent}, {"y", extent}}};
}

inline Kernel Dot(int64_t n) {
    const std::string extent = std::to_string(n);
    return {
        "dot[i]: in x[i], y[i]; out sum s[0]", extent, {{"x", extent}, {"y", extent}, {"s", "1"}}};
}

inline const Kernel columns = {
    "cols[i, j]: in x[i, j]; sum s[j]", "3:42, 5:34", {{"x", "43x35"}, {"s", "35"}}};

/** Each thread of j writes two elements, which those beside it write, too. */
inline const Kernel overlapping = {
    "fold[i, j]: in x[i, j]; sum s[j:j+1]", "40x30", {{"x", "40x30"}, {"s", "31"}}};

inline Launch *MakeLaunch(const Kernel &of) {
    return new Launch(of.declaration, of.threads, of.arrays);
}

/** A family's variants of a launch, in order, as if all of them fitted. */
inline std::vector<pti_variant> VariantsOf(const pti_family &family, const pti_problem &problem,
                                           pti_buffer_range buffers) {
    std::vector<pti_variant> variants;
    pti_variant variant = pti_variant_of(&family, 0);
    while (family.next(&problem, &buffers, true, &variant))
        variants.push_back(variant);
    return variants;
}

} // namespace cut

#endif
