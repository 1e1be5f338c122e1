#ifndef POLYTILE_TESTS_SUPPORT_LINKS_H
#define POLYTILE_TESTS_SUPPORT_LINKS_H

#include "support/random.h"

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

#endif
