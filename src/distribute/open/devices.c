#include "distribute/open/devices.h"

#include "base/checked.h"
#include "launch/host/host.h"
#include "queue/calls/calls.h"

#include <stdlib.h>
#include <string.h>

static polytile_status open_device_queue(polytile_context *ctx, const char *text,
                                         polytile_queue **queue) {
    char *one = pti_devices_copy_first(text);
    if (one == NULL)
        return pti_fail_memory(ctx, text, (double)strlen(text));
    polytile_status status = pti_queue_open(ctx, one, queue);
    free(one);
    return status;
}

/** Destroy queues and keep the last error, which polytile_queue_destroy() forgets. */
static void destroy_queues(int n_queues, polytile_queue **queues) {
    for (int q = 0; q < n_queues; q++)
        if (queues[q] != NULL)
            pti_object_release(&queues[q]->object);
}

int pti_devices_count_driven(const char *text) {
    const char *const host = pti_host_driver.name;
    const int n_devices = text == NULL ? 0 : pti_devices_count(text);
    int n_driven = 0;
    for (int d = 0; d < n_devices; d++) {
        n_driven += strncmp(text, host, strlen(host)) != 0;
        text = pti_devices_end_of_first(text) + 1;
    }
    return n_driven;
}

static polytile_status open_each(polytile_context *ctx, const char *text, int n_devices,
                                 polytile_queue **queues) {
    polytile_status status = POLYTILE_OK;
    const char *one = text;
    for (int q = 0; q < n_devices; q++) {
        if (pti_devices_end_of_first(one) == one)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "devices \"%s\": number %d of %d in the list is empty", text, q + 1,
                            n_devices);
        PTI_TRY(open_device_queue(ctx, one, &queues[q]));
        one = pti_devices_end_of_first(one) + 1;
    }
done:
    return status;
}

/** A host beside GPUs leaves a core to each thread that drives one. */
polytile_status pti_devices_open_each(polytile_context *ctx, const char *text,
                                      polytile_queue **queues) {
    const int n_devices = pti_devices_count(text);
    if (n_devices == 1)
        return pti_queue_open(ctx, text, &queues[0]);
    const int n_left = pti_host_default_threads() - pti_devices_count_driven(text);
    const int n_threads = pti_host_lower_threads((int)pti_max(1, n_left));
    const polytile_status status = open_each(ctx, text, n_devices, queues);
    pti_host_restore_threads(n_threads);
    return status;
}

/** Return the first of the devices before one that has the same text; itself if there is none. */
static int find_alike(polytile_queue *const *queues, int q) {
    for (int k = 0; k < q; k++) {
        if (strcmp(pti_queue_text(queues[k]), pti_queue_text(queues[q])) == 0)
            return k;
    }
    return q;
}

/** Devices that are alike are measured once, so that they get the same. */
static polytile_status measure_all(polytile_context *ctx, int n_devices,
                                   polytile_queue *const *queues, pti_speed *speed) {
    polytile_status status = POLYTILE_OK;
    if (n_devices > PTI_MAX_WEIGHTS)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "weighted: %d devices, at most %d can be weighed; use block", n_devices,
                        PTI_MAX_WEIGHTS);
    for (int q = 0; q < n_devices; q++) {
        int alike = find_alike(queues, q);
        if (alike == q)
            PTI_TRY(pti_speed_measure(queues[q], &speed[q]));
        speed[q] = speed[alike];
    }
done:
    return status;
}

/** Make a group of the queues, which takes them over, or destroy them. */
static polytile_status create_group(polytile_context *ctx, const char *text, int n_devices,
                                    polytile_queue **queues, const pti_group_options *options,
                                    polytile_queue **queue) {
    pti_transport *transport = pti_transport_within(ctx, n_devices);
    if (transport != NULL)
        return pti_group_create(ctx, text, transport, queues, options, queue);
    destroy_queues(n_devices, queues);
    return pti_fail_memory(ctx, text, sizeof *transport);
}

polytile_status pti_devices_open(polytile_context *ctx, const char *text,
                                 const pti_group_options *options, polytile_queue **queue) {
    int n_devices = pti_devices_count(text);
    pti_group_options measured = *options;
    pti_speed *speed = calloc((size_t)n_devices, sizeof *speed);
    polytile_queue **queues = calloc((size_t)n_devices, sizeof *queues);
    polytile_status status;
    *queue = NULL;
    if (queues == NULL || speed == NULL)
        PTI_TRY(pti_fail_memory(ctx, text, n_devices * (double)(sizeof *queues + sizeof *speed)));
    status = pti_devices_open_each(ctx, text, queues);
    if (status == POLYTILE_OK && options->is_by_speed)
        status = measure_all(ctx, n_devices, queues, speed);
    measured.speed = options->is_by_speed ? speed : NULL;
    if (status == POLYTILE_OK)
        status = create_group(ctx, text, n_devices, queues, &measured, queue);
    else
        destroy_queues(n_devices, queues);
done:
    free(queues);
    free(speed);
    return status;
}
