#include "partition/skew/concurrent.h"

#include "base/checked.h"

#include <stdlib.h>

/* A launch's threads in a slab follow those of the launches before it, and their own, in the slabs
 * before. With those of launches behind it there they have nothing in common: of two threads that
 * touch an element, the earlier launch's is in the same slab or one before. */

/** Launches that wait together for as many of the slab before: to wait for each costs more than it
 * gains (1 % of all on an H200, with kernels of 20 us while uploads run). */
enum { LAUNCHES_PER_WAIT = 4 };

static int64_t *new_list(int n_launches) {
    int64_t *list = malloc(((size_t)n_launches + 1) * sizeof *list);
    for (int l = 0; list != NULL && l < n_launches; l++)
        list[l] = -1;
    return list;
}

bool pti_skew_concurrent_begin(pti_skew_stream *of) {
    int64_t **one = &of->ran[PTI_STREAM_COMPUTE], **other = &of->ran[PTI_STREAM_ABREAST];
    *one = new_list(of->chain->n_launches);
    *other = new_list(of->chain->n_launches);
    return *one != NULL && *other != NULL;
}

void pti_skew_concurrent_end(pti_skew_stream *of) {
    free(of->ran[PTI_STREAM_COMPUTE]);
    free(of->ran[PTI_STREAM_ABREAST]);
}

bool pti_skew_is_abreast(const pti_skew_stream *of, int64_t k) {
    return of->shape->abreast && k % 2 == 1;
}

/** Let what comes in the slab at hand follow a group of launches of those before, on the other
 * stream. */
static void wait_for_launches(pti_skew_stream *of, pti_stream other, int first) {
    int end = (int)pti_min((int64_t)first + LAUNCHES_PER_WAIT, of->pass.end);
    for (int l = first; l < end; l++)
        of->ahead.op[other] = pti_max(of->ahead.op[other], of->ran[other][l]);
}

void pti_skew_run_launches(pti_skew_stream *of, int64_t k) {
    bool is_abreast = pti_skew_is_abreast(of, k);
    pti_stream on = is_abreast ? PTI_STREAM_ABREAST : PTI_STREAM_COMPUTE;
    pti_stream other = is_abreast ? PTI_STREAM_COMPUTE : PTI_STREAM_ABREAST;
    of->ahead = pti_last_none();
    for (int l = of->pass.first; l < of->pass.end; l++) {
        if ((l - of->pass.first) % LAUNCHES_PER_WAIT == 0)
            wait_for_launches(of, other, l);
        of->ran[on][l] = pti_max(of->ran[on][l], pti_skew_stream_launch(of, l, k));
    }
}
