#include "distribute/devices.h"

#include <stdlib.h>
#include <string.h>

/** The comma behind the first device of a list, outside parentheses; its end if there is none. */
static const char *end_of_first(const char *text) {
    int depth = 0;
    for (; *text != '\0' && (*text != ',' || depth > 0); text++)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return text;
}

bool pti_devices_are_several(const char *text) {
    return text != NULL && *end_of_first(text) == ',';
}

static int count(const char *text) {
    int n_devices = 1;
    for (text = end_of_first(text); *text == ','; text = end_of_first(text + 1))
        n_devices++;
    return n_devices;
}

static polytile_status open_one(polytile_context *ctx, const char *text, polytile_queue **queue) {
    char *one = strndup(text, (size_t)(end_of_first(text) - text));
    if (one == NULL)
        return pti_fail_memory(ctx, text, (double)strlen(text));
    polytile_status status = pti_queue_open(ctx, one, queue);
    free(one);
    return status;
}

/** As polytile_queue_destroy(), which forgets the last error. */
static void destroy(int n_queues, polytile_queue **queues) {
    for (int q = 0; q < n_queues; q++)
        if (queues[q] != NULL)
            pti_object_release(&queues[q]->object);
}

static polytile_status open_all(polytile_context *ctx, const char *text, int n_devices,
                                polytile_queue **queues) {
    polytile_status status = POLYTILE_OK;
    for (int q = 0; q < n_devices; q++) {
        PTI_TRY(open_one(ctx, text, &queues[q]));
        text = end_of_first(text) + 1;
    }
done:
    if (status != POLYTILE_OK)
        destroy(n_devices, queues);
    return status;
}

polytile_status pti_devices_open(polytile_context *ctx, const char *text, polytile_queue **queue) {
    int n_devices = count(text);
    pti_team_options options = {0};
    pti_transport *transport = NULL;
    polytile_queue **queues = calloc((size_t)n_devices, sizeof *queues);
    polytile_status status;
    *queue = NULL;
    if (queues == NULL)
        return pti_fail_memory(ctx, text, n_devices * (double)sizeof *queues);
    PTI_TRY(pti_distribution_parse(ctx, NULL, &options.distribution));
    PTI_TRY(open_all(ctx, text, n_devices, queues));
    transport = pti_transport_within(ctx, n_devices);
    if (transport == NULL) {
        destroy(n_devices, queues);
        PTI_TRY(pti_fail_memory(ctx, text, sizeof *transport));
    }
    status = pti_team_create(ctx, text, transport, queues, &options, queue);
done:
    free(queues);
    return status;
}
