#include "team.h"

#include <unistd.h>

int64_t team_count_slots(const session *s) {
    const long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    return 1 + (int64_t)ranks_largest(&s->ranks, n_cores < 1 ? 1 : (double)n_cores);
}

polytile_status team_run(session *s, const team_launch *launch, result *r) {
    const polytile_domain slots =
        polytile_domain_from_extents(1, (const int64_t[]){launch->n_slots});
    polytile_kernel *kernel;
    polytile_plan *plan;
    TRY(session_check_block(s, 1));
    TRY(polytile_kernel_create(s->ctx, launch->declaration, launch->implementation, &kernel));
    TRY(polytile_plan_create(kernel, &slots, launch->n_arrays, launch->arrays, &s->launch_options,
                             &plan));
    polytile_plan_get_summary(plan, &r->plan);
    const session_launch run = {.talk = launch->talk,
                                .kernel = kernel,
                                .threads = &slots,
                                .plan = plan,
                                .n_arrays = launch->n_arrays,
                                .arrays = launch->arrays};
    for (int64_t k = 0; k < s->options.repeat && !s->options.plan_only; ++k) {
        launch->fill(launch->arrays);
        TRY(session_run(s, &run, r));
    }
    r->checked = s->options.check && !s->options.plan_only;
    return POLYTILE_OK;
}
