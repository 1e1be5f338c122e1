#include "launch/device.h"

#include <polytile/size.h>

const pti_device_option pti_cuda_options[PTI_N_OPTIONS] = {
    {PTI_OPTION_MEMORY, "memory", "SIZE (such as 16GiB)", polytile_size_parse,
     polytile_size_explain},
    {PTI_OPTION_THREADS, "threads", "N (1 to 1024)", pti_parse_threads, NULL},
};
