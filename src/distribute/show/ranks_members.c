#include "base/plural.h"
#include "distribute/policy/policy.h"
#include "distribute/share/row_pieces.h"
#include "distribute/show/ranks_plan.h"
#include "launch/open/device_list.h"
#include "launch/open/open.h"
#include "launch/peers/peers.h"

#include <stdlib.h>

/* Who the members of a plan are, from text. */

void pti_ranks_members_free(pti_ranks_members *members) {
    for (int m = 0; members->device != NULL && m < members->n_local; m++)
        free(members->device[m]);
    free(members->device);
    free(members->limit_bytes);
    free(members->n_streams);
    *members = (pti_ranks_members){0};
}

static int64_t asked_limit(const polytile_ranks_request *request) {
    return request->options == NULL ? 0 : request->options->limit_bytes;
}

/** Find a device's memory, as its text says, else the limit that is asked for; and its streams, at
 * most if it measures how many are best. */
static polytile_status find_limit(polytile_context *ctx, const char *text, int64_t asked_bytes,
                                  int64_t *limit_bytes, int64_t *n_streams) {
    pti_device_text parsed;
    polytile_status status = pti_device_text_parse(ctx, text, &parsed);
    if (status != POLYTILE_OK)
        return status;
    const int64_t memory_bytes = parsed.value[PTI_OPTION_MEMORY];
    const bool is_auto = parsed.value[PTI_OPTION_STREAMS] == PTI_STREAMS_AUTO;
    *n_streams = is_auto ? PTI_MAX_LANES : parsed.value[PTI_OPTION_STREAMS];
    *limit_bytes = memory_bytes > 0 ? memory_bytes : asked_bytes;
    if (*limit_bytes == 0 && !parsed.driver->reaches_host)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: a plan opens no device and does not know its memory; give a limit, or "
                        "%s(memory=16GiB)",
                        text, text);
    return POLYTILE_OK;
}

static polytile_status read_list(polytile_context *ctx, const polytile_ranks_request *request,
                                 pti_ranks_members *members) {
    const char *next = request->device;
    members->device = calloc((size_t)members->n_local, sizeof(char *));
    if (members->device == NULL)
        return pti_fail_memory(ctx, request->device, members->n_local * (double)sizeof(char *));
    for (int m = 0; m < members->n_local; m++) {
        polytile_status status;
        members->device[m] = pti_devices_copy_first(next);
        if (members->device[m] == NULL)
            return pti_fail_memory(ctx, request->device, sizeof(char *));
        status = find_limit(ctx, members->device[m], asked_limit(request), &members->limit_bytes[m],
                            &members->n_streams[m]);
        if (status != POLYTILE_OK)
            return status;
        next = pti_devices_end_of_first(next) + 1;
    }
    return POLYTILE_OK;
}

/** Devices of ranks are not asked whether they are linked: what one pulls, others cannot prove. */
static polytile_status check_linked(polytile_context *ctx, const pti_ranks_members *members) {
    if (members->are_linked && members->n_ranks > 0)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "linked devices of %d ranks: devices of ranks copy over the host's memory; "
                        "plan those of one process, such as cuda:0,cuda:1",
                        members->n_ranks);
    if (members->are_linked && (members->n_local < 2 || members->n_local > PTI_MOST_PEERS))
        return pti_fail(ctx, POLYTILE_INVALID, "%d linked %s: there are 2 to %d, as cuda:0,cuda:1",
                        members->n_local, pti_plural(members->n_local, "device", "devices"),
                        (int)PTI_MOST_PEERS);
    for (int m = 0; m < members->n_local && members->are_linked; m++) {
        pti_device_text parsed;
        polytile_status status = pti_device_text_parse(ctx, members->device[m], &parsed);
        if (status != POLYTILE_OK)
            return status;
        if (parsed.driver->reaches_host)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "%s is not linked: it has no memory that other devices reach; give "
                            "GPUs alone, such as cuda:0,cuda:1",
                            members->device[m]);
    }
    return POLYTILE_OK;
}

polytile_status pti_ranks_members_read(polytile_context *ctx, const polytile_ranks_request *request,
                                       pti_ranks_members *members) {
    *members = (pti_ranks_members){.n_ranks = request->n_ranks,
                                   .are_attached = request->n_ranks == 0 || request->are_attached,
                                   .are_linked = request->are_linked,
                                   .n_local = pti_devices_count(request->device)};
    if (request->n_ranks < (request->device == NULL ? 1 : 0) ||
        request->n_ranks > PTI_MEMBERS_PLAN_MOST_MEMBERS / members->n_local)
        return pti_fail(ctx, POLYTILE_INVALID, "%d ranks: plan with 1 to %d", request->n_ranks,
                        PTI_MEMBERS_PLAN_MOST_MEMBERS / members->n_local);
    members->limit_bytes = calloc((size_t)members->n_local, sizeof *members->limit_bytes);
    members->n_streams = calloc((size_t)members->n_local, sizeof *members->n_streams);
    if (members->limit_bytes == NULL || members->n_streams == NULL)
        return pti_fail_memory(ctx, "the plan of ranks", (double)members->n_local);
    members->limit_bytes[0] = asked_limit(request);
    polytile_status status = POLYTILE_OK;
    if (request->device != NULL)
        status = read_list(ctx, request, members);
    return status == POLYTILE_OK ? check_linked(ctx, members) : status;
}

/* Who owns what. */

/** Devices of one process take rows as they come free by some policies, and by all of them, and by
 * default, those that reduce into the same elements. Errors: UNSUPPORTED. */
static polytile_status refuse_dealt(polytile_context *ctx, const polytile_ranks_request *request,
                                    const pti_launches *launches, const pti_policy *policy) {
    const polytile_share_options *share = &request->share;
    if (pti_policy_is_dynamic(policy) ||
        (share->policy != NULL &&
         (share->layout != NULL || policy->plug_in != NULL || policy->by_node)))
        return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                        "policy \"%s\": devices take rows as they come free, and what travels for "
                        "that is not known to a plan; give a layout alone, by which owners compute",
                        share->policy);
    for (int k = 0; k < launches->n_kinds && (share->policy != NULL || share->layout == NULL); k++)
        if (pti_row_pieces_are_asked(launches->of_kind[k].instance))
            return pti_fail(ctx, POLYTILE_UNSUPPORTED,
                            "%s: several rows reduce into the same elements, and devices take such "
                            "rows as they come free; give a layout alone, such as block, by which "
                            "owners compute",
                            launches->of_kind[k].instance->kernel_name);
    return POLYTILE_OK;
}

static polytile_status refuse_different(polytile_context *ctx,
                                        const polytile_ranks_request *request) {
    const polytile_share_options *share = &request->share;
    if (share->layout == NULL && share->policy == NULL &&
        pti_devices_are_different(request->device))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "devices \"%s\" differ, and a queue measures them, which a plan does not; "
                        "give a layout, such as block or weighted(3,1)",
                        request->device);
    return POLYTILE_OK;
}

polytile_status pti_ranks_find_layout(polytile_context *ctx, const polytile_ranks_request *request,
                                      const pti_launches *launches,
                                      const pti_ranks_members *members, const char **layout) {
    const char *text = request->share.policy;
    pti_policy policy = {.kind = &pti_policy_equal};
    polytile_status status = POLYTILE_OK;
    if (text != NULL)
        PTI_TRY(pti_policy_parse(ctx, text, pti_ranks_members_count(members), &policy));
    if (members->n_ranks == 0 && members->n_local > 1) {
        PTI_TRY(refuse_different(ctx, request));
        PTI_TRY(refuse_dealt(ctx, request, launches, &policy));
    }
    bool is_weighted = policy.kind == &pti_policy_weighted, has_layout = request->share.layout;
    bool is_by_speed = policy.kind == &pti_policy_guided || (is_weighted && policy.n_numbers == 0);
    if (is_by_speed && !has_layout)
        PTI_TRY(pti_fail(ctx, POLYTILE_INVALID,
                         "policy \"%s\": no rank's speed is known to a plan; give numbers, as "
                         "weighted(3,1)",
                         text));
    *layout = has_layout ? request->share.layout : is_weighted ? text : "block";
done:
    return status;
}
