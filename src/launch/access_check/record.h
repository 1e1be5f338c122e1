#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_RECORD_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_RECORD_H

#include "launch/access_check/shadow_copy.h"

/* What a kernel touches while it runs on copies. */

/** Which elements of the copies a kernel touched, in the thread that began to record. */
typedef struct pti_record {
    int n_copies;
    const pti_shadow_copy *shadow; /* borrowed */
    unsigned char **touched;       /* of each copy, one byte a place; owned, as it is */
    int64_t n_calls;               /* 0: the kernel does not record */
    bool is_confined;              /* who goes beyond the copies gets other memory */
} pti_record;

/** Make a record in which nothing is touched yet. Errors: NO_MEMORY. */
polytile_status pti_record_make(polytile_context *ctx, int n_copies, const pti_shadow_copy *shadow,
                                pti_record *record);
void pti_record_free(pti_record *record);

/** Let accesses beyond the copies, to which changed data lead, read zeros from now on. */
void pti_record_confine(pti_record *record);

/** Set to what this thread records; NULL: nowhere. Returns what it was. */
pti_record *pti_record_set(pti_record *record);

#endif
