#ifndef EXAMPLES_PINNED_H
#define EXAMPLES_PINNED_H

#include <stdint.h>

/** Pin host memory, so that GPUs copy it without a detour, until it is unpinned. NULL, or why it
 * could not be done. */
const char *memory_pin(void *memory, int64_t n_bytes);
void memory_unpin(void *memory);

#endif
