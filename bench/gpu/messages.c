/* Messages between the slots of a team kernel and the program, and between slots, against what the
 * link and flags by hand take. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/messages_kernels.h"
#include "gpu/queue_stage.h"

#include <polytile/message.h>

#include <stdlib.h>

enum { ROUNDS = 2000, LARGE_ROUNDS = 50, N_TIMES = 7, MESSAGES_A_SLOT = 1000, MOST_SLOTS = 132 };
#define LARGE_BYTES   (INT64_C(1) << 20)
#define LONGEST_BYTES (INT64_C(16) << 20)

/** Ceilings and what is to be reached. */
static const double put_s = 3e-6, barrier_s = 10e-6, message_s = 0.5e-6;

/** Slots with rows of A, and what the program receives into. */
typedef struct talk_stage {
    queue_stage queue;
    int64_t n_slots;
    float *rows;
    float *message; /* pinned */
} talk_stage;

static void open_stage(talk_stage *s, const char *devices, int64_t n_slots, int64_t row_bytes) {
    const int64_t extents[] = {n_slots, row_bytes / (int64_t)sizeof(float)};
    gpu_begin(GPU_WAITS_AS_EVER);
    s->n_slots = n_slots;
    s->rows = gpu_allocate_pinned(n_slots * row_bytes);
    s->message = gpu_allocate_pinned(row_bytes);
    queue_stage_open_on(&s->queue, devices, TALK_DECLARATION, gpu_talk());
    queue_stage_wrap(&s->queue, 2, extents, s->rows);
    queue_stage_attach(&s->queue);
}

/** The program's part of a launch. */
static void take_part(const talk_stage *s, talk_pattern pattern, int64_t rounds, int64_t n_bytes) {
    polytile_queue *queue = s->queue.queue;
    const int64_t n_messages = pattern == TALK_TO_THE_PROGRAM ? rounds * s->n_slots : rounds;
    if (pattern != TALK_WITH_THE_PROGRAM && pattern != TALK_TO_THE_PROGRAM)
        return;
    for (int64_t k = 0; k < n_messages; k++) {
        bench_require(polytile_message_recv(queue, s->message, n_bytes, PT_ANY, 0, NULL),
                      s->queue.ctx);
        if (pattern == TALK_WITH_THE_PROGRAM)
            bench_require(polytile_message_send(queue, s->message, n_bytes, 0, 0), s->queue.ctx);
    }
}

static double time_launch(const talk_stage *s, talk_pattern pattern, int64_t rounds,
                          int64_t n_bytes) {
    const double start_s = bench_now_s();
    bench_require(
        polytile_queue_launch(s->queue.queue, s->queue.kernel, POLYTILE_EXTENTS(s->n_slots), 1,
                              s->queue.arrays,
                              POLYTILE_PARAMETERS(POLYTILE_PARAMETER("pattern", (int)pattern),
                                                  POLYTILE_PARAMETER("rounds", rounds),
                                                  POLYTILE_PARAMETER("bytes", n_bytes))),
        s->queue.ctx);
    take_part(s, pattern, rounds, n_bytes);
    queue_stage_wait(&s->queue);
    return bench_now_s() - start_s;
}

/** Seconds of one round, without what a launch takes. */
static bench_times time_rounds_on(const char *devices, int64_t n_slots, talk_pattern pattern,
                                  int64_t rounds, int64_t n_bytes) {
    talk_stage s;
    bench_times times = {0}, none = {0};
    open_stage(&s, devices, n_slots, n_bytes < 64 ? 64 : n_bytes);
    time_launch(&s, pattern, rounds, n_bytes);
    for (int k = 0; k < N_TIMES; k++)
        bench_add_time(&none, time_launch(&s, pattern, 0, n_bytes));
    for (int k = 0; k < N_TIMES; k++)
        bench_add_time(&times, (time_launch(&s, pattern, rounds, n_bytes) - bench_median(&none)) /
                                   (double)rounds);
    return times;
}

static bench_times time_rounds(int64_t n_slots, talk_pattern pattern, int64_t rounds,
                               int64_t n_bytes) {
    return time_rounds_on("cuda:0", n_slots, pattern, rounds, n_bytes);
}

/** The words that go to and fro by hand, in mapped memory. */
typedef struct flags {
    uint64_t to_host;
    uint64_t other_line[7];
    uint64_t from_host;
} flags;

static bench_times time_flags(void) {
    int64_t rounds = ROUNDS;
    bench_times times = {0};
    flags *words;
    gpu_begin(GPU_WAITS_AS_EVER);
    GPU_CALL(cudaHostAlloc((void **)&words, sizeof *words, cudaHostAllocMapped));
    for (int k = 0; k < N_TIMES; k++) {
        uint64_t *to_host = &words->to_host, *from_host = &words->from_host;
        void *arguments[] = {(void *)&to_host, (void *)&from_host, &rounds};
        double start_s = 0;
        *words = (flags){0};
        GPU_CALL(cudaLaunchKernel(gpu_plain_flags(), (dim3){1, 1, 1}, (dim3){1, 1, 1}, arguments, 0,
                                  NULL));
        for (uint64_t round = 1; round <= ROUNDS; round++) {
            while (__atomic_load_n(to_host, __ATOMIC_ACQUIRE) < round)
                ;
            start_s = round == 1 ? bench_now_s() : start_s;
            __atomic_store_n(from_host, round, __ATOMIC_RELEASE);
        }
        bench_add_time(&times, (bench_now_s() - start_s) / (ROUNDS - 1));
        GPU_CALL(cudaDeviceSynchronize());
    }
    return times;
}

/** Seconds of so many bytes over the link by a long copy from the device. */
static bench_times time_link(int64_t n_bytes) {
    const int64_t long_bytes = INT64_C(256) << 20;
    bench_times times = {0};
    void *device;
    float *host = gpu_allocate_pinned(long_bytes);
    GPU_CALL(cudaMalloc(&device, (size_t)long_bytes));
    for (int k = 0; k < N_TIMES; k++) {
        const double start_s = bench_now_s();
        GPU_CALL(cudaMemcpy(host, device, (size_t)long_bytes, cudaMemcpyDeviceToHost));
        bench_add_time(&times, (bench_now_s() - start_s) * (double)n_bytes / (double)long_bytes);
    }
    return times;
}

static int64_t count_slots(void) {
    int n_multiprocessors = 0;
    GPU_CALL(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, 0));
    return n_multiprocessors < MOST_SLOTS ? n_multiprocessors : MOST_SLOTS;
}

static void report_fixed(const char *name, const char *against, const bench_times *ours,
                         double most_s) {
    gpu_report_fixed("s",
                     &(gpu_comparison){.name = name,
                                       .against = against,
                                       .ours = ours,
                                       .relation = BENCH_AT_MOST,
                                       .target = 1.0},
                     most_s);
}

void messages_small(void) {
    const bench_times flags_times = time_flags();
    const bench_times round = time_rounds(1, TALK_WITH_THE_PROGRAM, ROUNDS, 8);
    const bench_times put = time_rounds(2, TALK_BY_PUT, ROUNDS, 8);
    const bench_times pair = time_rounds(2, TALK_BETWEEN_TWO, ROUNDS, 8);
    const bench_times pair_4k = time_rounds(2, TALK_BETWEEN_TWO, ROUNDS, 4096);
    gpu_report(&(gpu_comparison){.name = "8 B from a slot to the program and back",
                                 .against = "flags by hand",
                                 .ours = &round,
                                 .rival = &flags_times,
                                 .relation = BENCH_AT_MOST,
                                 .target = 2.0});
    report_fixed("put and signal, one way", "3 us", &put, put_s);
    gpu_report(&(gpu_comparison){.name = "8 B from slot to slot, one way",
                                 .against = "flags by hand, there and back",
                                 .ours = &pair,
                                 .rival = &flags_times});
    gpu_report(&(gpu_comparison){.name = "4 KiB from slot to slot, one way",
                                 .against = "flags by hand, there and back",
                                 .ours = &pair_4k,
                                 .rival = &flags_times});
}

void messages_many(void) {
    const int64_t n_slots = count_slots();
    const bench_times barrier = time_rounds(n_slots, TALK_AT_A_BARRIER, ROUNDS, 8);
    bench_times all = time_rounds(n_slots, TALK_TO_THE_PROGRAM, MESSAGES_A_SLOT, 8);
    for (int k = 0; k < all.n_times; k++)
        all.time_s[k] /= (double)n_slots;
    report_fixed("a barrier of all slots", "10 us", &barrier, barrier_s);
    report_fixed("8 B from all slots to the program, each", "2 million a second", &all, message_s);
}

static void report_link(const char *name, int64_t n_bytes, double target) {
    const bench_times message = time_rounds(1, TALK_TO_THE_PROGRAM, LARGE_ROUNDS, n_bytes);
    const bench_times link = time_link(n_bytes);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "the link",
                                 .ours = &message,
                                 .rival = &link,
                                 .relation = BENCH_AT_LEAST,
                                 .target = target});
}

void messages_large(void) {
    const bench_times pair = time_rounds(2, TALK_BETWEEN_TWO, LARGE_ROUNDS, LARGE_BYTES);
    report_link("1 MiB from a slot to the program", LARGE_BYTES, 0.8);
    report_link("16 MiB from a slot to the program", LONGEST_BYTES, 0.95);
    const bench_times link = time_link(LARGE_BYTES);
    gpu_report(&(gpu_comparison){.name = "1 MiB from slot to slot, by the server",
                                 .against = "the link",
                                 .ours = &pair,
                                 .rival = &link});
}

/* Two linked GPUs. */

enum { PUT_LANES = 512 };

/** What a GPU has of the way by hand. */
typedef struct put_side {
    float *mine;
    float *far;
    uint64_t *flag;
} put_side;

static void open_links(put_side side[2]) {
    for (int g = 0; g < 2; g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CALL(cudaDeviceEnablePeerAccess(1 - g, 0));
        GPU_CALL(cudaMalloc((void **)&side[g].mine, 64));
        GPU_CALL(cudaMalloc((void **)&side[g].far, 64));
        GPU_CALL(cudaMalloc((void **)&side[g].flag, 64));
        GPU_CALL(cudaMemset(side[g].mine, 0, 64));
    }
}

/** One launch on each GPU, which talk so many rounds. */
static double time_put_by_hand(put_side side[2], int64_t rounds) {
    for (int g = 0; g < 2; g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CALL(cudaMemset(side[g].flag, 0, 64));
        GPU_CALL(cudaDeviceSynchronize());
    }
    const double start_s = bench_now_s();
    for (int g = 0; g < 2; g++) {
        const put_side *own = &side[g], *other = &side[1 - g];
        void *arguments[] = {(void *)&other->far,
                             (void *)&own->mine,
                             (void *)&other->flag,
                             (void *)&own->flag,
                             &g,
                             &rounds};
        GPU_CALL(cudaSetDevice(g));
        GPU_CALL(cudaLaunchKernel(gpu_plain_put(), (dim3){1, 1, 1}, (dim3){PUT_LANES, 1, 1},
                                  arguments, 0, NULL));
    }
    for (int g = 0; g < 2; g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CALL(cudaDeviceSynchronize());
    }
    return bench_now_s() - start_s;
}

static bench_times time_puts_by_hand(void) {
    bench_times times = {0}, none = {0};
    put_side side[2];
    gpu_begin(GPU_WAITS_AS_EVER);
    open_links(side);
    time_put_by_hand(side, ROUNDS);
    for (int k = 0; k < N_TIMES; k++)
        bench_add_time(&none, time_put_by_hand(side, 0));
    for (int k = 0; k < N_TIMES; k++)
        bench_add_time(&times,
                       (time_put_by_hand(side, ROUNDS) - bench_median(&none)) / (double)ROUNDS);
    GPU_CALL(cudaSetDevice(0));
    return times;
}

/** Seconds of one copy from GPU to GPU, each waited for. */
static bench_times time_peer_copy(int64_t n_bytes) {
    bench_times times = {0};
    void *memory[2];
    cudaStream_t stream;
    for (int g = 0; g < 2; g++) {
        GPU_CALL(cudaSetDevice(g));
        GPU_CALL(cudaMalloc(&memory[g], (size_t)n_bytes));
    }
    GPU_CALL(cudaSetDevice(0));
    GPU_CALL(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int k = 0; k <= N_TIMES; k++) {
        const double start_s = bench_now_s();
        for (int round = 0; round < LARGE_ROUNDS; round++) {
            GPU_CALL(cudaMemcpyPeerAsync(memory[1], 1, memory[0], 0, (size_t)n_bytes, stream));
            GPU_CALL(cudaStreamSynchronize(stream));
        }
        if (k > 0)
            bench_add_time(&times, (bench_now_s() - start_s) / LARGE_ROUNDS);
    }
    return times;
}

static void report_peer_copy(const char *name, int64_t n_bytes) {
    const bench_times message =
        time_rounds_on("cuda:0,cuda:1", 2, TALK_BETWEEN_TWO, LARGE_ROUNDS, n_bytes);
    const bench_times copy = time_peer_copy(n_bytes);
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "a peer copy",
                                 .ours = &message,
                                 .rival = &copy,
                                 .relation = BENCH_AT_LEAST,
                                 .target = 0.9});
}

void messages_linked(void) {
    int n_gpus = 0, can_access = 0;
    GPU_CALL(cudaGetDeviceCount(&n_gpus));
    if (n_gpus > 1)
        GPU_CALL(cudaDeviceCanAccessPeer(&can_access, 0, 1));
    if (can_access == 0)
        return;
    const bench_times by_hand = time_puts_by_hand();
    const bench_times put = time_rounds_on("cuda:0,cuda:1", 2, TALK_BY_PUT, ROUNDS, 8);
    const bench_times barrier = time_rounds_on("cuda:0,cuda:1", 2, TALK_AT_A_BARRIER, ROUNDS, 8);
    const bench_times pair = time_rounds_on("cuda:0,cuda:1", 2, TALK_BETWEEN_TWO, ROUNDS, 8);
    gpu_report(&(gpu_comparison){.name = "put and signal between two GPUs, one way",
                                 .against = "the same by hand",
                                 .ours = &put,
                                 .rival = &by_hand,
                                 .relation = BENCH_AT_MOST,
                                 .target = 1.15});
    gpu_report(&(gpu_comparison){.name = "a barrier of two GPUs",
                                 .against = "put and signal by hand, one way",
                                 .ours = &barrier,
                                 .rival = &by_hand});
    gpu_report(&(gpu_comparison){.name = "8 B between two GPUs by the server, one way",
                                 .against = "put and signal by hand, one way",
                                 .ours = &pair,
                                 .rival = &by_hand});
    report_peer_copy("1 MiB from GPU to GPU", LARGE_BYTES);
    report_peer_copy("16 MiB from GPU to GPU", LONGEST_BYTES);
}
