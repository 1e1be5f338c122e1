#ifndef POLYTILE_BASE_RETRY_H
#define POLYTILE_BASE_RETRY_H

#include <errno.h>

/** Make a system call, whose result is negative if it fails, again as long as a signal comes
 * between. */
#define PTI_RETRY(result, call)                                                                    \
    do                                                                                             \
        (result) = (call);                                                                         \
    while ((result) < 0 && errno == EINTR)

#endif
