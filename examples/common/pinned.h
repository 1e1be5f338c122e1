#ifndef EXAMPLES_PINNED_H
#define EXAMPLES_PINNED_H

#include <stdint.h>

/** Pin host memory, so that GPUs copy it directly, until it is unpinned. Returns NULL, or why it
 * failed. */
const char *memory_pin(void *memory, int64_t n_bytes);
void memory_unpin(void *memory);

#endif
