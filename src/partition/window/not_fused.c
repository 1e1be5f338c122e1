#include "partition/window/not_fused.h"

#include "base/mix.h"

static uint64_t hash_launches(int n_launches, const pti_step *launch) {
    uint64_t hash = pti_mix(0, n_launches);
    for (int l = 0; l < n_launches; l++)
        hash = pti_mix(hash, launch[l].serial);
    return hash == 0 ? 1 : hash;
}

int pti_not_fused_find(const pti_not_fused *of, int n_launches, const pti_step *launch) {
    const uint64_t launches = hash_launches(n_launches, launch);
    for (int r = 0; r < PTI_NOT_FUSED_ROWS; r++)
        if (of->row[r].launches == launches)
            return of->row[r].n_single;
    return 0;
}

void pti_not_fused_keep(pti_not_fused *of, int n_launches, const pti_step *launch, int n_single) {
    of->row[of->n_kept].launches = hash_launches(n_launches, launch);
    of->row[of->n_kept].n_single = n_single;
    of->n_kept = (of->n_kept + 1) % PTI_NOT_FUSED_ROWS;
}
