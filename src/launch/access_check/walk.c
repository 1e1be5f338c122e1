#include "launch/access_check/walk.h"

#include "base/checked.h"

/** The fewest boxes of a launch, as a power of two; the most bytes of one, unless all boxes
 * together take this many times the launch's bytes. */
enum { LEAST_HALVINGS = 3, MOST_BOX_BYTES = 32 << 20, MOST_TIMES = 8 };

/** A walk over boxes of threads. */
typedef struct walk {
    const pti_trial *trial;
    const pti_grid *grid;
    int64_t launch_bytes;
    int64_t limit_bytes; /* of the device; 0: none */
    pti_box_visit *visit;
    void *user;
    bool goes_on;
} walk;

/** Return whether a box is small enough; a limited device takes smaller boxes. */
static bool is_small(const walk *of, int64_t n_bytes) {
    return n_bytes <= MOST_BOX_BYTES && (of->limit_bytes == 0 || n_bytes <= of->limit_bytes);
}

/** Return whether boxes share so much that cutting further costs too much. */
static bool is_shared(const walk *of, int64_t n_bytes, int n_halvings) {
    double all_bytes = (double)n_bytes * (double)(UINT64_C(1) << pti_min(n_halvings, 62));
    return all_bytes > MOST_TIMES * (double)of->launch_bytes &&
           (of->limit_bytes == 0 || n_bytes <= of->limit_bytes);
}

static polytile_status walk_box(walk *of, const polytile_domain *threads, int n_halvings) {
    polytile_domain halves[2];
    polytile_status status = POLYTILE_OK;
    int64_t n_bytes = pti_trial_bytes(of->trial, threads);
    bool is_fine = n_halvings >= LEAST_HALVINGS &&
                   (is_small(of, n_bytes) || is_shared(of, n_bytes, n_halvings));
    if (is_fine || !pti_check_halve(of->grid, threads, halves))
        return of->visit(threads, &of->goes_on, of->user);
    for (int k = 0; k < 2 && of->goes_on; k++)
        PTI_TRY(walk_box(of, &halves[k], n_halvings + 1));
done:
    return status;
}

polytile_status pti_visit_boxes(const pti_trial *trial, const pti_grid *grid, pti_box_visit *visit,
                                void *user) {
    const polytile_device *device = trial->device;
    walk of = {.trial = trial,
               .grid = grid,
               .launch_bytes = pti_trial_bytes(trial, &grid->threads),
               .limit_bytes = device->reaches_host ? 0 : device->limit_bytes,
               .visit = visit,
               .user = user,
               .goes_on = true};
    return walk_box(&of, &grid->threads, 0);
}
