#ifndef POLYTILE_TESTS_SUPPORT_LINKS_H
#define POLYTILE_TESTS_SUPPORT_LINKS_H

#include "support/random.h"

#include <cmath>
#include <polytile/plan.h>

/** A link that is slow in some ways, so that other plans are the fastest. */
inline polytile_link uneven_link(Random *random) {
    polytile_link link = polytile_link_default;
    for (double *rate :
         {&link.upload_bytes_per_s, &link.download_bytes_per_s, &link.duplex_bytes_per_s,
          &link.kernel_bytes_per_s, &link.kernel_accesses_per_s})
        if (random->chance(50))
            *rate = static_cast<double>(random->one_of({1, 1000, 1000000, 1000000000}));
    if (random->chance(50))
        link.launch_latency_s = 1e-9;
    return link;
}

/** The link of an imagined device so slow that small pieces pay and what the host does counts
 * little, with kernels that are slow or fast beside it. */
inline polytile_link slow_link(Random *random) {
    constexpr double slower = 1e-7;
    polytile_link link = polytile_link_default;
    link.upload_bytes_per_s *= slower;
    link.download_bytes_per_s *= slower;
    link.duplex_bytes_per_s *= slower;
    link.kernel_bytes_per_s *= slower;
    link.kernel_accesses_per_s = std::pow(10.0, static_cast<double>(random->number(3, 8)));
    link.run_overhead_bytes = static_cast<double>(random->number(0, 1) * (8 << 20));
    link.cache_bytes = static_cast<double>(random->number(0, 1024));
    return link;
}

#endif
