/* MPI's functions, and memcpy(), in front of the real ones, as far as frames go through them. */
#include "mpi/rated_links.h"
#include "common/bench.h"

#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

enum { MOST_UNDER_WAY = 64 };

/** A message that is done at a moment; NULL: none. */
typedef struct timed_message {
    const MPI_Request *request;
    double end_s;
} timed_message;

static rated_links rates;
static pthread_t program;
static timed_message under_way[MOST_UNDER_WAY];

void rated_links_set(const rated_links *set) {
    program = pthread_self();
    rates = *set;
}

static timed_message *find_message(const MPI_Request *request) {
    for (int k = 0; k < MOST_UNDER_WAY; k++)
        if (under_way[k].request == request)
            return &under_way[k];
    return NULL;
}

/** A message whose place is taken is as fast as it goes. */
static void note_message(int n, MPI_Datatype type, const MPI_Request *request) {
    timed_message *place = find_message(NULL);
    int n_bytes;
    PMPI_Type_size(type, &n_bytes);
    if (place != NULL && rates.rank_bytes_per_s > 0 && (int64_t)n * n_bytes == rates.frame_bytes)
        *place = (timed_message){request, bench_now_s() +
                                              (double)rates.frame_bytes / rates.rank_bytes_per_s};
}

int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    note_message(n, type, request);
    return PMPI_Isend(bytes, n, type, to, tag, comm, request);
}

int MPI_Irecv(void *bytes, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request *request) {
    note_message(n, type, request);
    return PMPI_Irecv(bytes, n, type, from, tag, comm, request);
}

int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status) {
    timed_message *message = find_message(request);
    *is_done = 0;
    if (message != NULL && bench_now_s() < message->end_s)
        return MPI_SUCCESS;
    const int code = PMPI_Test(request, is_done, status);
    if (message != NULL && *is_done)
        message->request = NULL;
    return code;
}

static void sleep_for(double seconds) {
    const time_t whole = (time_t)seconds;
    const struct timespec time = {whole, (long)(1e9 * (seconds - (double)whole))};
    nanosleep(&time, NULL);
}

/* The linker's option --wrap=memcpy has these names. */
void *__real_memcpy(void *restrict to, const void *restrict from, size_t n);
void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t n);

void *__wrap_memcpy(void *restrict to, const void *restrict from, size_t n) {
    const bool is_rated = rates.device_bytes_per_s > 0 && (int64_t)n == rates.frame_bytes &&
                          !pthread_equal(pthread_self(), program);
    const double begin_s = is_rated ? bench_now_s() : 0;
    __real_memcpy(to, from, n);
    if (is_rated)
        sleep_for(begin_s + (double)n / rates.device_bytes_per_s - bench_now_s());
    return to;
}
