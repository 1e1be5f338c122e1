/* All GPUs of one host together, through one queue, against one of them or their ceiling. On a host
 * with one GPU there is nothing to compare, and no row. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/queue_stage.h"
#include "jacobi_kernels.h"
#include "vector_add_kernels.h"

enum { MOST_GPUS = 8, N_REPETITIONS = 5 };

static int count_gpus(void) {
    int n_gpus = 0;
    GPU_CALL(cudaGetDeviceCount(&n_gpus));
    return n_gpus < MOST_GPUS ? n_gpus : MOST_GPUS;
}

/** "cuda:0(memory=1B),cuda:1(memory=1B)", the memory of each. */
static void write_devices(int n_gpus, int64_t memory_bytes, char *text, size_t size) {
    size_t used = 0;
    for (int g = 0; g < n_gpus; g++)
        used += (size_t)snprintf(text + used, size - used, "%scuda:%d(memory=%lldB)",
                                 g == 0 ? "" : ",", g, (long long)memory_bytes);
}

static void open_on(queue_stage *s, int n_gpus, int64_t memory_bytes, const char *declaration,
                    const polytile_implementation *implementation) {
    char text[64 * MOST_GPUS];
    write_devices(n_gpus, memory_bytes, text, sizeof text);
    queue_stage_open_on(s, text, declaration, implementation);
}

/** What so many GPUs are to reach, of one of them. */
static double target_of(int n_gpus, double of_two, double of_four) {
    return n_gpus <= 2 ? of_two : of_four;
}

/* Vector add: bound by the links, whose ceiling is copies both ways of all GPUs at once. */

static const int64_t n_elements = INT64_C(1000000000);

typedef struct vectors {
    int n_gpus;
    float *field[3];
    void *device[MOST_GPUS][3];
    cudaStream_t in[MOST_GPUS], out[MOST_GPUS];
    queue_stage stage;
} vectors;

static int64_t share_bytes(const vectors *v) {
    return n_elements / v->n_gpus * (int64_t)sizeof(float);
}

static void prepare_gpu(vectors *v, int g) {
    GPU_CALL(cudaSetDevice(g));
    for (int a = 0; a < 3; a++)
        GPU_CALL(cudaMalloc(&v->device[g][a], (size_t)share_bytes(v)));
    GPU_CALL(cudaStreamCreateWithFlags(&v->in[g], cudaStreamNonBlocking));
    GPU_CALL(cudaStreamCreateWithFlags(&v->out[g], cudaStreamNonBlocking));
}

static void *part_of(const vectors *v, int field, int g) {
    return (char *)v->field[field] + g * share_bytes(v);
}

static void begin_copies(const vectors *v, int g) {
    size_t n_bytes = (size_t)share_bytes(v);
    GPU_CALL(cudaSetDevice(g));
    for (int a = 0; a < 2; a++)
        GPU_CALL(cudaMemcpyAsync(v->device[g][a], part_of(v, a, g), n_bytes, cudaMemcpyHostToDevice,
                                 v->in[g]));
    GPU_CALL(cudaMemcpyAsync(part_of(v, 2, g), v->device[g][2], n_bytes, cudaMemcpyDeviceToHost,
                             v->out[g]));
}

static double time_copies(void *subject) {
    const vectors *v = subject;
    double start_s = bench_now_s();
    for (int g = 0; g < v->n_gpus; g++)
        begin_copies(v, g);
    for (int g = 0; g < v->n_gpus; g++) {
        GPU_CALL(cudaStreamSynchronize(v->in[g]));
        GPU_CALL(cudaStreamSynchronize(v->out[g]));
    }
    return bench_now_s() - start_s;
}

static double time_addition(void *subject) {
    const vectors *v = subject;
    gpu_poison(v->field[2], n_elements);
    double start_s = bench_now_s();
    queue_stage_attach(&v->stage);
    queue_stage_launch(&v->stage, POLYTILE_EXTENTS(n_elements), NULL);
    queue_stage_detach(&v->stage);
    double taken_s = bench_now_s() - start_s;
    gpu_require_sums(v->field[0], v->field[1], v->field[2], n_elements);
    return taken_s;
}

void several_vector_add(void) {
    vectors v = {.n_gpus = count_gpus()};
    bench_times ours = {0}, copies = {0};
    char name[56];
    if (v.n_gpus < 2)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    for (int a = 0; a < 3; a++) {
        v.field[a] = gpu_allocate_pinned(n_elements * (int64_t)sizeof(float));
        gpu_fill_random(v.field[a], n_elements, (uint64_t)a + 1);
    }
    open_on(&v.stage, v.n_gpus, 3 * n_elements * (int64_t)sizeof(float) / 8, ADD_DECLARATION,
            add_f32_implementation());
    for (int a = 0; a < 3; a++)
        queue_stage_wrap(&v.stage, 1, &n_elements, v.field[a]);
    for (int g = 0; g < v.n_gpus; g++)
        prepare_gpu(&v, g);
    gpu_alternate_few(N_REPETITIONS, time_addition, time_copies, &v, &ours, &copies);
    snprintf(name, sizeof name, "vector add, %d GPUs, limit 1/8", v.n_gpus);
    gpu_report(&(gpu_comparison){name, "plain copies both ways, all GPUs", &ours, &copies,
                                 BENCH_AT_LEAST, 0.95, 0.0});
}

/* Jacobi: resident, the border between GPUs travels. */

enum { EXTENT = 32768, N_STEPS = 1000, N_FIELDS = 2, N_SIDES = 2 };

/** Sides: one GPU, and all of them. */
typedef struct steps {
    float *field[N_SIDES][N_FIELDS];
    queue_stage stage[N_SIDES];
} steps;

static double time_steps(const queue_stage *s) {
    polytile_array *const turns[][N_FIELDS] = {{s->arrays[0], s->arrays[1]},
                                               {s->arrays[1], s->arrays[0]}};
    double start_s = bench_now_s();
    for (int k = 0; k < N_STEPS; k++)
        queue_stage_launch(s, POLYTILE_INTERIOR(1, EXTENT, EXTENT), turns[k % 2]);
    queue_stage_wait(s);
    return bench_now_s() - start_s;
}

static double time_one(void *subject) {
    return time_steps(&((steps *)subject)->stage[0]);
}

static double time_all(void *subject) {
    return time_steps(&((steps *)subject)->stage[1]);
}

static void open_side(steps *s, int side, int n_gpus) {
    const int64_t extents[] = {EXTENT, EXTENT};
    const int64_t n_bytes = (int64_t)EXTENT * EXTENT * (int64_t)sizeof(float);
    open_on(&s->stage[side], n_gpus, 3 * n_bytes, JACOBI_DECLARATION, jacobi_f32_implementation());
    for (int f = 0; f < N_FIELDS; f++) {
        s->field[side][f] = gpu_allocate_pinned(n_bytes);
        gpu_fill_random(s->field[side][f], (int64_t)EXTENT * EXTENT, 8 + (uint64_t)f);
        queue_stage_wrap(&s->stage[side], 2, extents, s->field[side][f]);
    }
    queue_stage_attach(&s->stage[side]);
}

void several_jacobi(void) {
    enum { FEW = 3 };
    int n_gpus = count_gpus();
    steps s = {0};
    bench_times all = {0}, one = {0};
    char name[56];
    if (n_gpus < 2)
        return;
    gpu_begin(GPU_WAITS_AS_EVER);
    open_side(&s, 0, 1);
    open_side(&s, 1, n_gpus);
    gpu_alternate_few(FEW, time_all, time_one, &s, &all, &one);
    for (int side = 0; side < N_SIDES; side++)
        queue_stage_detach(&s.stage[side]);
    gpu_require_equal("A", s.field[1][0], s.field[0][0], (int64_t)EXTENT * EXTENT);
    snprintf(name, sizeof name, "jacobi 32768^2 resident, 1000 steps, %d GPUs", n_gpus);
    gpu_report(&(gpu_comparison){name, "one GPU", &all, &one, BENCH_AT_LEAST,
                                 target_of(n_gpus, 1.9, 3.6), 0.0});
}
