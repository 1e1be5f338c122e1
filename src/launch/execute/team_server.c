#include "launch/execute/team_server.h"

#include "access/set/boxes.h"

/** A launch may make no progress for so long, unless its options say otherwise. */
static const double default_timeout_s = 60;

static polytile_status check_team_launch(const polytile_kernel *kernel, int64_t n_slots,
                                         double timeout_s) {
    polytile_context *ctx = kernel->object.context;
    const char *name = polytile_kernel_get_name(kernel);
    if (n_slots > PTI_MAX_SLOTS)
        return pti_fail(ctx, POLYTILE_NO_FIT,
                        "%s: %lld slots, and no launch runs more than %d at once; launch fewer, "
                        "each of which does more",
                        name, (long long)n_slots, (int)PTI_MAX_SLOTS);
    if (!(timeout_s >= 0))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: message_timeout_s is %g; give seconds, or 0 for 60 of them", name,
                        timeout_s);
    return POLYTILE_OK;
}

polytile_status pti_team_server_create(const polytile_kernel *kernel, const polytile_domain *slots,
                                       const polytile_launch_options *options, bool has_program,
                                       pti_server_part **part) {
    const char *name = polytile_kernel_get_name(kernel);
    const int64_t n_slots = pti_box_count(slots);
    polytile_status status = POLYTILE_OK;
    pti_server *server;
    *part = NULL;
    if (kernel->implementation.team == NULL)
        return POLYTILE_OK;
    PTI_TRY(check_team_launch(kernel, n_slots, options->message_timeout_s));
    server = pti_server_create(&(pti_server_request){.kernel_name = name,
                                                     .n_slots = n_slots,
                                                     .threads = *slots,
                                                     .timeout_s = options->message_timeout_s > 0
                                                                      ? options->message_timeout_s
                                                                      : default_timeout_s,
                                                     .has_program = has_program});
    if (server == NULL)
        status = pti_fail_memory(kernel->object.context, name,
                                 (double)n_slots * PT_MAX_REQUESTS * sizeof(pt_reply));
    else
        *part = pti_server_get_part(server, 0);
done:
    return status;
}

void pti_team_server_end(pti_server_part *part, const pti_error *why) {
    if (part == NULL)
        return;
    pti_server_abandon(part, why);
    pti_server_release(pti_server_of_part(part));
}

polytile_status pti_team_refuse_copies(polytile_context *ctx, const polytile_kernel *kernel) {
    if (kernel->implementation.team == NULL)
        return POLYTILE_OK;
    return pti_fail(
        ctx, POLYTILE_UNSUPPORTED,
        "%s: a team kernel is not run on copies, since its slots need each other; check "
        "its parts as kernels of their own",
        polytile_kernel_get_name(kernel));
}
