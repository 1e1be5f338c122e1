#include "distribute/open/devices.h"
#include "distribute/open/share_options.h"
#include "queue/calls/calls.h"

polytile_status polytile_queue_create(polytile_context *ctx, const char *device_text,
                                      polytile_queue **queue) {
    return polytile_queue_create_shared(ctx, device_text, NULL, queue);
}

/** Options are checked whatever the number of devices; one alone has nothing to share. */
static polytile_status create_shared_queue(polytile_context *ctx, const char *device_text,
                                           const polytile_share_options *options,
                                           polytile_queue **queue) {
    pti_member_grid grid;
    pti_group_options parsed;
    polytile_status status;
    const int n_devices = pti_devices_count(device_text);
    const pti_share_options given = {.given = options,
                                     .members = "devices",
                                     .list = device_text == NULL ? "the text" : device_text,
                                     .n_members = n_devices,
                                     .may_deal = true,
                                     .are_different = pti_devices_are_different(device_text)};
    PTI_TRY(pti_share_options_parse(ctx, &given, &grid, &parsed));
    PTI_TRY(n_devices == 1 ? pti_queue_open(ctx, device_text, queue)
                           : pti_devices_open(ctx, device_text, &parsed, queue));
done:
    return status;
}

polytile_status polytile_queue_create_shared(polytile_context *ctx, const char *device_text,
                                             const polytile_share_options *options,
                                             polytile_queue **queue) {
    static const polytile_share_options defaults = {0};
    if (queue != NULL)
        *queue = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (queue == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "creating a queue needs a place for it");
    return create_shared_queue(ctx, device_text, options == NULL ? &defaults : options, queue);
}
