/* A column of a field sent to a neighbour and one received from it, by the library's transport and
 * by a derived datatype of MPI, in turns: mpiexec -n 2 build/bench/halo. */
#include "distribute/exchange/joint_plan.h"
#include "distribute/mpi/array_open.h"
#include "mpi/common/ranks.h"

#include <math.h>
#include <polytile/mpi.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT = 4096, N_EXCHANGES = 10 };

/** Two ranks have a field each, that share two columns; each rank sends the one that is its own. */
typedef struct contest {
    const char *subject;
    polytile_context *ctx;
    pti_transport *transport;
    int rank;
    int64_t shared_column[2]; /* by the rank that sends it */
    polytile_array *array;
    float *memory; /* of the program's; NULL: the array is of a queue */
    pti_joint_list list;
    pti_messages messages;
    MPI_Datatype column;
    MPI_Request requests[2];
    bench_times ours;
    bench_times theirs;
} contest;

static int64_t pitch(const contest *c) {
    const polytile_range columns = c->array->domain.range[1];
    return columns.hi - columns.lo + 1;
}

/** Where a shared column is in this rank's field. */
static float *find_column(const contest *c, int from_rank) {
    return (float *)c->array->data + c->shared_column[from_rank] - c->array->domain.range[1].lo;
}

/** As programs have them that cut a field into squares: each row begins a multiple of 16 KiB after
 * the one before, and so all rows' elements of a column share the same few lines of the caches. */
static void wrap_square(contest *c) {
    const int64_t first = c->rank * (EXTENT - 2);
    const polytile_domain domain = {2, {{0, EXTENT - 1, 1}, {first, first + EXTENT - 1, 1}}};
    c->subject = "column halo, 4096 rows of 4096 f32";
    c->shared_column[0] = EXTENT - 2;
    c->shared_column[1] = EXTENT - 1;
    c->memory = calloc((size_t)EXTENT * EXTENT, sizeof *c->memory);
    if (c->memory == NULL)
        abort();
    bench_require(
        polytile_array_wrap_domain(c->ctx, "field", POLYTILE_F32, &domain, c->memory, &c->array),
        c->ctx);
}

/** As a queue has them, with room for borders. */
static void create_spread(contest *c) {
    const polytile_share_options options = {.layout = "block(dim=1)"};
    const int64_t extents[] = {EXTENT, 2 * EXTENT};
    polytile_queue *queue;
    polytile_array *field;
    c->subject = "column halo, 4096 rows of a queue's array";
    c->shared_column[0] = EXTENT - 1;
    c->shared_column[1] = EXTENT;
    bench_require(
        polytile_mpi_queue_create(c->ctx, MPI_COMM_WORLD, "host(threads=1)", &options, &queue),
        c->ctx);
    bench_require(polytile_mpi_array_create(queue, "field", POLYTILE_F32, 2, extents, NULL, &field),
                  c->ctx);
    c->array = pti_group_find(pti_group_of(queue), field)->member[0];
    memset(c->array->data, 0, (size_t)c->array->n_bytes);
}

static void open_route(contest *c) {
    pti_transfer transfer[2];
    pti_exchange exchange = {2, transfer};
    for (int from = 0; from < 2; from++) {
        const int64_t at = c->shared_column[from];
        const polytile_domain column = {2, {{0, EXTENT - 1, 1}, {at, at, 1}}};
        transfer[from] = (pti_transfer){.from = from, .to = 1 - from, .n_elements = EXTENT};
        pti_boxes_append(&transfer[from].boxes, &column);
    }
    if (!pti_joint_plan_messages(&exchange, c->rank, 1, &c->list))
        abort();
    pti_boxes_free(&transfer[0].boxes);
    pti_boxes_free(&transfer[1].boxes);
    c->messages = (pti_messages){.list = &c->list, .arrays = &c->array};
    bench_require(c->transport->functions->open(c->transport, &c->messages), c->ctx);
}

/** The same as two persistent requests. */
static void open_requests(contest *c) {
    const int peer = 1 - c->rank;
    MPI_Type_vector(EXTENT, 1, (int)pitch(c), MPI_FLOAT, &c->column);
    MPI_Type_commit(&c->column);
    MPI_Recv_init(find_column(c, peer), 1, c->column, peer, 0, MPI_COMM_WORLD, &c->requests[0]);
    MPI_Send_init(find_column(c, c->rank), 1, c->column, peer, 0, MPI_COMM_WORLD, &c->requests[1]);
}

static void begin(contest *c, void (*make_array)(contest *)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
    bench_require(polytile_context_create(&c->ctx), NULL);
    bench_require(pti_transport_mpi_create(c->ctx, MPI_COMM_WORLD, 1, &c->transport), c->ctx);
    make_array(c);
    open_route(c);
    open_requests(c);
}

static void end(contest *c) {
    MPI_Request_free(&c->requests[0]);
    MPI_Request_free(&c->requests[1]);
    MPI_Type_free(&c->column);
    c->transport->functions->forget(c->transport, &c->messages);
    pti_joint_list_free(&c->list);
    c->transport->functions->close(c->transport);
    polytile_context_destroy(c->ctx);
    free(c->memory);
}

static void exchange_by_transport(contest *c) {
    const pti_transport_functions *functions = c->transport->functions;
    bench_require(functions->send(c->transport, &c->messages, 0, false), c->ctx);
    bench_require(functions->receive(c->transport, &c->messages, 1, false), c->ctx);
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
        column[row * pitch(c)] = value + (float)(row + c->rank);
}

static void expect_column(const contest *c, float value) {
    const float *column = find_column(c, 1 - c->rank);
    for (int64_t row = 0; row < EXTENT; row++)
        if (column[row * pitch(c)] != value + (float)(row + 1 - c->rank)) {
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

static void run(contest *c) {
    for (int k = 0; k < BENCH_MOST_REPETITIONS; k++) {
        bench_add_time(&c->ours, time_exchanges(c, exchange_by_transport, (float)(2 * k)));
        bench_add_time(&c->theirs, time_exchanges(c, exchange_by_datatype, (float)(2 * k + 1)));
    }
}

static void report(bench *b, const contest *c) {
    const double ours_us = bench_median(&c->ours) * 1e6;
    const double theirs_us = bench_median(&c->theirs) * 1e6;
    const bench_figure figures[] = {
        {c->subject, "transport_us", ours_us, BENCH_NO_TARGET, 0},
        {c->subject, "datatype_us", theirs_us, BENCH_NO_TARGET, 0},
        {c->subject, "times_faster", theirs_us / ours_us, BENCH_AT_LEAST, 2.5},
    };
    for (size_t f = 0; f < sizeof figures / sizeof *figures; f++)
        bench_report(b, &figures[f]);
}

static void compete(bench *b, void (*make_array)(contest *)) {
    contest c = {0};
    begin(&c, make_array);
    run(&c);
    report(b, &c);
    end(&c);
}

int main(int argc, char **argv) {
    bench b;
    bench_begin_ranks(&b, "halo", 2, "", argc, argv);
    compete(&b, create_spread);
    compete(&b, wrap_square);
    return bench_end_ranks(&b);
}
