#include "launch/device/device.h"

#include <polytile/size.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool pti_parse_threads(const char *value, int64_t *n_threads) {
    size_t n_digits = strspn(value, "0123456789");
    if (n_digits == 0 || n_digits > 4 || value[n_digits] != '\0')
        return false;
    *n_threads = atoi(value);
    return *n_threads >= 1 && *n_threads <= PTI_MAX_THREADS;
}

bool pti_parse_streams(const char *value, int64_t *n_streams) {
    const size_t n_digits = strspn(value, "0123456789");
    if (strcmp(value, "auto") == 0) {
        *n_streams = PTI_STREAMS_AUTO;
        return true;
    }
    if (n_digits == 0 || n_digits > 2 || value[n_digits] != '\0')
        return false;
    *n_streams = atoi(value);
    return *n_streams >= 1 && *n_streams <= PTI_MAX_LANES;
}

static char *explain_streams(const char *value, char *buffer) {
    (void)value;
    snprintf(buffer, POLYTILE_SIZE_WHY_BYTES,
             "a number of streams is 1 to %d, or auto: as many as turn out to be fastest",
             PTI_MAX_LANES);
    return buffer;
}

const pti_device_option pti_cuda_options[PTI_N_OPTIONS] = {
    {PTI_OPTION_MEMORY, "memory", "SIZE (such as 16GiB)", polytile_size_parse,
     polytile_size_explain},
    {PTI_OPTION_THREADS, "threads", "N (1 to 1024)", pti_parse_threads, NULL},
    {PTI_OPTION_STREAMS, "streams", "N (1 to 32) or auto", pti_parse_streams, explain_streams},
};
