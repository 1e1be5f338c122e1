#include "distribute/mpi/calls.h"

#include <string.h>
#include <time.h>

/** Without the arguments of the call. */
polytile_status pti_mpi_check(polytile_context *ctx, const char *call, int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (code == MPI_SUCCESS)
        return POLYTILE_OK;
    if (MPI_Error_string(code, text, &length) != MPI_SUCCESS)
        length = 0;
    return pti_fail(ctx, POLYTILE_DEVICE, "%.*s: %.*s", (int)strcspn(call, "("), call, length,
                    text);
}

/** What arrives within some microseconds is found at once; what takes longer is looked for about
 * every 50 us, the time that the shortest sleep takes. */
static void pause_between(int n_looks) {
    enum { BUSY_LOOKS = 100 };
    if (n_looks > BUSY_LOOKS)
        nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
}

static polytile_status wait_for(polytile_context *ctx, MPI_Request *request) {
    polytile_status status = POLYTILE_OK;
    int is_done = 0;
    for (int n_looks = 0; !is_done; n_looks++) {
        pause_between(n_looks);
        PTI_MPI_TRY(ctx, MPI_Test(request, &is_done, MPI_STATUS_IGNORE));
    }
done:
    return status;
}

polytile_status pti_mpi_wait(polytile_context *ctx, int n_requests, MPI_Request *requests) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < n_requests; k++)
        PTI_TRY(wait_for(ctx, &requests[k]));
done:
    return status;
}
