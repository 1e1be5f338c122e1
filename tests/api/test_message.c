#include <polytile/message.h>
#include <polytile/polytile.h>

#include "support/c_test.h"

#include <stdio.h>
#include <string.h>

/* Each slot has a row of COLUMNS whole numbers, which begins with its rank in all places. */
enum { COLUMNS = 4096, MOST_SLOTS = 9 };

/* What devices run a case, and with how many slots. */
static const struct {
    const char *device;
    int n_slots;
} runs[] = {{"host", 1},
            {"host", 2},
            {"host(threads=1)", 5},
            {"host(threads=2)", 9},
            {"host(memory=1MiB)", 4},
            {"host(memory=1MiB,threads=1)", 7}};

typedef struct scene {
    int32_t row[MOST_SLOTS][COLUMNS];
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_domain slots;
} scene;

static scene *set(polytile_context *ctx, int n_slots, const char *declaration,
                  const polytile_implementation *implementation) {
    static scene s;
    for (int rank = 0; rank < n_slots; rank++)
        for (int k = 0; k < COLUMNS; k++)
            s.row[rank][k] = rank;
    s.slots = *POLYTILE_EXTENTS(n_slots);
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, (int64_t[]){n_slots, COLUMNS}, s.row,
                                 &s.array));
    CHECK_OK(polytile_kernel_create(ctx, declaration, implementation, &s.kernel));
    return &s;
}

static polytile_status run(polytile_context *ctx, const char *device_text, scene *s,
                           const polytile_launch_options *options) {
    polytile_device *device;
    if (!CHECK_OK(polytile_device_open(ctx, device_text, &device)))
        return POLYTILE_INTERNAL;
    return polytile_run(device, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), options);
}

#define ROW_BYTES ((int64_t)(COLUMNS * sizeof(int32_t)))

POLYTILE_TEAM_KERNEL(rotate, (s), (int32_t, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks();
    const int left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    pt_status status;
    for (int step = 0; step < 3; step++) {
        if (pt_sendrecv_replace(&PT_AT(A, s, 0), ROW_BYTES, right, left, step, &status))
            return;
        for (int k = PT_LANE; k < COLUMNS; k += PT_LANES)
            PT_AT(A, s, k) += status.source == left && status.n_bytes == ROW_BYTES;
    }
}

TEST_TABLE(ApiMessage, SlotsExchangeWhatTheyHave, runs) {
    scene *s = set(ctx, row->n_slots, "rotate[s]: inout A[s, :]", &rotate_kernel);
    CHECK_OK(run(ctx, row->device, s, NULL));
    for (int rank = 0; rank < row->n_slots; rank++) {
        CHECK_EQUAL(s->row[rank][0], (rank + 3 * row->n_slots - 3) % row->n_slots + 3);
        CHECK_EQUAL(s->row[rank][COLUMNS - 1], s->row[rank][0]);
    }
}

/* Slot 0 gets a short and a long message of everybody, in any order among the senders. */
POLYTILE_TEAM_KERNEL(collect, (s), (int32_t, A, 2)) {
    pt_status status;
    int32_t sum = 0;
    if (pt_rank() > 0) {
        PT_AT(A, s, 1) = 100 + pt_rank();
        if (pt_send(&PT_AT(A, s, 0), 8, 0, 1) || pt_send(&PT_AT(A, s, 1), ROW_BYTES - 400, 0, 2))
            return;
    }
    for (int k = 1; pt_rank() == 0 && k < pt_ranks(); k++) {
        if (pt_recv(&PT_AT(A, s, 10), 8, PT_ANY, 1, &status))
            return;
        sum += PT_AT(A, s, 10) == status.source && status.tag == 1 && status.n_bytes == 8;
        if (pt_recv(&PT_AT(A, s, 10), ROW_BYTES - 400, status.source, PT_ANY, &status))
            return;
    }
    if (PT_LANE == 0 && pt_rank() == 0)
        PT_AT(A, s, 0) = sum;
}

POLYTILE_TEAM_KERNEL(overlap, (s), (int32_t, A, 2)) {
    const int other = pt_ranks() - 1 - pt_rank();
    pt_request request[3];
    pt_status status;
    int is_done = 0;
    PT_AT(A, s, 0) = 7 * pt_rank();
    if (pt_irecv(&PT_AT(A, s, 100), 4, other, 5, &request[0]) ||
        pt_irecv(&PT_AT(A, s, 200), 4 * 2000, other, PT_ANY, &request[1]) ||
        pt_isend(&PT_AT(A, s, 0), 4, other, 5, &request[2]))
        return;
    while (!is_done)
        if (pt_test(&request[0], &is_done, &status))
            return;
    if (pt_wait(&request[2], NULL) ||
        pt_isend(&PT_AT(A, s, 2200), 4 * 1800, other, 9, &request[2]) ||
        pt_wait(&request[1], &status) || pt_wait(&request[2], NULL) || pt_wait(&request[2], NULL))
        return;
    PT_AT(A, s, 1) = status.tag;
    PT_AT(A, s, 2) = (int32_t)status.n_bytes;
}

TEST_TABLE(ApiMessage, RequestsAreUnderWayTogether, runs) {
    scene *s = set(ctx, row->n_slots, "overlap[s]: inout A[s, :]", &overlap_kernel);
    CHECK_OK(run(ctx, row->device, s, NULL));
    for (int rank = 0; rank < row->n_slots; rank++) {
        const int other = row->n_slots - 1 - rank;
        CHECK_EQUAL(s->row[rank][100], 7 * other);
        CHECK_EQUAL(s->row[rank][200], other);
        CHECK_EQUAL(s->row[rank][1999], other);
        CHECK_EQUAL(s->row[rank][1], 9);
        CHECK_EQUAL(s->row[rank][2], 4 * 1800);
    }
}

/* Each slot puts its rank into a place of its right one, round after round. */
POLYTILE_TEAM_KERNEL(put, (s), (int32_t, A, 2)) {
    const int right = (pt_rank() + 1) % pt_ranks(),
              left = (pt_rank() + pt_ranks() - 1) % pt_ranks();
    int32_t sum = 0;
    for (int round = 1; round <= 10; round++) {
        PT_AT(A, s, 0) = 10 * round + pt_rank();
        PT_TEAM_SYNC;
        if (pt_put(right, A, (right, 50), &PT_AT(A, s, 0), 4) || pt_signal(right, 3) ||
            pt_wait_signal(3, round))
            return;
        sum += PT_AT(A, s, 50) == 10 * round + left;
        if (pt_signal(left, 4) || pt_wait_signal(4, round) || pt_barrier())
            return;
    }
    PT_AT(A, s, 1) = sum;
}

TEST_TABLE(ApiMessage, PutsAreThereOnceTheSignalIs, runs) {
    scene *s = set(ctx, row->n_slots, "put[s]: inout A[s, :]", &put_kernel);
    CHECK_OK(run(ctx, row->device, s, NULL));
    for (int rank = 0; rank < row->n_slots; rank++)
        CHECK_EQUAL(s->row[rank][1], 10);
}

TEST_TABLE(ApiMessage, AnybodyIsReceivedOnceAndInOrder, runs) {
    scene *s = set(ctx, row->n_slots, "collect[s]: inout A[s, :]", &collect_kernel);
    CHECK_OK(run(ctx, row->device, s, NULL));
    CHECK_EQUAL(s->row[0][0], row->n_slots - 1);
}

/* The root's first numbers go to all; sums and greatest numbers come to it; each slot gathers from
 * all what all scatter. */
POLYTILE_TEAM_KERNEL(together, (s), (int32_t, root), (int32_t, A, 2)) {
    if (pt_bcast(&PT_AT(A, s, 0), 4 * 1500, root))
        return;
    for (int k = PT_LANE; k < 1500; k += PT_LANES)
        PT_AT(A, s, k) += pt_rank() + k;
    if (pt_reduce(&PT_AT(A, s, 0), &PT_AT(A, s, 2000), 1500, POLYTILE_SUM, root) ||
        pt_reduce(&PT_AT(A, s, 0), &PT_AT(A, s, 0), 10, POLYTILE_MAX, root) ||
        pt_gather(&PT_AT(A, s, 20), 4, &PT_AT(A, s, 3600), root) ||
        pt_scatter(&PT_AT(A, s, 2000), 8, &PT_AT(A, s, 3700), root))
        return;
    for (int k = PT_LANE; k < pt_ranks(); k += PT_LANES)
        PT_AT(A, s, 3800 + k) = 100 * pt_rank() + k;
    if (pt_barrier() || pt_alltoall(&PT_AT(A, s, 3800), 4, &PT_AT(A, s, 3900)))
        return;
}

static void check_together(const scene *s, int n, int root) {
    CHECK_EQUAL(s->row[root][0], root + n - 1);
    for (int k = 10; k < 1500; k++)
        if (!CHECK_EQUAL(s->row[root][2000 + k], n * (root + k) + n * (n - 1) / 2))
            return;
    for (int rank = 0; rank < n; rank++) {
        CHECK_EQUAL(s->row[root][3600 + rank], root + 20 + rank);
        CHECK_EQUAL(s->row[rank][3701], s->row[root][2000 + 2 * rank + 1]);
        for (int k = 0; k < n; k++)
            CHECK_EQUAL(s->row[rank][3900 + k], 100 * k + rank);
    }
}

TEST_TABLE(ApiMessage, AllSlotsWorkTogether, runs) {
    for (int root = 0; root < row->n_slots; root += 3) {
        scene *s = set(ctx, row->n_slots, "together[s](i32 root): inout A[s, :]", &together_kernel);
        CHECK_OK(run(ctx, row->device, s, POLYTILE_PARAMETERS(POLYTILE_PARAMETER("root", root))));
        check_together(s, row->n_slots, root);
    }
}

/* Sums of numbers that cannot be exact are the same bits on every run. */
POLYTILE_TEAM_KERNEL(fractions, (s), (double, A, 2)) {
    pt_reduce(&PT_AT(A, s, 0), &PT_AT(A, s, 1), 1, POLYTILE_SUM, 0);
}

TEST_CASE(ApiMessage, ReductionsAreTheSameBitsOnEveryRun) {
    double first = 0;
    for (int repeat = 0; repeat < 5; repeat++) {
        double data[7][2];
        polytile_array *array;
        polytile_kernel *kernel;
        polytile_device *device;
        for (int k = 0; k < 7; k++)
            data[k][0] = 1.0 / (3 + k);
        CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_F64, 2, (int64_t[]){7, 2}, data, &array));
        CHECK_OK(
            polytile_kernel_create(ctx, "fractions[s]: inout A[s, :]", &fractions_kernel, &kernel));
        CHECK_OK(polytile_device_open(ctx, "host", &device));
        CHECK_OK(polytile_run(device, kernel, POLYTILE_EXTENTS(7), POLYTILE_ARRAYS(array), NULL));
        first = repeat == 0 ? data[0][1] : first;
        CHECK(data[0][1] == first);
        CHECK_NEAR(data[0][1], 1.0 / 3 + 1.0 / 4 + 1.0 / 5 + 1.0 / 6 + 1.0 / 7 + 1.0 / 8 + 1.0 / 9,
                   1e-12);
    }
}

/* The program answers each slot's number, until a negative one. */
POLYTILE_TEAM_KERNEL(ask, (s), (int32_t, A, 2)) {
    for (int k = 0; k < 5; k++) {
        PT_AT(A, s, 0) = 10 * pt_rank() + k;
        if (pt_send(&PT_AT(A, s, 0), 4, PT_PROGRAM, pt_rank()) ||
            pt_recv(&PT_AT(A, s, 1), 4, PT_PROGRAM, 7, NULL))
            return;
        PT_AT(A, s, 2) = (k == 0 ? 0 : PT_AT(A, s, 2)) + PT_AT(A, s, 1);
    }
}

TEST_TABLE(ApiMessage, TheProgramTakesPart, runs) {
    scene *s = set(ctx, row->n_slots, "ask[s]: inout A[s, :]", &ask_kernel);
    polytile_queue *queue;
    CHECK_OK(polytile_queue_create(ctx, row->device, &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    CHECK_OK(polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    for (int k = 0; k < 5 * row->n_slots; k++) {
        pt_status status = {0, 0, 0};
        int32_t number = -1;
        if (!CHECK_OK(polytile_message_recv(queue, &number, 4, PT_ANY, PT_ANY, &status)))
            break;
        CHECK_EQUAL(number / 10, status.source);
        CHECK_EQUAL(status.tag, status.source);
        number += 1000;
        CHECK_OK(polytile_message_send(queue, &number, 4, status.source, 7));
    }
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(s->array)));
    for (int rank = 0; rank < row->n_slots; rank++)
        CHECK_EQUAL(s->row[rank][2], 5 * (1000 + 10 * rank) + 10);
}

/* Messages that are sent before the launch runs wait for it; one that comes back at its end waits
 * for the program. */
POLYTILE_TEAM_KERNEL(echo, (s), (int32_t, A, 2)) {
    if (pt_recv(&PT_AT(A, s, 0), ROW_BYTES, PT_PROGRAM, 1, NULL))
        return;
    pt_send(&PT_AT(A, s, 0), 400, PT_PROGRAM, 2);
}

TEST_CASE(ApiMessage, MessagesWaitForALaunchAndOutliveIt) {
    scene *s = set(ctx, 2, "echo[s]: inout A[s, :]", &echo_kernel);
    static int32_t sent[COLUMNS], got[100];
    polytile_queue *queue;
    pt_status status;
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    polytile_queue_pause(queue);
    CHECK_OK(polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    for (int k = 0; k < COLUMNS; k++)
        sent[k] = k;
    CHECK_OK(polytile_message_send(queue, sent, 400, 0, 1));
    CHECK_OK(polytile_message_send(queue, sent, ROW_BYTES, 1, 1));
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(s->array)));
    CHECK_STATUS(polytile_message_recv(queue, got, 8, 1, 2, NULL), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "echo", "slot 1", "tag 2", "400 bytes", "8;");
    CHECK_OK(polytile_message_recv(queue, got, sizeof got, 1, PT_ANY, &status));
    CHECK_EQUAL(status.n_bytes, 400);
    CHECK_EQUAL(got[99], 99);
    CHECK_OK(polytile_message_recv(queue, got, sizeof got, PT_ANY, 2, &status));
    CHECK_EQUAL(status.source, 0);
    CHECK_STATUS(polytile_message_recv(queue, got, sizeof got, PT_ANY, 2, &status),
                 POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "echo", "the launch is over");
    CHECK_STATUS(polytile_message_send(queue, got, 4, 0, 2), POLYTILE_INVALID);
}

/* What goes wrong ends the launch. */
typedef enum fault {
    RECEIVES_FROM_EACH_OTHER,
    WAITS_FOR_ONE_THAT_RETURNED,
    SENDS_LONG_TO_EACH_OTHER,
    WAITS_FOR_A_SIGNAL,
    MISSES_A_BARRIER,
    MISSES_A_BROADCAST,
    SENDS_TO_NO_RANK,
    SENDS_TO_THE_PROGRAM,
    SENDS_NO_TAG,
    SENDS_LESS_THAN_NOTHING,
    SENDS_FROM_ELSEWHERE,
    RECEIVES_BEHIND_THE_END,
    RECEIVES_TOO_LITTLE,
    HAS_TOO_MANY_REQUESTS,
    PUTS_ELSEWHERE,
    GIVES_NO_SIGNAL,
    POLLS_FOR_EVER,
} fault;

static int32_t elsewhere[4];

POLYTILE_TEAM_KERNEL(wrong, (s), (int32_t, what), (int32_t, A, 2)) {
    const int other = pt_rank() ^ 1;
    int32_t *mine = &PT_AT(A, s, 0);
    pt_request request;
    int is_done = 0;
    if (what == RECEIVES_FROM_EACH_OTHER)
        pt_recv(mine, 4, other, 7, NULL);
    if (what == WAITS_FOR_ONE_THAT_RETURNED && pt_rank() == 0)
        pt_recv(mine, 4, 1, PT_ANY, NULL);
    if (what == SENDS_LONG_TO_EACH_OTHER)
        pt_send(mine, PT_EAGER_BYTES + 4, other, 3);
    if (what == WAITS_FOR_A_SIGNAL && !pt_signal(other, 2))
        pt_wait_signal(2, 5);
    if (what == MISSES_A_BARRIER && pt_rank() == 1)
        pt_barrier();
    if (what == MISSES_A_BROADCAST && pt_rank() == 1)
        pt_bcast(mine, 4, 0);
    if (pt_rank() == 1) {
        if (what == SENDS_TO_NO_RANK)
            pt_send(mine, 4, 9, 7);
        if (what == SENDS_TO_THE_PROGRAM)
            pt_send(mine, 4, PT_PROGRAM, 7);
        if (what == SENDS_NO_TAG)
            pt_send(mine, 4, 0, -5);
        if (what == SENDS_LESS_THAN_NOTHING)
            pt_send(mine, -4, 0, 7);
        if (what == SENDS_FROM_ELSEWHERE)
            pt_send(elsewhere, 4, 0, 7);
        if (what == RECEIVES_BEHIND_THE_END)
            pt_recv(&PT_AT(A, s, COLUMNS - 1), 8, 0, 7, NULL);
        if (what == RECEIVES_TOO_LITTLE)
            pt_recv(mine, 4, 0, 7, NULL);
        while (what == HAS_TOO_MANY_REQUESTS && !pt_irecv(mine, 4, 0, 7, &request))
            is_done++;
        if (what == PUTS_ELSEWHERE)
            pt_put(0, A, (4, 0), mine, 4);
        if (what == GIVES_NO_SIGNAL)
            pt_signal(0, 16);
        if (what == POLLS_FOR_EVER && !pt_irecv(mine, 4, 0, 7, &request))
            while (!pt_test(&request, &is_done, NULL) && !is_done)
                PT_AT(A, s, 1)++;
    } else if (what > MISSES_A_BROADCAST) {
        if (what == RECEIVES_TOO_LITTLE)
            pt_send(mine, 8, 1, 7);
        pt_recv(mine, 4, PT_ANY, 99, NULL);
    }
}

static const struct {
    fault what;
    polytile_status status;
    const char *text[5];
} faults[] = {
    {RECEIVES_FROM_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"wrong: DEADLOCK", "slot 0 waits for a message from slot 1, tag 7, since", "slot 1 waits",
      "slot 0, tag 7"}},
    {WAITS_FOR_ONE_THAT_RETURNED,
     POLYTILE_DEADLOCK,
     {"DEADLOCK", "slot 0 waits for a message from slot 1, which has returned, any tag"}},
    {SENDS_LONG_TO_EACH_OTHER,
     POLYTILE_DEADLOCK,
     {"DEADLOCK", "slot 0 waits until slot 1 receives its 4100 bytes, tag 3"}},
    {WAITS_FOR_A_SIGNAL,
     POLYTILE_DEADLOCK,
     {"DEADLOCK", "slot 0 waits for signal 2, given 1 of 5 times"}},
    {MISSES_A_BARRIER,
     POLYTILE_DEADLOCK,
     {"slot 1 waits at a barrier, where 1 of 2 slots are", "1 of 2 slots have returned"}},
    {MISSES_A_BROADCAST,
     POLYTILE_DEADLOCK,
     {"slot 1 waits for a message from slot 0", "in pt_bcast"}},
    {SENDS_TO_NO_RANK, POLYTILE_INVALID, {"wrong: slot 1", "rank 9, tag 7, 4 bytes", "0 to 1"}},
    {SENDS_TO_THE_PROGRAM, POLYTILE_INVALID, {"slot 1", "the program takes no part"}},
    {SENDS_NO_TAG, POLYTILE_INVALID, {"slot 1", "tag -5", "tags are 0 or more"}},
    {SENDS_LESS_THAN_NOTHING, POLYTILE_INVALID, {"slot 1", "-4 bytes", "negative"}},
    {SENDS_FROM_ELSEWHERE, POLYTILE_INVALID, {"slot 1", "4 bytes", "in no array of the launch"}},
    {RECEIVES_BEHIND_THE_END, POLYTILE_INVALID, {"slot 1", "8 bytes", "in no array"}},
    {RECEIVES_TOO_LITTLE,
     POLYTILE_INVALID,
     {"slot 1 receives into 4 bytes a message of 8 bytes from slot 0, tag 7"}},
    {HAS_TOO_MANY_REQUESTS, POLYTILE_INVALID, {"slot 1", "16 requests"}},
    {PUTS_ELSEWHERE, POLYTILE_INVALID, {"slot 1", "a put to rank 0", "in no array"}},
    {GIVES_NO_SIGNAL, POLYTILE_INVALID, {"slot 1", "a signal of rank 0, tag 16"}},
    {POLLS_FOR_EVER,
     POLYTILE_TIMEOUT,
     {"wrong: TIMEOUT, nothing went on for 0.2 s",
      "slot 0 waits for a message from anyone, tag 99"}},
};

static polytile_launch_options fault_options(int32_t *what) {
    static polytile_parameter parameter;
    parameter = POLYTILE_PARAMETER("what", *what);
    return (polytile_launch_options){
        .n_parameters = 1, .parameters = &parameter, .message_timeout_s = 0.2};
}

static void check_text(polytile_context *ctx, const char *const *parts) {
    for (int k = 0; k < 5 && parts[k] != NULL; k++)
        CHECK_CONTAINS(polytile_last_error(ctx), parts[k]);
}

TEST_TABLE(ApiMessage, WhatEndsALaunchIsNamed, faults) {
    int32_t what = (int32_t)row->what;
    scene *s = set(ctx, 2, "wrong[s](i32 what): inout A[s, :]", &wrong_kernel);
    const polytile_launch_options options = fault_options(&what);
    CHECK_STATUS(run(ctx, "host", s, &options), row->status);
    check_text(ctx, row->text);
    CHECK(!polytile_array_is_complete(s->array));
    CHECK_CONTAINS(polytile_last_error(ctx), "incomplete");
}

TEST_TABLE(ApiMessage, AQueueGoesOnBehindAFailure, faults) {
    int32_t what = (int32_t)row->what, number = 0;
    scene *s = set(ctx, 2, "wrong[s](i32 what): inout A[s, :]", &wrong_kernel);
    const polytile_launch_options options = fault_options(&what);
    polytile_kernel *rotate;
    polytile_queue *queue;
    CHECK_OK(polytile_kernel_create(ctx, "rotate[s]: inout A[s, :]", &rotate_kernel, &rotate));
    CHECK_OK(polytile_queue_create(ctx, "host(memory=1MiB)", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    CHECK_OK(
        polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), &options));
    CHECK_OK(polytile_queue_launch(queue, rotate, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    if (what == SENDS_TO_THE_PROGRAM) {
        CHECK_STATUS(polytile_queue_wait(queue), POLYTILE_DEADLOCK);
        CHECK_CONTAINS(polytile_last_error(ctx), "the program waits for the queue");
        return;
    }
    CHECK_STATUS(polytile_message_recv(queue, &number, 4, 0, 0, NULL), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "rotate", "did not run");
    CHECK_STATUS(polytile_queue_wait(queue), row->status);
    check_text(ctx, row->text);
    CHECK_OK(polytile_queue_launch(queue, rotate, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    CHECK_OK(polytile_queue_detach(queue, POLYTILE_ARRAYS(s->array)));
}

TEST_CASE(ApiMessage, WhoWaitsForTheProgramIsInNoDeadlock) {
    scene *s = set(ctx, 2, "ask[s]: inout A[s, :]", &ask_kernel);
    const polytile_launch_options options = {.message_timeout_s = 0.1};
    int32_t number;
    polytile_queue *queue;
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    CHECK_OK(
        polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), &options));
    for (int k = 0; k < 2; k++)
        CHECK_OK(polytile_message_recv(queue, &number, 4, PT_ANY, PT_ANY, NULL));
    CHECK_STATUS(polytile_message_recv(queue, &number, 4, PT_ANY, 3, NULL), POLYTILE_DEADLOCK);
    CHECK_CONTAINS(polytile_last_error(ctx), "the program waits for a message from anyone, tag 3");
    CHECK_STATUS(polytile_queue_wait(queue), POLYTILE_DEADLOCK);
}

TEST_CASE(ApiMessage, AProgramThatDoesSomethingElseRunsOutOfTime) {
    scene *s = set(ctx, 2, "ask[s]: inout A[s, :]", &ask_kernel);
    const polytile_launch_options options = {.message_timeout_s = 0.05};
    polytile_queue *queue;
    int32_t number = 0;
    polytile_status status = POLYTILE_OK;
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    CHECK_OK(
        polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), &options));
    while (status == POLYTILE_OK)
        status = polytile_message_recv(queue, &number, 4, PT_ANY, PT_ANY, NULL) == POLYTILE_OK
                     ? POLYTILE_OK
                     : polytile_queue_wait(queue);
    CHECK(status == POLYTILE_DEADLOCK || status == POLYTILE_TIMEOUT);
}

TEST_CASE(ApiMessage, CallsOfTheProgramAreChecked) {
    scene *s = set(ctx, 2, "ask[s]: inout A[s, :]", &ask_kernel);
    polytile_queue *queue, *both;
    int32_t number = 0;
    CHECK_STATUS(polytile_message_send(NULL, &number, 4, 0, 0), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_recv(NULL, &number, 4, 0, 0, NULL), POLYTILE_INVALID);
    CHECK_OK(polytile_queue_create(ctx, "host", &queue));
    CHECK_STATUS(polytile_message_send(queue, &number, 4, 0, 0), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "polytile_message_send", "no team kernel");
    CHECK_STATUS(polytile_message_recv(queue, &number, 4, 0, 0, NULL), POLYTILE_INVALID);
    CHECK_OK(polytile_queue_create(ctx, "host,host", &both));
    CHECK_STATUS(polytile_message_send(both, &number, 4, 0, 0), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "host,host", "no team kernel");
    CHECK_OK(polytile_queue_attach(queue, POLYTILE_ARRAYS(s->array)));
    polytile_queue_pause(queue);
    CHECK_OK(polytile_queue_launch(queue, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    CHECK_STATUS(polytile_message_send(queue, &number, 4, 2, 0), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "ask", "rank 2, tag 0, 4 bytes", "0 to 1");
    CHECK_STATUS(polytile_message_send(queue, &number, -4, 1, 0), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_send(queue, &number, 4, 1, PT_ANY), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_send(queue, NULL, 4, 1, 1), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_recv(queue, &number, 4, -3, 0, NULL), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_recv(queue, &number, 4, 0, -2, NULL), POLYTILE_INVALID);
    CHECK_STATUS(polytile_message_recv(queue, NULL, 4, 0, 0, NULL), POLYTILE_INVALID);
    CHECK_STATUS(polytile_queue_wait(queue), POLYTILE_DEADLOCK);
    CHECK_CONTAINS(polytile_last_error(ctx), "for a message from the program, tag 7");
}

/* A launch is one superblock, whatever is asked for, and is not run twice. */
TEST_CASE(ApiMessage, AllSlotsAreInOneSuperblock) {
    scene *s = set(ctx, 4, "rotate[s]: inout A[s, :]", &rotate_kernel);
    polytile_device *device;
    polytile_report report;
    CHECK_OK(polytile_device_open(ctx, "host(memory=80KiB)", &device));
    CHECK_OK(polytile_run(device, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL));
    polytile_device_get_report(device, &report);
    CHECK_EQUAL(report.n_kernels, 1);
    CHECK_OK(polytile_device_open(ctx, "host(memory=60KiB)", &device));
    CHECK_STATUS(polytile_run(device, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL),
                 POLYTILE_NO_FIT);
    CHECK_CONTAINS(polytile_last_error(ctx), "rotate", "64 KiB", "60 KiB");
    CHECK_STATUS(
        polytile_check_run(device, s->kernel, &s->slots, POLYTILE_ARRAYS(s->array), NULL, NULL),
        POLYTILE_UNSUPPORTED);
    CHECK_CONTAINS(polytile_last_error(ctx), "rotate", "slots need each other");
}

TEST_CASE(ApiMessage, ALaunchOfTooManySlotsIsRefusedWithTheNumbers) {
    static int8_t one;
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_device *device;
    polytile_implementation without_views = rotate_kernel;
    without_views.n_views = 0;
    without_views.views = NULL;
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_I8, 1, (int64_t[]){1}, &one, &array));
    CHECK_OK(polytile_kernel_create(ctx, "rotate[s]: in A[0]", &without_views, &kernel));
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_STATUS(
        polytile_run(device, kernel, POLYTILE_EXTENTS(100000), POLYTILE_ARRAYS(array), NULL),
        POLYTILE_NO_FIT);
    CHECK_CONTAINS(polytile_last_error(ctx), "rotate: 100000 slots", "65536");
}

TEST_CASE(ApiMessage, ATimeLimitIsNotNegative) {
    scene *s = set(ctx, 2, "rotate[s]: inout A[s, :]", &rotate_kernel);
    const polytile_launch_options options = {.message_timeout_s = -1};
    CHECK_STATUS(run(ctx, "host", s, &options), POLYTILE_INVALID);
    CHECK_CONTAINS(polytile_last_error(ctx), "message_timeout_s is -1");
}

TEST_CASE(ApiMessage, ABodyOfAnotherLayoutIsRefused) {
    const polytile_team other = {PT_RING_LAYOUT + 1, rotate_kernel.team->host, NULL};
    polytile_implementation implementation = rotate_kernel;
    polytile_kernel *kernel;
    char theirs[32], ours[32];
    implementation.team = &other;
    snprintf(theirs, sizeof theirs, "layout %d", PT_RING_LAYOUT + 1);
    snprintf(ours, sizeof ours, "has %d", PT_RING_LAYOUT);
    CHECK_STATUS(polytile_kernel_create(ctx, "rotate[s]: inout A[s, :]", &implementation, &kernel),
                 POLYTILE_DECLARATION);
    CHECK_CONTAINS(polytile_last_error(ctx), "rotate", theirs, ours);
}

/* Slots are numbered in C order, and need not begin at 0. */
POLYTILE_TEAM_KERNEL(number, (i, j), (int32_t, A, 2)) {
    PT_AT(A, i, j) = 100 * pt_ranks() + pt_rank();
}

TEST_CASE(ApiMessage, RanksAreNumbersInTheLaunchDomain) {
    static int32_t data[4][5];
    polytile_array *array;
    polytile_kernel *kernel;
    polytile_device *device;
    const polytile_domain slots = {2, {{1, 3, 1}, {2, 4, 1}}};
    CHECK_OK(polytile_array_wrap(ctx, "A", POLYTILE_I32, 2, (int64_t[]){4, 5}, data, &array));
    CHECK_OK(polytile_kernel_create(ctx, "number[i, j]: out A[i, j]", &number_kernel, &kernel));
    CHECK_OK(polytile_device_open(ctx, "host", &device));
    CHECK_OK(polytile_run(device, kernel, &slots, POLYTILE_ARRAYS(array), NULL));
    CHECK_EQUAL(data[1][2], 900);
    CHECK_EQUAL(data[1][4], 902);
    CHECK_EQUAL(data[3][4], 908);
}
