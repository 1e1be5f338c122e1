/* Steps of Jacobi on fields that stay on the GPU, several a kernel by hand, against a plain launch
 * a step: in two dimensions what the library should come to, in three whether tiles of several
 * steps would pay. */
#include "gpu/cases.h"
#include "gpu/gpu.h"
#include "gpu/kernels.h"
#include "gpu/planes.h"
#include "gpu/tiles.h"

enum { N_FIELDS = 2 };

/** A field of `extent` elements along each dimension, and how its steps are made. */
typedef struct sweep {
    const char *name;
    int64_t extent;
    int n_dims;
    int n_steps;
    int n_together; /* steps a kernel: an odd number, so that the other field gets the last */
    uint64_t seed;
    const void *(*plain)(void); /* the kernel of a step */
    cudaError_t (*launch)(const float *from, float *to, int64_t n, int n_together,
                          cudaStream_t stream);
} sweep;

/** Both ways have two fields of their own, which begin alike and go through as many steps. */
typedef enum way { TOGETHER, PLAIN, N_WAYS } way;

typedef struct contest {
    const sweep *of;
    int64_t n_elements;
    float *host[N_WAYS][N_FIELDS];
    float *field[N_WAYS][N_FIELDS];
    cudaStream_t stream;
} contest;

static void step_plainly(const contest *c, way by, int step) {
    int64_t n = c->of->extent;
    void *arguments[] = {(void *)&c->field[by][step % 2], (void *)&c->field[by][1 - step % 2], &n};
    dim3 block = {32, 8, 1};
    dim3 grid = {(unsigned)(n / 32), (unsigned)(n / 8), c->of->n_dims == 3 ? (unsigned)(n - 2) : 1};
    GPU_CALL(cudaLaunchKernel(c->of->plain(), grid, block, arguments, 0, c->stream));
}

/** The last two steps or more are launches of their own, so that both fields have what their last
 * step wrote. */
static double time_together(void *subject) {
    const contest *c = subject;
    const sweep *of = c->of;
    float *const *field = c->field[TOGETHER];
    double start_s = bench_now_s();
    int step = 0;
    for (; step + of->n_together + 2 <= of->n_steps; step += of->n_together)
        GPU_CALL(of->launch(field[step % 2], field[1 - step % 2], of->extent, of->n_together,
                            c->stream));
    for (; step < of->n_steps; step++)
        step_plainly(c, TOGETHER, step);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static double time_plain(void *subject) {
    const contest *c = subject;
    double start_s = bench_now_s();
    for (int step = 0; step < c->of->n_steps; step++)
        step_plainly(c, PLAIN, step);
    GPU_CALL(cudaStreamSynchronize(c->stream));
    return bench_now_s() - start_s;
}

static size_t bytes_of_field(const contest *c) {
    return (size_t)c->n_elements * sizeof(float);
}

static void create(contest *c, const sweep *of) {
    c->of = of;
    c->n_elements = 1;
    for (int d = 0; d < of->n_dims; d++)
        c->n_elements *= of->extent;
    GPU_CALL(cudaStreamCreateWithFlags(&c->stream, cudaStreamNonBlocking));
    for (int w = 0; w < N_WAYS; w++)
        for (int f = 0; f < N_FIELDS; f++) {
            c->host[w][f] = gpu_allocate_pinned((int64_t)bytes_of_field(c));
            gpu_fill_random(c->host[w][f], c->n_elements, of->seed + (uint64_t)f);
            GPU_CALL(cudaMalloc((void **)&c->field[w][f], bytes_of_field(c)));
            GPU_CALL(cudaMemcpy(c->field[w][f], c->host[w][f], bytes_of_field(c),
                                cudaMemcpyHostToDevice));
        }
}

static void check_same(const contest *c) {
    for (int f = 0; f < N_FIELDS; f++) {
        for (int w = 0; w < N_WAYS; w++)
            GPU_CALL(cudaMemcpy(c->host[w][f], c->field[w][f], bytes_of_field(c),
                                cudaMemcpyDeviceToHost));
        gpu_require_same_bits("the field", c->host[TOGETHER][f], c->host[PLAIN][f], c->n_elements);
    }
}

static void compare(const sweep *of) {
    contest c = {0};
    bench_times together = {0}, plain = {0};
    gpu_begin(GPU_WAITS_AS_EVER);
    create(&c, of);
    gpu_alternate_few(5, time_together, time_plain, &c, &together, &plain);
    check_same(&c);
    gpu_report(&(gpu_comparison){
        .name = of->name, .against = "plain CUDA launches", .ours = &together, .rival = &plain});
}

/** Of as many steps as tiles are made for. */
static cudaError_t launch_tiles(const float *from, float *to, int64_t n, int n_together,
                                cudaStream_t stream) {
    return n_together == TILES_N_STEPS ? gpu_tiles_launch(from, to, n, stream)
                                       : cudaErrorInvalidValue;
}

void tiles_by_hand(void) {
    compare(&(sweep){"jacobi 16384^2, 200 steps in tiles by hand", 16384, 2, 200, TILES_N_STEPS, 41,
                     gpu_plain_jacobi, launch_tiles});
}

void planes_by_hand_few(void) {
    compare(&(sweep){"jacobi 640^3, 60 steps, 3 a kernel by hand", 640, 3, 60, PLANES_FEW_STEPS, 43,
                     gpu_plain_jacobi3d, gpu_planes_launch});
}

void planes_by_hand_many(void) {
    compare(&(sweep){"jacobi 640^3, 60 steps, 5 a kernel by hand", 640, 3, 60, PLANES_MANY_STEPS,
                     43, gpu_plain_jacobi3d, gpu_planes_launch});
}
