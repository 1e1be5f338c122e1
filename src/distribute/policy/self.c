#include "distribute/policy/policy.h"

#include <math.h>

/* Self-scheduling: a unit that is free takes the next rows, the same number each time, or a number
 * of its own: MS of Ortega-Arranz et al., "TuCCompi", section 4.2, and its plug-in of figure 11,
 * without a master. */

static bool parse_self(const char *arguments, pti_policy *policy) {
    bool is_right = arguments != NULL && pti_policy_read_numbers(arguments, 1, policy);
    for (int k = 0; is_right && k < policy->n_numbers; k++)
        is_right = policy->number[k] == floor(policy->number[k]) && policy->number[k] <= 1e15;
    return is_right;
}

static int64_t take_own_number(const pti_policy *policy, const polytile_work *work, int unit) {
    (void)work;
    return (int64_t)policy->number[policy->n_numbers == 1 ? 0 : unit];
}

const pti_policy_kind pti_policy_self = {
    .name = "self",
    .forms = "self(1), self(4,4,1)",
    .parse = parse_self,
    .take = take_own_number,
};
