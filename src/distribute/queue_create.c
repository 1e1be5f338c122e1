#include "distribute/devices.h"
#include "queue/member.h"

polytile_status polytile_queue_create(polytile_context *ctx, const char *device_text,
                                      polytile_queue **queue) {
    if (queue != NULL)
        *queue = NULL;
    if (ctx == NULL)
        return POLYTILE_INVALID;
    pti_clear_error(ctx);
    if (queue == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "creating a queue needs a place for it");
    return pti_devices_are_several(device_text) ? pti_devices_open(ctx, device_text, queue)
                                                : pti_queue_open(ctx, device_text, queue);
}
