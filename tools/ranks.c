#include "ranks.h"
#include "command.h"
#include "print_forms.h"

#include <polytile/ranks.h>

static polytile_status write_plan(const void *plan, polytile_format format, char **text) {
    return polytile_ranks_plan_to_string(plan, format, text);
}

static polytile_status write_inner(const void *plan, polytile_format format, char **text) {
    return polytile_plan_to_string(polytile_ranks_plan_get_inner(plan), format, text);
}

/** Whether there is one device, and no ranks: its plan is all there is. */
static bool is_alone(const arguments *args, const polytile_ranks_plan *plan) {
    polytile_ranks_summary summary;
    polytile_ranks_plan_get_summary(plan, &summary);
    return args->n_ranks == 0 && summary.n_ranks == 1;
}

int plan_ranks(const arguments *args, const request *made) {
    const polytile_ranks_request asked = {
        .n_launches = made->n_launches,
        .launches = made->launch,
        .n_scratch = args->n_scratch,
        .scratch = made->scratch,
        .options = &made->options.plan,
        .n_ranks = (int)args->n_ranks,
        .device = args->device,
        .are_attached = args->attached,
        .are_linked = args->linked,
        .share = {.grid = args->grid,
                  .layout = args->layout,
                  .launches_per_exchange = args->launches_per_exchange},
    };
    polytile_ranks_plan *plan = NULL;
    polytile_status status = polytile_ranks_plan_create(&asked, &plan);
    if (status != POLYTILE_OK)
        return library_error(args->subcommand, made->ctx, status);
    return print_forms(args->subcommand, made->ctx, is_alone(args, plan) ? write_inner : write_plan,
                       plan, args->svg, args->json);
}
