#include "distribute/mpi/stream/joined.h"

#include "base/clock.h"

#include <time.h>

/* After a failure of MPI, what is under way is given up, before the memory is freed in which it
 * ends or begins. */

static void sleep_a_while(void) {
    nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

/** Call a function for all requests of links that have this end here. Returns whether it does so
 * for any. */
static bool for_requests(pti_joined_ranks *joined, const polytile_stream *stream,
                         pti_stream_end end, bool (*function)(MPI_Request *request)) {
    bool does = false;
    for (int l = 0; l < stream->n_lanes; l++)
        for (size_t k = 0; k < joined->n_requests / (size_t)stream->n_lanes; k++)
            if (stream->lane[l].end == end && joined->lane[l].request[k] != MPI_REQUEST_NULL)
                does = function(&joined->lane[l].request[k]) || does;
    return does;
}

static bool cancel_request(MPI_Request *request) {
    return MPI_Cancel(request) == MPI_SUCCESS;
}

/** Return whether a request goes on. One of which MPI says that it fails does not. */
static bool test_request(MPI_Request *request) {
    int is_done = 0;
    return MPI_Test(request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !is_done;
}

static bool free_request(MPI_Request *request) {
    return MPI_Request_free(request) == MPI_SUCCESS;
}

/** Nothing comes into memory any more that is to be freed. */
static void end_receives(pti_joined_ranks *joined, const polytile_stream *stream) {
    const double end_s = pti_joined_end_of_patience();
    for_requests(joined, stream, PTI_STREAM_RECEIVES, cancel_request);
    while (for_requests(joined, stream, PTI_STREAM_RECEIVES, test_request) && pti_now_s() < end_s)
        sleep_a_while();
}

/** What was sent is not read any more once all ranks have ended what they receive. */
static void await_others(pti_joined_ranks *joined, polytile_stream *stream) {
    const double end_s = pti_joined_end_of_patience();
    bool is_done = false;
    joined->stage = PTI_JOINED_CLEARED;
    while (!is_done && pti_now_s() < end_s) {
        if (pti_joined_exchange_last_words(joined, stream, &is_done) != POLYTILE_OK)
            is_done = false;
        for_requests(joined, stream, PTI_STREAM_SENDS, test_request);
        sleep_a_while();
    }
}

void pti_joined_abandon(pti_joined_ranks *joined, polytile_stream *stream) {
    end_receives(joined, stream);
    await_others(joined, stream);
    for_requests(joined, stream, PTI_STREAM_SENDS, free_request);
    for (int r = 0; r < joined->ranks.n_ranks; r++) {
        if (joined->telling[r] != MPI_REQUEST_NULL)
            free_request(&joined->telling[r]);
        if (joined->saying[r] != MPI_REQUEST_NULL)
            free_request(&joined->saying[r]);
    }
}
