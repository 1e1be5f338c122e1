#include "outside/wild_policy.h"

#include <cmath>
#include <limits>

namespace outside {

namespace {

int64_t take(const polytile_work *work, int unit, void *) {
    const int64_t left = work->rows_left;
    const int64_t answers[] = {INT64_MIN, -1, 0,        0,    1,        1,
                               2,         3,  left / 2, left, left + 1, INT64_MAX};
    const int64_t n_answers = sizeof answers / sizeof *answers;
    return answers[(left * 5 + work->n_rows + unit * 7) % n_answers];
}

void weigh(const polytile_work *work, double *weights, void *) {
    const double answers[] = {0,   1,        2.5,    -1,
                              NAN, INFINITY, 1e-300, std::numeric_limits<double>::max()};
    const int64_t n_answers = sizeof answers / sizeof *answers;
    for (int u = 0; u < work->n_units; u++)
        weights[u] = answers[(work->n_rows + u * 3) % n_answers];
}

} // namespace

polytile_status register_wild_policies(polytile_context *ctx) {
    polytile_policy takes = {}, weighs = {};
    takes.name = WILD_POLICY;
    takes.take = take;
    weighs.name = WILD_WEIGHTS;
    weighs.weigh = weigh;
    const polytile_status status = polytile_policy_register(ctx, &takes);
    return status == POLYTILE_OK ? polytile_policy_register(ctx, &weighs) : status;
}

} // namespace outside
