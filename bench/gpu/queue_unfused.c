/* Launches out of core that cannot go on in slabs, since each shuffles the elements that the one
 * before wrote, as a transform of constant geometry does: how long they are planned, over how long
 * they run. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/queue_stage.h"

enum { N_ELEMENTS = SHUFFLED_ELEMENTS, N_ROUND = 28, N_LAUNCHES = 36 * N_ROUND, SEED = 41 };
_Static_assert(N_ELEMENTS == 1 << N_ROUND, "a round puts elements where they began");

typedef struct subject {
    polytile_domain threads;
    float *fields[2], *initial;
    int64_t n_elements;
    queue_stage stage;
} subject;

static void create(subject *s) {
    const int64_t n_elements = N_ELEMENTS, n_pairs = N_ELEMENTS / 2;
    const int64_t field_bytes = n_elements * (int64_t)sizeof(float);
    s->n_elements = n_elements;
    s->threads = polytile_domain_from_extents(1, &n_pairs);
    queue_stage_open(&s->stage, field_bytes / 2, SHUFFLE_DECLARATION, gpu_shuffle());
    for (int f = 0; f < 2; f++) {
        s->fields[f] = gpu_allocate_pinned(field_bytes);
        queue_stage_wrap(&s->stage, 1, &n_elements, s->fields[f]);
    }
    s->initial = gpu_allocate_pageable(field_bytes);
    gpu_fill_random(s->fields[0], s->n_elements, SEED);
    gpu_fill_random(s->initial, s->n_elements, SEED);
}

/** Queue so many launches at once: whole rounds, after which elements are where they began. Return
 * seconds. */
static double run(const subject *s, int n_launches) {
    double start_s = bench_now_s();
    queue_stage_attach(&s->stage);
    polytile_queue_pause(s->stage.queue);
    for (int k = 0; k < n_launches; k++) {
        polytile_array *const arrays[] = {s->stage.arrays[k % 2], s->stage.arrays[1 - k % 2]};
        queue_stage_launch(&s->stage, &s->threads, arrays);
    }
    polytile_queue_resume(s->stage.queue);
    queue_stage_detach(&s->stage);
    double taken_s = bench_now_s() - start_s;
    gpu_require_same_bits("the first field", s->fields[0], s->initial, s->n_elements);
    return taken_s;
}

void queue_unfused(void) {
    subject s = {0};
    bench_times planned = {0}, running = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&s);
    run(&s, N_ROUND);
    queue_stage_report(&s.stage);
    bench_add_time(&running, run(&s, N_LAUNCHES));
    bench_add_time(&planned, queue_stage_report(&s.stage).plan_s);
    gpu_report(&(gpu_comparison){.name = "queue, planning 1008 launches, none fused",
                                 .against = "running them",
                                 .ours = &planned,
                                 .rival = &running,
                                 .relation = BENCH_AT_MOST,
                                 .target = 0.02});
}
