#ifndef POLYTILE_ACCESS_ISL_GMP_RESERVE_H
#define POLYTILE_ACCESS_ISL_GMP_RESERVE_H

#include <stdbool.h>
#include <stddef.h>

/* Memory of a fixed size that is there from the start, in pages that nobody touches until they are
 * needed. Any thread may call these functions. */

/** A block as aligned as malloc()'s. Ends the process, as GMP does, if there is none left. */
void *pti_reserve_take(size_t n_bytes);

/** Give a block back, of as many bytes as were asked for. */
void pti_reserve_give(void *memory, size_t n_bytes);

bool pti_reserve_has(const void *memory);

size_t pti_reserve_get_taken_bytes(void);
size_t pti_reserve_get_peak_bytes(void);

#endif
