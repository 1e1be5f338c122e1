#ifndef POLYTILE_LAUNCH_ACCESS_CHECK_RECORD_H
#define POLYTILE_LAUNCH_ACCESS_CHECK_RECORD_H

#include "launch/access_check/scratch.h"

/** Which elements of the copies a kernel reached for, in the thread that began to record. */
typedef struct pti_record {
    int n_copies;
    const pti_scratch *scratch; /* borrowed */
    unsigned char **reached;    /* of each copy, one byte a place; owned, as it is */
    int64_t n_calls;            /* 0: the kernel does not tell */
    bool is_confined;           /* who reaches beyond the copies gets other memory */
} pti_record;

/** Nothing is reached yet. Errors: NO_MEMORY. */
polytile_status pti_record_make(polytile_context *ctx, int n_copies, const pti_scratch *scratch,
                                pti_record *record);
void pti_record_free(pti_record *record);

/** From here on who reaches beyond the copies, led there by data that were changed, gets zeros. */
void pti_record_confine(pti_record *record);

/** What this thread records to from now on; NULL: nowhere. Returns what it was. */
pti_record *pti_record_set(pti_record *record);

#endif
