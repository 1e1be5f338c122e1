#include "launch/cuda/driver.h"
#include "launch/host/host.h"
#include "launch/open/open.h"

#include <string.h>

/** One row a kind of device. */
static const pti_driver *const drivers[] = {
    &pti_host_driver,
    &pti_cuda_driver,
};

enum { N_DRIVERS = sizeof drivers / sizeof *drivers };

const pti_driver *pti_driver_find(const char *name) {
    for (size_t k = 0; k < N_DRIVERS; k++) {
        if (strcmp(drivers[k]->name, name) == 0)
            return drivers[k];
    }
    return NULL;
}

void pti_drivers_describe(pti_text *text) {
    for (size_t k = 0; k < N_DRIVERS; k++)
        pti_text_add(text, "%s%s", k == 0 ? "" : "; ", drivers[k]->forms);
}

polytile_status polytile_devices_list(polytile_context *ctx, int capacity,
                                      polytile_device_info *infos, int *n_devices) {
    polytile_status status = POLYTILE_OK;
    PTI_ENTER(ctx, ctx, "context");
    if (n_devices == NULL || capacity < 0 || (infos == NULL && capacity > 0))
        return pti_fail(ctx, POLYTILE_INVALID,
                        "listing devices needs room for %d entries and a place for their number",
                        capacity);
    *n_devices = 0;
    for (size_t k = 0; k < N_DRIVERS; k++)
        PTI_TRY(drivers[k]->list(ctx, capacity, infos, n_devices));
done:
    return status;
}
