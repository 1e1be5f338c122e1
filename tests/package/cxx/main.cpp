#include <cstdint>
#include <cstdio>
#include <polytile/polytile.h>

/* An outside project in C++ alone: plans a stencil, running nothing. */

int main() {
    const int64_t extents[] = {1024, 1024};
    const int64_t lo[] = {1, 1}, hi[] = {1022, 1022};
    const polytile_domain all = polytile_domain_from_extents(2, extents);
    const polytile_domain inner = polytile_domain_from_bounds(2, lo, hi);
    polytile_context *ctx = nullptr;
    polytile_kernel *kernel = nullptr;
    polytile_array *arrays[2] = {};
    polytile_plan *plan = nullptr;
    polytile_launch_options options = {};
    polytile_plan_summary summary;
    options.plan.limit_bytes = 1 << 20;

    if (polytile_context_create(&ctx))
        return 1;
    if (polytile_kernel_create(ctx, "five[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
                               nullptr, &kernel) ||
        polytile_array_describe(ctx, "A", POLYTILE_F32, &all, &arrays[0]) ||
        polytile_array_describe(ctx, "B", POLYTILE_F32, &all, &arrays[1]) ||
        polytile_plan_create(kernel, &inner, POLYTILE_ARRAYS(arrays[0], arrays[1]), &options,
                             &plan)) {
        std::fprintf(stderr, "outside: %s\n", polytile_last_error(ctx));
        polytile_context_destroy(ctx);
        return 1;
    }
    polytile_plan_get_summary(plan, &summary);
    std::printf("polytile %s: %d kernels\n", polytile_version(),
                static_cast<int>(summary.n_kernels));
    polytile_context_destroy(ctx);
    return summary.n_kernels < 2;
}
