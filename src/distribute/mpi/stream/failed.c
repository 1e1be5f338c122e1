#include "distribute/mpi/stream/joined.h"

#include "base/clock.h"

#include <stdio.h>

/* A call of MPI has failed on a rank: it says so to all, and no frame goes on, on any of them. What
 * MPI does after an error is not known. So the rank waits for the others only for a while. */

bool pti_joined_has_failed(const pti_joined_ranks *joined) {
    return joined->failure.text[0] != '\0';
}

void pti_joined_note_failure(pti_joined_ranks *joined, polytile_status status) {
    pti_error error = {0};
    if (status == POLYTILE_OK)
        return;
    joined->is_failing = true;
    if (pti_joined_has_failed(joined))
        return;
    pti_error_keep(&error, joined->ctx, status);
    snprintf(joined->failure.text, sizeof joined->failure.text, "rank %d: %.160s",
             joined->ranks.rank, error.text);
}

polytile_status pti_joined_fail(const pti_joined_ranks *joined, const polytile_stream *stream) {
    return pti_fail(joined->ctx, POLYTILE_DEVICE,
                    "%s: %s; no frame goes on: end the stream on all ranks", stream->name,
                    joined->failure.text);
}

/** How long a rank on which MPI fails waits for others, and any for what is under way then. */
static const double patience_s = 1;

double pti_joined_end_of_patience(void) {
    return pti_now_s() + patience_s;
}

bool pti_joined_gives_up(const pti_joined_ranks *joined, double end_s) {
    return joined->is_failing && pti_now_s() > end_s;
}
