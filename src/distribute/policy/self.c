#include "distribute/policy/policy.h"

#include <math.h>
#include <stdio.h>

/* Self-scheduling: a unit that is free takes the next rows, the same number each time, or a number
 * of its own: MS of Ortega-Arranz et al., "TuCCompi", section 4.2, and its plug-in of figure 11,
 * without a master. */

static bool are_whole(pti_policy *policy) {
    static const double most = 1e15;
    for (int k = 0; k < policy->n_numbers && policy->wrong[0] == '\0'; k++) {
        const double number = policy->number[k];
        if (number != floor(number) || number > most)
            snprintf(policy->wrong, sizeof policy->wrong, "number %d is %g, not whole up to %g",
                     k + 1, number, most);
    }
    return policy->wrong[0] == '\0';
}

static bool parse_self(const char *arguments, pti_policy *policy) {
    return arguments != NULL && pti_policy_read_numbers(arguments, 1, policy) && are_whole(policy);
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
    .takes_one_for_all = true,
};
