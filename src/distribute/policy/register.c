#include "distribute/policy/policy.h"

static polytile_status check_plug_in(polytile_context *ctx, const polytile_policy *policy) {
    const char *name = policy->name == NULL ? "" : policy->name;
    polytile_status status;
    PTI_TRY(pti_check_new_name(
        ctx, "policy", name, pti_policy_is_own_name(name) || pti_plug_in_find(ctx, name) != NULL));
    if ((policy->weigh == NULL) == (policy->take == NULL))
        return pti_fail(ctx, POLYTILE_INVALID, "policy \"%s\": give %s weigh and take", name,
                        policy->weigh == NULL ? "one of" : "not both");
    PTI_TRY(pti_check_reserved(ctx, name, "polytile_policy", policy->reserved));
done:
    return status;
}

polytile_status polytile_policy_register(polytile_context *ctx, const polytile_policy *policy) {
    polytile_status status;
    PTI_ENTER(ctx, ctx, "context");
    if (policy == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: the policy is NULL", __func__);
    PTI_TRY(check_plug_in(ctx, policy));
    PTI_TRY(pti_plug_in_adopt(ctx, policy));
done:
    return status;
}
