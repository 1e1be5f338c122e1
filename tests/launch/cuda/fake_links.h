#ifndef POLYTILE_TESTS_LAUNCH_CUDA_FAKE_LINKS_H
#define POLYTILE_TESTS_LAUNCH_CUDA_FAKE_LINKS_H

#include <polytile/plan.h>

/* Links of the GPUs of FakeCuda. What a machine measures of them depends on what else it runs, so
 * tests find one in the cache: plans are the same wherever and whenever they are made. */

/** Keep a link of all GPUs of FakeCuda in the cache, and return the driver's version that they must
 * have for it: another one each time, since a process remembers the links of a version. */
int keep_fake_links(const polytile_link &link);

#endif
