#ifndef POLYTILE_PARTITION_SCHEDULE_SCHEDULE_COPY_H
#define POLYTILE_PARTITION_SCHEDULE_SCHEDULE_COPY_H

#include "partition/schedule/schedule.h"

/** A schedule of its own that does the same; NULL when memory runs out. It borrows what the other
 * borrows. The caller frees it with pti_schedule_free(). */
pti_schedule *pti_schedule_copy(const pti_schedule *of);

#endif
