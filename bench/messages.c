/* Messages between the slots of a team kernel on the host, beside two threads that do the same by
 * hand with a mutex and a condition variable. */
#include "common/bench.h"

#include <polytile/message.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_ROUNDS = 4000, MOST_SLOTS = 8, MESSAGES_A_SLOT = 2000 };
#define LARGE_BYTES (INT64_C(16) << 20)

typedef enum pattern { ROUND, PUT, BARRIER, TO_THE_PROGRAM } pattern;

POLYTILE_TEAM_KERNEL(talk, (s), (int32_t, what), (int64_t, rounds), (int64_t, bytes),
                     (uint8_t, A, 2)) {
    const int other = 1 - pt_rank();
    uint8_t *mine = &PT_AT(A, s, 0);
    for (int64_t round = 0; round < rounds; round++) {
        int ends = 0;
        if (what == ROUND && pt_rank() == round % 2)
            ends = pt_send(mine, bytes, other, 0);
        else if (what == ROUND)
            ends = pt_recv(mine, bytes, other, 0, NULL);
        else if (what == PUT)
            ends = pt_put(other, A, (other, 8), mine, 8) || pt_signal(other, 0) ||
                   pt_wait_signal(0, round + 1);
        else if (what == BARRIER)
            ends = pt_barrier();
        else
            ends = pt_send(mine, 8, PT_PROGRAM, 0);
        if (ends)
            return;
    }
}

/** A launch of some slots on rows of row_bytes. */
typedef struct stage {
    polytile_context *ctx;
    polytile_queue *queue;
    polytile_kernel *kernel;
    polytile_array *array;
    int64_t n_slots, n_bytes;
    uint8_t *data;
} stage;

static void begin(int64_t n_slots, int64_t row_bytes, stage *s) {
    const int64_t extents[] = {n_slots, row_bytes};
    *s = (stage){.n_slots = n_slots, .n_bytes = n_slots * row_bytes};
    s->data = bench_allocate(s->n_bytes);
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_queue_create(s->ctx, "host", &s->queue), s->ctx);
    bench_require(polytile_array_wrap(s->ctx, "A", POLYTILE_U8, 2, extents, s->data, &s->array),
                  s->ctx);
    bench_require(polytile_queue_attach(s->queue, 1, &s->array), s->ctx);
    bench_require(polytile_kernel_create(s->ctx,
                                         "talk[s](i32 what, i64 rounds, i64 bytes): inout A[s, :]",
                                         &talk_kernel, &s->kernel),
                  s->ctx);
}

static void end(stage *s) {
    polytile_context_destroy(s->ctx);
    bench_free(s->data, s->n_bytes);
}

static void launch(const stage *s, pattern what, int64_t rounds, int64_t n_bytes) {
    bench_require(polytile_queue_launch(s->queue, s->kernel, POLYTILE_EXTENTS(s->n_slots), 1,
                                        &s->array,
                                        POLYTILE_PARAMETERS(POLYTILE_PARAMETER("what", (int)what),
                                                            POLYTILE_PARAMETER("rounds", rounds),
                                                            POLYTILE_PARAMETER("bytes", n_bytes))),
                  s->ctx);
}

/** The program receives what slots send it. */
static void receive(const stage *s, int64_t n_messages) {
    uint64_t message;
    for (int64_t k = 0; k < n_messages; k++)
        bench_require(polytile_message_recv(s->queue, &message, 8, PT_ANY, 0, NULL), s->ctx);
}

/** Seconds of a launch. */
static double time_launch(const stage *s, pattern what, int64_t rounds, int64_t n_bytes) {
    const double start_s = bench_now_s();
    launch(s, what, rounds, n_bytes);
    if (what == TO_THE_PROGRAM)
        receive(s, rounds * s->n_slots);
    bench_require(polytile_queue_wait(s->queue), s->ctx);
    return bench_now_s() - start_s;
}

/** Seconds of one round, without what a launch takes. */
static double time_round(int64_t n_slots, pattern what, int64_t rounds, int64_t n_bytes) {
    bench_times none = {0}, all = {0};
    stage s;
    begin(n_slots, n_bytes < 16 ? 16 : n_bytes, &s);
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        bench_add_time(&none, time_launch(&s, what, 0, n_bytes));
        bench_add_time(&all, time_launch(&s, what, rounds, n_bytes));
    }
    end(&s);
    return (bench_median(&all) - bench_median(&none)) / (double)rounds;
}

/* By hand: a number that goes from one thread to another and back. */
typedef struct hand {
    pthread_mutex_t mutex;
    pthread_cond_t moved;
    int64_t number;
} hand;

static void pass_on(hand *h, int64_t parity) {
    for (int64_t k = parity; k < SMALL_ROUNDS; k += 2) {
        pthread_mutex_lock(&h->mutex);
        while (h->number != k)
            pthread_cond_wait(&h->moved, &h->mutex);
        h->number++;
        pthread_cond_signal(&h->moved);
        pthread_mutex_unlock(&h->mutex);
    }
}

static void *pass_on_odd(void *h) {
    pass_on(h, 1);
    return NULL;
}

static double time_by_hand(void) {
    bench_times times = {0};
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        hand h = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
        pthread_t other;
        if (pthread_create(&other, NULL, pass_on_odd, &h) != 0)
            exit(2);
        const double start_s = bench_now_s();
        pass_on(&h, 0);
        pthread_join(other, NULL);
        bench_add_time(&times, bench_now_s() - start_s);
    }
    return bench_median(&times) / SMALL_ROUNDS;
}

static void report(bench *b, const char *subject, const char *name, double value) {
    bench_report(b, &(bench_figure){subject, name, value, BENCH_NO_TARGET, 0});
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "messages", argc, argv))
        return 2;
    const double by_hand_s = time_by_hand(), small_s = time_round(2, ROUND, SMALL_ROUNDS, 8);
    report(&b, "8 B from slot to slot", "one_way_us", 1e6 * small_s);
    report(&b, "8 B from slot to slot", "by_hand_us", 1e6 * by_hand_s);
    bench_report(&b, &(bench_figure){"8 B from slot to slot", "ratio", small_s / by_hand_s,
                                     BENCH_AT_MOST, 2});
    report(&b, "put and signal", "one_way_us", 1e6 * time_round(2, PUT, SMALL_ROUNDS, 8));
    for (int n_slots = 2; n_slots <= MOST_SLOTS; n_slots *= 2) {
        char subject[32];
        snprintf(subject, sizeof subject, "%d slots", n_slots);
        report(&b, subject, "barrier_us", 1e6 * time_round(n_slots, BARRIER, SMALL_ROUNDS, 8));
        report(&b, subject, "messages_a_second",
               n_slots / time_round(n_slots, TO_THE_PROGRAM, MESSAGES_A_SLOT, 8));
    }
    report(&b, "16 MiB from slot to slot", "gb_per_s",
           1e-9 * (double)LARGE_BYTES / time_round(2, ROUND, 8, LARGE_BYTES));
    return bench_end(&b);
}
