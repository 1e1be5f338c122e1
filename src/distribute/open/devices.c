#include "distribute/open/devices.h"

#include <stdlib.h>
#include <string.h>

static bool is_separator(char c) {
    return c == ',' || c == '+';
}

/** What separates the first device of a list from the next, outside parentheses; its end if there
 * is none. */
static const char *end_of_first(const char *text) {
    int depth = 0;
    for (; *text != '\0' && (!is_separator(*text) || depth > 0); text++)
        depth += *text == '(' ? 1 : *text == ')' ? -1 : 0;
    return text;
}

int pti_devices_count(const char *text) {
    int n_devices = 1;
    if (text == NULL)
        return 1;
    for (text = end_of_first(text); is_separator(*text); text = end_of_first(text + 1))
        n_devices++;
    return n_devices;
}

/** The next character of a device's text that counts: its number does not. */
static const char *skip_number(const char *text) {
    return *text == ':' ? text + 1 + strspn(text + 1, "0123456789") : text + 1;
}

/** Whether the first devices of two lists are the same but for their numbers. */
static bool are_alike(const char *a, const char *b) {
    const char *end_of_a = end_of_first(a), *end_of_b = end_of_first(b);
    while (a < end_of_a && b < end_of_b && *a == *b) {
        a = skip_number(a);
        b = skip_number(b);
    }
    return a == end_of_a && b == end_of_b;
}

bool pti_devices_are_different(const char *text) {
    bool are = false;
    if (text == NULL)
        return false;
    for (const char *next = end_of_first(text); is_separator(*next); next = end_of_first(next + 1))
        are |= !are_alike(text, next + 1);
    return are;
}

static polytile_status open_device_queue(polytile_context *ctx, const char *text,
                                         polytile_queue **queue) {
    char *one = strndup(text, (size_t)(end_of_first(text) - text));
    if (one == NULL)
        return pti_fail_memory(ctx, text, (double)strlen(text));
    polytile_status status = pti_queue_open(ctx, one, queue);
    free(one);
    return status;
}

/** As polytile_queue_destroy(), which forgets the last error. */
static void destroy_queues(int n_queues, polytile_queue **queues) {
    for (int q = 0; q < n_queues; q++)
        if (queues[q] != NULL)
            pti_object_release(&queues[q]->object);
}

polytile_status pti_devices_open_each(polytile_context *ctx, const char *text,
                                      polytile_queue **queues) {
    polytile_status status = POLYTILE_OK;
    const char *one = text;
    const int n_devices = pti_devices_count(text);
    if (n_devices == 1)
        return pti_queue_open(ctx, text, &queues[0]);
    for (int q = 0; q < n_devices; q++) {
        if (end_of_first(one) == one)
            return pti_fail(ctx, POLYTILE_INVALID,
                            "devices \"%s\": number %d of %d in the list is empty", text, q + 1,
                            n_devices);
        PTI_TRY(open_device_queue(ctx, one, &queues[q]));
        one = end_of_first(one) + 1;
    }
done:
    return status;
}

/** The first of the devices before one that has the same text; itself if there is none. */
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

/** The queues become the team's, or end. */
static polytile_status create_team(polytile_context *ctx, const char *text, int n_devices,
                                   polytile_queue **queues, const pti_team_options *options,
                                   polytile_queue **queue) {
    pti_transport *transport = pti_transport_within(ctx, n_devices);
    if (transport != NULL)
        return pti_team_create(ctx, text, transport, queues, options, queue);
    destroy_queues(n_devices, queues);
    return pti_fail_memory(ctx, text, sizeof *transport);
}

polytile_status pti_devices_open(polytile_context *ctx, const char *text,
                                 const pti_team_options *options, polytile_queue **queue) {
    int n_devices = pti_devices_count(text);
    pti_team_options measured = *options;
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
        status = create_team(ctx, text, n_devices, queues, &measured, queue);
    else
        destroy_queues(n_devices, queues);
done:
    free(queues);
    free(speed);
    return status;
}
