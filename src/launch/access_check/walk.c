#include "launch/access_check/walk.h"

#include "base/checked.h"

/** Boxes that a launch is cut into at least, as a power of two, and bytes that one takes at
 * most. */
enum { LEAST_HALVINGS = 3, MOST_BOX_BYTES = 32 << 20 };

typedef struct walk {
    const pti_trial *trial;
    const pti_units *units;
    int64_t most_bytes;
    pti_walk_visit *visit;
    void *user;
    bool goes_on;
} walk;

/** A device whose memory is limited takes smaller boxes, if there are any. */
static int64_t most_bytes(const polytile_device *device) {
    int64_t limit_bytes = device->reaches_host ? 0 : device->limit_bytes;
    return limit_bytes == 0 ? MOST_BOX_BYTES : pti_min(limit_bytes, MOST_BOX_BYTES);
}

static polytile_status walk_box(walk *of, const polytile_domain *threads, int n_halvings) {
    polytile_domain halves[2];
    polytile_status status = POLYTILE_OK;
    bool is_small = pti_trial_bytes(of->trial, threads) <= of->most_bytes;
    if ((n_halvings >= LEAST_HALVINGS && is_small) || !pti_units_halve(of->units, threads, halves))
        return of->visit(threads, &of->goes_on, of->user);
    for (int k = 0; k < 2 && of->goes_on; k++)
        PTI_TRY(walk_box(of, &halves[k], n_halvings + 1));
done:
    return status;
}

polytile_status pti_walk_boxes(const pti_trial *trial, const pti_units *units,
                               pti_walk_visit *visit, void *user) {
    walk of = {trial, units, most_bytes(trial->device), visit, user, true};
    return walk_box(&of, &units->threads, 0);
}
