#include "base/parallel.h"

#include "base/context_state.h"

void pti_set_parallel(polytile_context *ctx, pti_parallel_function *parallel) {
    __atomic_store_n(&ctx->parallel, parallel, __ATOMIC_RELEASE);
}

void pti_run_parts(const polytile_context *ctx, int64_t n_parts, pti_part_function *run,
                   void *user) {
    pti_parallel_function *const parallel =
        ctx == NULL ? NULL : __atomic_load_n(&ctx->parallel, __ATOMIC_ACQUIRE);
    if (parallel != NULL && n_parts > 1) {
        parallel(n_parts, run, user);
        return;
    }
    for (int64_t part = 0; part < n_parts; part++)
        run(part, user);
}
