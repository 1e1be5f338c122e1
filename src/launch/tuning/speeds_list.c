#include "launch/tuning/speeds.h"

pti_kept_speed *pti_speeds_look_up(pti_kept_speeds *speeds, uint64_t key) {
    for (int k = 0; k < speeds->n_kept && k < PTI_MOST_SPEEDS; k++) {
        if (speeds->at[k].key == key)
            return &speeds->at[k];
    }
    return NULL;
}

void pti_speeds_put(pti_kept_speeds *speeds, uint64_t key, double rows_per_s) {
    pti_kept_speed *kept = pti_speeds_look_up(speeds, key);
    if (kept == NULL)
        kept = &speeds->at[speeds->n_kept++ % PTI_MOST_SPEEDS];
    *kept = (pti_kept_speed){key, rows_per_s};
}
