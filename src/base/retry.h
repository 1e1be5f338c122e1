#ifndef POLYTILE_BASE_RETRY_H
#define POLYTILE_BASE_RETRY_H

#include <errno.h>

/** Repeat a system call, whose failure is negative, while signals interrupt it. */
#define PTI_RETRY(result, call)                                                                    \
    do                                                                                             \
        (result) = (call);                                                                         \
    while ((result) < 0 && errno == EINTR)

#endif
