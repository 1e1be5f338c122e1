/* A column of a field sent to a neighbour and one received from it, by the library's transport and
 * by a derived datatype of MPI, in turns: mpiexec -n 2 build/bench/halo. */
#include "common/bench.h"
#include "distribute/mpi/transport_mpi.h"

#include <math.h>
#include <stdlib.h>

enum { EXTENT = 4096, N_EXCHANGES = 10, SHARED_COLUMNS = 2 };
static const char subject[] = "column halo, 4096 rows of f32";

/** Two ranks have a field each; the last two columns of the first rank's are the first two of the
 * second's. Each sends the one that is its own. */
typedef struct contest {
    int rank;
    float *field;
    polytile_context *ctx;
    pti_transport *transport;
    polytile_array *array;
    pti_transfer transfer[2];
    pti_exchange exchange;
    pti_route route;
    MPI_Datatype column;
    MPI_Request requests[2];
} contest;

/** The column that a rank sends, in both fields. */
static int64_t shared_column(int from_rank) {
    return EXTENT - SHARED_COLUMNS + from_rank;
}

/** Where a shared column is in this rank's field. */
static float *find_column(const contest *c, int from_rank) {
    return c->field + shared_column(from_rank) - c->rank * (EXTENT - SHARED_COLUMNS);
}

static void open_route(contest *c) {
    const int64_t first = c->rank * (EXTENT - SHARED_COLUMNS);
    const polytile_domain domain = {2, {{0, EXTENT - 1, 1}, {first, first + EXTENT - 1, 1}}};
    bench_require(
        polytile_array_wrap_domain(c->ctx, "field", POLYTILE_F32, &domain, c->field, &c->array),
        c->ctx);
    for (int from = 0; from < 2; from++) {
        const int64_t at = shared_column(from);
        const polytile_domain column = {2, {{0, EXTENT - 1, 1}, {at, at, 1}}};
        c->transfer[from] = (pti_transfer){.from = from, .to = 1 - from, .n_elements = EXTENT};
        pti_boxes_append(&c->transfer[from].boxes, &column);
    }
    c->exchange = (pti_exchange){2, c->transfer};
    c->route = (pti_route){.exchange = &c->exchange, .arrays = &c->array, .n_arrays = 1};
    bench_require(c->transport->functions->open_route(c->transport, &c->route), c->ctx);
}

/** The same as two persistent requests. */
static void open_requests(contest *c) {
    const int peer = 1 - c->rank;
    MPI_Type_vector(EXTENT, 1, EXTENT, MPI_FLOAT, &c->column);
    MPI_Type_commit(&c->column);
    MPI_Recv_init(find_column(c, peer), 1, c->column, peer, 0, MPI_COMM_WORLD, &c->requests[0]);
    MPI_Send_init(find_column(c, c->rank), 1, c->column, peer, 0, MPI_COMM_WORLD, &c->requests[1]);
}

static void begin(contest *c) {
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    c->field = calloc((size_t)EXTENT * EXTENT, sizeof *c->field);
    if (c->field == NULL)
        abort();
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(pti_transport_mpi_create(c->ctx, MPI_COMM_WORLD, &c->transport), c->ctx);
    open_route(c);
    open_requests(c);
}

static void end(contest *c) {
    MPI_Request_free(&c->requests[0]);
    MPI_Request_free(&c->requests[1]);
    MPI_Type_free(&c->column);
    c->transport->functions->forget_route(c->transport, &c->route);
    pti_boxes_free(&c->transfer[0].boxes);
    pti_boxes_free(&c->transfer[1].boxes);
    c->transport->functions->close(c->transport);
    polytile_context_destroy(c->ctx);
    free(c->field);
}

static void exchange_by_transport(contest *c) {
    bench_require(c->transport->functions->start(c->transport, &c->route, false), c->ctx);
    bench_require(c->transport->functions->finish(c->transport, &c->route), c->ctx);
}

static void exchange_by_datatype(contest *c) {
    MPI_Status statuses[2];
    MPI_Startall(2, c->requests);
    MPI_Waitall(2, c->requests, statuses);
}

/** A rival moves other values each time, and what arrives is looked at. */
static void set_column(contest *c, float value) {
    float *column = find_column(c, c->rank);
    for (int64_t row = 0; row < EXTENT; row++)
        column[row * EXTENT] = value + (float)(row + c->rank);
}

static void expect_column(const contest *c, float value) {
    const float *column = find_column(c, 1 - c->rank);
    for (int64_t row = 0; row < EXTENT; row++)
        if (column[row * EXTENT] != value + (float)(row + 1 - c->rank)) {
            fprintf(stderr, "halo: row %d of rank %d is wrong\n", (int)row, c->rank);
            MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
        }
}

/** The least of some: what disturbs them is not theirs. */
static double time_exchanges(contest *c, void (*exchange)(contest *), float value) {
    double least_s = INFINITY;
    set_column(c, value);
    for (int k = 0; k < N_EXCHANGES; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin_s = bench_now_s();
        exchange(c);
        least_s = fmin(least_s, bench_now_s() - begin_s);
    }
    expect_column(c, value);
    return least_s;
}

static void run(contest *c, bench_times *ours, bench_times *theirs) {
    for (int k = 0; k < BENCH_MOST_REPETITIONS; k++) {
        bench_add_time(ours, time_exchanges(c, exchange_by_transport, (float)(2 * k)));
        bench_add_time(theirs, time_exchanges(c, exchange_by_datatype, (float)(2 * k + 1)));
    }
}

static void report(bench *b, const bench_times *ours, const bench_times *theirs) {
    const double ours_us = bench_median(ours) * 1e6, theirs_us = bench_median(theirs) * 1e6;
    const bench_figure figures[] = {
        {subject, "transport_us", ours_us, BENCH_NO_TARGET, 0},
        {subject, "datatype_us", theirs_us, BENCH_NO_TARGET, 0},
        {subject, "times_faster", theirs_us / ours_us, BENCH_AT_LEAST, 2.5},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

/** Rank 0 reports; what the other prints goes nowhere. */
static bool begin_report(bench *b, int rank, int argc, char **argv) {
    if (rank != 0 && freopen("/dev/null", "w", stdout) == NULL)
        return false;
    return bench_begin(b, "halo", rank == 0 ? argc : 1, argv);
}

int main(int argc, char **argv) {
    static bench_times ours, theirs;
    contest c = {0};
    bench b;
    int level, n_ranks;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &n_ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &c.rank);
    if (n_ranks != 2 || !begin_report(&b, c.rank, argc, argv)) {
        fprintf(stderr, "usage: mpiexec -n 2 halo [--json FILE]\n");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    }
    begin(&c);
    run(&c, &ours, &theirs);
    report(&b, &ours, &theirs);
    end(&c);
    MPI_Finalize();
    return bench_end(&b);
}
