#ifndef POLYTILE_QUEUE_WORKER_PUBLISH_H
#define POLYTILE_QUEUE_WORKER_PUBLISH_H

#include "queue/queue.h"

/** Tell linked devices what this one has newer than the host, as it is now; nothing runs on it. */
void pti_queue_publish(const polytile_queue *queue);

#endif
