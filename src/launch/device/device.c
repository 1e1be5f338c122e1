#include "launch/device/device.h"

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

void polytile_device_cancel(polytile_device *device) {
    if (device != NULL)
        pti_cancel_ask(device->cancel);
}

void polytile_device_get_report(const polytile_device *device, polytile_report *report) {
    if (report != NULL)
        *report = device == NULL ? (polytile_report){0} : device->report;
}
