#include "launch/device.h"

#include "launch/trace.h"

#include <stdlib.h>
#include <string.h>

static void destroy(pti_object *object) {
    polytile_device *device = (polytile_device *)object;
    pti_trace_end(device);
    free(device->text);
    device->functions->close(device);
}

polytile_status polytile_device_open(polytile_context *ctx, const char *text,
                                     polytile_device **device) {
    polytile_status status = POLYTILE_OK;
    pti_device_text parsed;
    char *copy = NULL;
    if (device != NULL)
        *device = NULL;
    if (ctx == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the context is NULL", __func__);
    pti_clear_error(ctx);
    if (text == NULL || device == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "opening a device needs its text and a place for it");
    PTI_TRY(pti_device_text_parse(ctx, text, &parsed));
    copy = strdup(text);
    if (copy == NULL)
        return pti_fail_memory(ctx, "a device's text", (double)strlen(text) + 1);
    PTI_TRY(parsed.driver->open(ctx, &parsed, device));
    (*device)->text = copy;
    pti_object_adopt(ctx, &(*device)->object, destroy);
    return POLYTILE_OK;
done:
    free(copy);
    return status;
}

void polytile_device_close(polytile_device *device) {
    if (device != NULL && device->queue == NULL)
        pti_object_release(&device->object);
}

int64_t polytile_device_get_limit(const polytile_device *device) {
    return device == NULL ? 0 : device->limit_bytes;
}

const polytile_link *polytile_device_get_link(const polytile_device *device) {
    return device == NULL ? &polytile_link_default : &device->link;
}

const char *polytile_device_get_text(const polytile_device *device) {
    return device == NULL ? "" : device->text;
}

void polytile_device_get_report(const polytile_device *device, polytile_report *report) {
    if (report != NULL)
        *report = device == NULL ? (polytile_report){0} : device->report;
}
