#ifndef POLYTILE_PARTITION_WINDOW_NOT_FUSED_H
#define POLYTILE_PARTITION_WINDOW_NOT_FUSED_H

#include "partition/memory/residency.h"

/* Launches over resident arrays that were looked at together and are not fused. To look takes
 * milliseconds for a hundred of them, and programs repeat their launches. They are known by a hash
 * of their serials: if two rows had the same, one of them might run launch after launch in vain. */

/** The most rows of launches that are kept; the newest stay. */
enum { PTI_NOT_FUSED_ROWS = 16 };

/** Zeros: none is kept. */
typedef struct pti_not_fused {
    int n_kept; /* modulo PTI_NOT_FUSED_ROWS: where the next row goes */
    struct {
        uint64_t launches; /* 0: none is there */
        int n_single;      /* of the group that was found */
    } row[PTI_NOT_FUSED_ROWS];
} pti_not_fused;

/** Return how many of a row of launches run one after the other; 0: they were not looked at, or
 * are fused. */
int pti_not_fused_find(const pti_not_fused *of, int n_launches, const pti_step *launch);

/** Keep that n_single of a row of launches run one after the other, at least one. */
void pti_not_fused_keep(pti_not_fused *of, int n_launches, const pti_step *launch, int n_single);

#endif
