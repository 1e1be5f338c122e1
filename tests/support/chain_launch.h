#ifndef POLYTILE_TESTS_SUPPORT_CHAIN_LAUNCH_H
#define POLYTILE_TESTS_SUPPORT_CHAIN_LAUNCH_H

#include <polytile/launch.h>

/** A launch of a chain over as many arrays as its kernel has, without parameters. */
inline polytile_chain_launch chain_launch(const polytile_kernel *kernel,
                                          const polytile_domain &threads,
                                          polytile_array *const *arrays) {
    return {kernel, threads, polytile_kernel_get_n_arrays(kernel), arrays, 0, nullptr, {}};
}

#endif
