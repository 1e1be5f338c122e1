#ifndef POLYTILE_TESTS_FAULTS_HOST_SCENES_H
#define POLYTILE_TESTS_FAULTS_HOST_SCENES_H

#include "faults/scene.h"
#include "launch/kernels.h"
#include "support/list.h"

/* What scenes of plans, runs and queues on the host have in common. */

const polytile_type f32 = POLYTILE_F32;

const char *const jacobi_text = "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]";
const char *const in_braces =
    "any[i, j]: in {[i, j] -> A[a, b] : a = i and 0 <= b <= j}; out B[i, j]";
const char *const dot_text = "dot[i]: in x[i], y[i]; out sum s[0]";

inline polytile_status create(const Stage &stage, const char *declaration,
                              const polytile_implementation *implementation,
                              polytile_kernel **kernel) {
    return polytile_kernel_create(stage.ctx, declaration, implementation, kernel);
}

inline void prepare_jacobi(Stage &stage) {
    stage.add("A", f32, {40, 40}, true);
    stage.add("B", f32, {40, 40}, true);
}

inline void prepare_dot(Stage &stage) {
    stage.add("x", POLYTILE_F64, {5000}, false);
    stage.add("y", POLYTILE_F64, {5000}, false);
    stage.add("s", POLYTILE_F64, {1}, true);
}

#endif
