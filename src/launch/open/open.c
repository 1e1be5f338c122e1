#include "launch/open/open.h"

#include "launch/device/trace.h"
#include "launch/host/host.h"

#include <stdlib.h>
#include <string.h>

static void destroy_device(pti_object *object) {
    polytile_device *device = (polytile_device *)object;
    char *text = device->text;
    pti_trace_end(device);
    device->functions->close(device);
    free(text);
}

polytile_status polytile_device_open(polytile_context *ctx, const char *text,
                                     polytile_device **device) {
    polytile_status status = POLYTILE_OK;
    pti_device_text parsed;
    char *copy = NULL;
    if (device != NULL)
        *device = NULL;
    PTI_ENTER(ctx, ctx, "context");
    if (text == NULL || device == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "opening a device needs its text and a place for it");
    PTI_TRY(pti_device_text_parse(ctx, text, &parsed));
    copy = strdup(text);
    if (copy == NULL)
        return pti_fail_memory(ctx, "a device's text", (double)strlen(text) + 1);
    PTI_TRY(parsed.driver->open(ctx, &parsed, device));
    pti_set_parallel(ctx, pti_host_run_parts);
    (*device)->text = copy;
    (*device)->cancel = &(*device)->runs;
    (*device)->cancel_number = PTI_NOT_CANCELLABLE;
    pti_object_adopt(ctx, &(*device)->object, destroy_device);
    return POLYTILE_OK;
done:
    free(copy);
    return status;
}
