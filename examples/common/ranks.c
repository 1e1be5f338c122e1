/* Ranks of MPI. */
#include "ranks.h"

#include <polytile/mpi.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set for the processes that ranks_restart() starts: they are ranks, and start no others. */
static const char restarted[] = "EXAMPLE_RANKS";

/** Return whether mpiexec started this: it sets a variable of MPICH and its kin, PMIx or Open
 * MPI. */
static bool is_in_job(void) {
    static const char *const variables[] = {restarted, "PMI_RANK", "PMIX_RANK",
                                            "OMPI_COMM_WORLD_RANK"};
    for (size_t v = 0; v < sizeof variables / sizeof *variables; ++v)
        if (getenv(variables[v]) != NULL)
            return true;
    return false;
}

static void find_out_who_is_here(ranks *r) {
    MPI_Comm machine;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, &r->n_here);
    MPI_Comm_rank(machine, &r->here);
    MPI_Comm_free(&machine);
}

/** Not all ranks have come to MPI_Init(): one may run another program, which never will. */
static void say_that_others_are_missing(int number) {
    static const char text[] =
        "still waiting for all ranks to start; does each run this program?\n";
    ssize_t n_written = write(STDERR_FILENO, text, sizeof text - 1);
    (void)number, (void)n_written;
}

static void initialize(void) {
    const unsigned patience_s = 10;
    int level;
    signal(SIGALRM, say_that_others_are_missing);
    alarm(patience_s);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    alarm(0);
    signal(SIGALRM, SIG_DFL);
}

void ranks_join(ranks *r) {
    *r = (ranks){.n = 1, .n_here = 1, .is_job = is_in_job()};
    if (!r->is_job)
        return;
    initialize();
    MPI_Comm_size(MPI_COMM_WORLD, &r->n);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    find_out_who_is_here(r);
}

void ranks_leave(const ranks *r) {
    if (r->is_job)
        MPI_Finalize();
}

/** Open MPI, 4 and 5, else refuses more ranks than cores. */
static void allow_many_ranks(void) {
    setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", 0);
    setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe", 0);
}

/** Find the mpiexec of the MPI that this program is linked with, if it is still there. */
static const char *find_mpiexec(void) {
    return access(EXAMPLE_MPIEXEC, X_OK) == 0 ? EXAMPLE_MPIEXEC : "mpiexec";
}

static int count_arguments(char **argv) {
    int n = 0;
    while (argv[n] != NULL)
        ++n;
    return n;
}

const char *ranks_restart(int64_t n, char **argv) {
    enum { N_BEFORE = 4 };
    static char program[4096];
    char number[24];
    int n_arguments = count_arguments(argv);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char **arguments = calloc((size_t)(N_BEFORE + n_arguments), sizeof *arguments);
    if (length < 0 || arguments == NULL)
        return strerror(errno);
    program[length] = '\0';
    snprintf(number, sizeof number, "%lld", (long long)n);
    const char *const before[N_BEFORE] = {find_mpiexec(), EXAMPLE_MPIEXEC_FLAG, number, program};
    memcpy(arguments, before, sizeof before);
    memcpy(arguments + N_BEFORE, argv + 1, (size_t)n_arguments * sizeof *argv);
    setenv(restarted, number, 1);
    allow_many_ranks();
    execvp(arguments[0], arguments);
    free(arguments);
    return "mpiexec does not start; is it in PATH?";
}

/** Wait for a request, with sleeps between looks: there may be more ranks than cores. */
static void wait_for(MPI_Request *request) {
    const useconds_t nap_us = 50;
    int is_done = 0;
    for (MPI_Test(request, &is_done, MPI_STATUS_IGNORE); !is_done;
         MPI_Test(request, &is_done, MPI_STATUS_IGNORE))
        usleep(nap_us);
}

static void reduce(void *values, int n, MPI_Datatype type, MPI_Op op) {
    MPI_Request request;
    MPI_Iallreduce(MPI_IN_PLACE, values, n, type, op, MPI_COMM_WORLD, &request);
    wait_for(&request);
}

int ranks_agree(const ranks *r, int *status, char *text, int text_bytes) {
    int first = *status == 0 ? r->n : r->rank;
    if (r->n > 1)
        reduce(&first, 1, MPI_INT, MPI_MIN);
    if (first == r->n)
        return -1;
    if (r->n > 1) {
        MPI_Bcast(status, 1, MPI_INT, first, MPI_COMM_WORLD);
        MPI_Bcast(text, text_bytes, MPI_CHAR, first, MPI_COMM_WORLD);
    }
    return first;
}

int ranks_find_stranger(const ranks *r, uint64_t number) {
    uint64_t of_first = number;
    int stranger = r->n;
    if (r->n > 1) {
        MPI_Bcast(&of_first, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        stranger = number == of_first ? r->n : r->rank;
        reduce(&stranger, 1, MPI_INT, MPI_MIN);
    }
    return stranger == r->n ? -1 : stranger;
}

void ranks_tell(const ranks *r, int from, char *bytes, int n_bytes) {
    if (r->n > 1)
        MPI_Bcast(bytes, n_bytes, MPI_CHAR, from, MPI_COMM_WORLD);
}

double ranks_largest(const ranks *r, double number) {
    if (r->n > 1)
        reduce(&number, 1, MPI_DOUBLE, MPI_MAX);
    return number;
}

void ranks_add(const ranks *r, int n, double *numbers) {
    if (r->n > 1)
        reduce(numbers, n, MPI_DOUBLE, MPI_SUM);
}

polytile_status ranks_create_queue(polytile_context *ctx, const char *device_text,
                                   const char *policy, polytile_queue **queue) {
    const polytile_share_options options = {.policy = policy};
    return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device_text, &options, queue);
}
