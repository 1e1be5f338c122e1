#include "distribute/mpi/faults/failing_mpi.h"

#include <mpi.h>

#include <set>

namespace {

/** Who makes a call, and what one that fails leaves undone. */
enum Sort {
    LOCAL,      /* one rank: all */
    TALKS,      /* one rank: nothing, since others wait for it; or all */
    TOGETHER,   /* all ranks: all */
    GIVES_BACK, /* one or all: nothing */
};

int64_t n_left, n_left_together;
bool loses; /* calls that communicate leave all undone, too */
std::string failed;
std::set<MPI_Request> moves; /* sends and receives that have not been found done */

bool is_due(Sort sort, const char *name) {
    const bool alone = n_left > 0 && sort != TOGETHER && --n_left == 0;
    const bool together = n_left_together > 0 && sort == TOGETHER && --n_left_together == 0;
    if (alone || together)
        failed = name;
    return alone || together;
}

template <class Function, class... Arguments>
int call(Sort sort, const char *name, Function *function, Arguments... arguments) {
    const bool fails = is_due(sort, name);
    const bool works = !fails || sort == GIVES_BACK || (sort == TALKS && !loses);
    const int code = works ? function(arguments...) : MPI_SUCCESS;
    return fails ? MPI_ERR_OTHER : code;
}

} // namespace

void mpi_fail_alone(int64_t n) {
    n_left = n;
    loses = false;
    failed.clear();
}

void mpi_lose_alone(int64_t n) {
    mpi_fail_alone(n);
    loses = true;
}

void mpi_fail_together(int64_t n) {
    n_left_together = n;
    failed.clear();
}

const char *mpi_get_failed() {
    return failed.c_str();
}

std::string mpi_stop_failing() {
    n_left = n_left_together = 0;
    return failed;
}

static bool is_alone_in_the_world() {
    int n_ranks = 0;
    PMPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    return n_ranks == 1;
}

/** Looks that find nothing done do not count, since it depends on time how many there are; nor does
 * any where others wait for what is agreed on by the call that it ends: of several ranks those of
 * sends and receives alone count. */
extern "C" int MPI_Test(MPI_Request *request, int *is_done, MPI_Status *status) {
    const MPI_Request tested = *request;
    int code = loses ? PMPI_Request_get_status(tested, is_done, MPI_STATUS_IGNORE)
                     : PMPI_Test(request, is_done, status);
    const bool counts =
        code == MPI_SUCCESS && *is_done && (moves.erase(tested) > 0 || is_alone_in_the_world());
    if (counts && is_due(TALKS, "MPI_Test"))
        code = MPI_ERR_OTHER;
    else if (loses && code == MPI_SUCCESS && *is_done)
        code = PMPI_Test(request, is_done, status);
    return code;
}

/** Begin to send or receive. A request that is not begun stays as it was. */
template <class Function, class... Arguments>
static int begin(const char *name, Function *function, MPI_Request *request,
                 Arguments... arguments) {
    const int code = call(TALKS, name, function, arguments..., request);
    if (code == MPI_SUCCESS || !loses)
        moves.insert(*request);
    return code;
}

extern "C" int MPI_Isend(const void *bytes, int n, MPI_Datatype type, int to, int tag,
                         MPI_Comm comm, MPI_Request *request) {
    return begin("MPI_Isend", PMPI_Isend, request, bytes, n, type, to, tag, comm);
}

extern "C" int MPI_Irecv(void *bytes, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request *request) {
    return begin("MPI_Irecv", PMPI_Irecv, request, bytes, n, type, from, tag, comm);
}

/** As with tests of what is done, looks that find nothing do not count. One that fails takes
 * nothing. */
extern "C" int MPI_Improbe(int from, int tag, MPI_Comm comm, int *has_come, MPI_Message *message,
                           MPI_Status *status) {
    int code = PMPI_Iprobe(from, tag, comm, has_come, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS || !*has_come)
        return code;
    *has_come = 0;
    return is_due(LOCAL, "MPI_Improbe") ? MPI_ERR_OTHER
                                        : PMPI_Improbe(from, tag, comm, has_come, message, status);
}

extern "C" int MPI_Issend(const void *bytes, int n, MPI_Datatype type, int to, int tag,
                          MPI_Comm comm, MPI_Request *request) {
    return begin("MPI_Issend", PMPI_Issend, request, bytes, n, type, to, tag, comm);
}

#define CALL(sort, name, parameters, ...)                                                          \
    int name parameters {                                                                          \
        return call(sort, #name, P##name, __VA_ARGS__);                                            \
    }

extern "C" {
CALL(TOGETHER, MPI_Iallreduce,
     (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
      MPI_Request *request),
     from, to, n, type, op, comm, request)
CALL(TOGETHER, MPI_Ibcast,
     (void *bytes, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request *request), bytes,
     n, type, root, comm, request)
CALL(TOGETHER, MPI_Iallgather,
     (const void *from, int n, MPI_Datatype type, void *to, int n_to, MPI_Datatype to_type,
      MPI_Comm comm, MPI_Request *request),
     from, n, type, to, n_to, to_type, comm, request)
CALL(TOGETHER, MPI_Iallgatherv,
     (const void *from, int n, MPI_Datatype type, void *to, const int *counts, const int *places,
      MPI_Datatype to_type, MPI_Comm comm, MPI_Request *request),
     from, n, type, to, counts, places, to_type, comm, request)
CALL(TOGETHER, MPI_Ialltoallv,
     (const void *from, const int *counts, const int *places, MPI_Datatype type, void *to,
      const int *to_counts, const int *to_places, MPI_Datatype to_type, MPI_Comm comm,
      MPI_Request *request),
     from, counts, places, type, to, to_counts, to_places, to_type, comm, request)
CALL(LOCAL, MPI_Send_init,
     (const void *bytes, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
      MPI_Request *request),
     bytes, n, type, to, tag, comm, request)
CALL(LOCAL, MPI_Recv_init,
     (void *bytes, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
      MPI_Request *request),
     bytes, n, type, from, tag, comm, request)
CALL(TALKS, MPI_Startall, (int n, MPI_Request *requests), n, requests)
CALL(TALKS, MPI_Mrecv,
     (void *bytes, int n, MPI_Datatype type, MPI_Message *message, MPI_Status *status), bytes, n,
     type, message, status)
CALL(LOCAL, MPI_Get_count, (const MPI_Status *status, MPI_Datatype type, int *n), status, type, n)
CALL(GIVES_BACK, MPI_Request_free, (MPI_Request * request), request)
CALL(GIVES_BACK, MPI_Type_free, (MPI_Datatype * type), type)
CALL(GIVES_BACK, MPI_Comm_free, (MPI_Comm * comm), comm)
CALL(LOCAL, MPI_Type_create_hindexed,
     (int n, const int *lengths, const MPI_Aint *places, MPI_Datatype type, MPI_Datatype *made), n,
     lengths, places, type, made)
CALL(LOCAL, MPI_Type_commit, (MPI_Datatype * type), type)
CALL(LOCAL, MPI_Comm_rank, (MPI_Comm comm, int *rank), comm, rank)
CALL(LOCAL, MPI_Comm_size, (MPI_Comm comm, int *size), comm, size)
CALL(LOCAL, MPI_Comm_test_inter, (MPI_Comm comm, int *is_inter), comm, is_inter)
CALL(LOCAL, MPI_Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), comm, handler)
CALL(LOCAL, MPI_Query_thread, (int *level), level)
CALL(LOCAL, MPI_Is_thread_main, (int *is_main), is_main)
CALL(TOGETHER, MPI_Win_allocate_shared,
     (MPI_Aint n_bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
     n_bytes, unit, info, comm, memory, window)
CALL(LOCAL, MPI_Win_shared_query,
     (MPI_Win window, int rank, MPI_Aint *n_bytes, int *unit, void *memory), window, rank, n_bytes,
     unit, memory)
CALL(LOCAL, MPI_Win_set_errhandler, (MPI_Win window, MPI_Errhandler handler), window, handler)
CALL(LOCAL, MPI_Win_lock_all, (int assertion, MPI_Win window), assertion, window)
CALL(LOCAL, MPI_Win_flush, (int rank, MPI_Win window), rank, window)
CALL(LOCAL, MPI_Fetch_and_op,
     (const void *from, void *to, MPI_Datatype type, int rank, MPI_Aint place, MPI_Op op,
      MPI_Win window),
     from, to, type, rank, place, op, window)
CALL(TOGETHER, MPI_Win_allocate,
     (MPI_Aint n_bytes, int unit, MPI_Info info, MPI_Comm comm, void *memory, MPI_Win *window),
     n_bytes, unit, info, comm, memory, window)
CALL(TOGETHER, MPI_Comm_dup, (MPI_Comm comm, MPI_Comm *made), comm, made)
CALL(TOGETHER, MPI_Comm_split_type,
     (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), comm, type, key, info, made)
CALL(TOGETHER, MPI_File_open,
     (MPI_Comm comm, const char *path, int mode, MPI_Info info, MPI_File *file), comm, path, mode,
     info, file)
CALL(TOGETHER, MPI_File_set_view,
     (MPI_File file, MPI_Offset offset, MPI_Datatype type, MPI_Datatype file_type, const char *how,
      MPI_Info info),
     file, offset, type, file_type, how, info)
CALL(TOGETHER, MPI_File_read_at_all,
     (MPI_File file, MPI_Offset offset, void *bytes, int n, MPI_Datatype type, MPI_Status *status),
     file, offset, bytes, n, type, status)
CALL(TOGETHER, MPI_File_write_at_all,
     (MPI_File file, MPI_Offset offset, const void *bytes, int n, MPI_Datatype type,
      MPI_Status *status),
     file, offset, bytes, n, type, status)
CALL(GIVES_BACK, MPI_File_close, (MPI_File * file), file)
}
