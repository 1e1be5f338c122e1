#include "launch/device/device.h"

#include <polytile/size.h>

#include <stdlib.h>
#include <string.h>

bool pti_parse_threads(const char *value, int64_t *n_threads) {
    size_t n_digits = strspn(value, "0123456789");
    if (n_digits == 0 || n_digits > 4 || value[n_digits] != '\0')
        return false;
    *n_threads = atoi(value);
    return *n_threads >= 1 && *n_threads <= PTI_MAX_THREADS;
}

const pti_device_option pti_cuda_options[PTI_N_OPTIONS] = {
    {PTI_OPTION_MEMORY, "memory", "SIZE (such as 16GiB)", polytile_size_parse,
     polytile_size_explain},
    {PTI_OPTION_THREADS, "threads", "N (1 to 1024)", pti_parse_threads, NULL},
};
