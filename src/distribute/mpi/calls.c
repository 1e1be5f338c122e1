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

static polytile_status check_level(polytile_context *ctx, const char *what) {
    int has_begun = 0, has_ended = 0, level = MPI_THREAD_SINGLE, is_main = 0;
    MPI_Initialized(&has_begun);
    MPI_Finalized(&has_ended);
    if (!has_begun || has_ended)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "MPI %s; %s over its ranks is made between MPI_Init_thread() and "
                        "MPI_Finalize()",
                        has_ended ? "is finalized" : "is not initialized", what);
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_FUNNELED)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "MPI was initialized with MPI_THREAD_SINGLE, and %s has threads of its "
                        "own: call MPI_Init_thread() with MPI_THREAD_FUNNELED or more",
                        what);
    MPI_Is_thread_main(&is_main);
    if (level == MPI_THREAD_FUNNELED && !is_main)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "MPI was initialized with MPI_THREAD_FUNNELED, and this is another thread "
                        "than the one that did: use MPI_THREAD_SERIALIZED");
    return POLYTILE_OK;
}

static polytile_status check_communicator(polytile_context *ctx, MPI_Comm comm) {
    int is_inter = 0;
    if (comm == MPI_COMM_NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "the communicator is MPI_COMM_NULL");
    if (MPI_Comm_test_inter(comm, &is_inter) != MPI_SUCCESS || is_inter)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "the communicator joins two groups; merge them (MPI_Intercomm_merge())");
    return POLYTILE_OK;
}

polytile_status pti_mpi_check_use(polytile_context *ctx, MPI_Comm comm, const char *what) {
    const polytile_status status = check_level(ctx, what);
    return status == POLYTILE_OK ? check_communicator(ctx, comm) : status;
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
