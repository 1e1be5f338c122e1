#include "distribute/mpi/calls.h"

#include "base/clock.h"

#include <string.h>
#include <time.h>

pti_mpi_text pti_mpi_text_of(int code) {
    pti_mpi_text text;
    int length = 0;
    if (MPI_Error_string(code, text.text, &length) != MPI_SUCCESS)
        length = 0;
    text.text[length] = '\0';
    return text;
}

bool pti_mpi_is_up(void) {
    int has_begun = 0, has_ended = 0;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    return has_begun && !has_ended;
}

/** The text has the call without its arguments. */
polytile_status pti_mpi_check(polytile_context *ctx, const char *call, int code) {
    if (code == MPI_SUCCESS)
        return POLYTILE_OK;
    return pti_fail(ctx, POLYTILE_DEVICE, "%.*s: %s", (int)strcspn(call, "("), call,
                    pti_mpi_text_of(code).text);
}

/** A wait polls as long as the shortest sleep: so waiting costs at most twice what it must. */
static const double busy_s = 50e-6;

static void pause_since(double begin_s) {
    if (pti_now_s() - begin_s > busy_s)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
}

static polytile_status wait_for_requests(polytile_context *ctx, MPI_Request *request) {
    polytile_status status = POLYTILE_OK;
    const double begin_s = pti_now_s();
    int is_done = 0;
    PTI_MPI_TRY(ctx, MPI_Test(request, &is_done, MPI_STATUS_IGNORE));
    while (!is_done) {
        pause_since(begin_s);
        PTI_MPI_TRY(ctx, MPI_Test(request, &is_done, MPI_STATUS_IGNORE));
    }
done:
    return status;
}

polytile_status pti_mpi_wait(polytile_context *ctx, int n_requests, MPI_Request *requests) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < n_requests; k++)
        PTI_TRY(wait_for_requests(ctx, &requests[k]));
done:
    return status;
}
