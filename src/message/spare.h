#ifndef POLYTILE_MESSAGE_SPARE_H
#define POLYTILE_MESSAGE_SPARE_H

#include <stdint.h>

/* Memory of packets. That of long ones is kept for the next ones: of memory that comes fresh from
 * the system each page is a fault, which takes longer than the copy. Any thread calls these. */

/** Allocate memory of a packet; NULL when memory runs out. The caller owns it. */
void *pti_spare_allocate(int64_t n_bytes);
/** Release it; NULL does nothing. */
void pti_spare_release(void *memory);

#endif
