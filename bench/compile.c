/* Kernels from text: how long compiling takes, how long finding what was compiled, and how fast the
 * kernels are beside those that were built with the program. */
#include "common/bench.h"
#include "jacobi_kernels.h"
#include "vector_add_kernels.h"

#include <polytile/compile.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char add_body[] = "z(i) = x(i) + y(i);";
static const char jacobi_body[] =
    "B(i, j) = (((A(i, j) + A(i - 1, j)) + A(i + 1, j)) + (A(i, j - 1) + A(i, j + 1))) * 0.2f;";
static const polytile_type f32s[] = {POLYTILE_F32, POLYTILE_F32, POLYTILE_F32};

static polytile_context *create_context(void) {
    polytile_context *ctx = NULL;
    bench_require(polytile_context_create(&ctx), ctx);
    return ctx;
}

/* Compiling. */

static polytile_kernel *compile(polytile_context *ctx, int capability, const char *body) {
    const polytile_compile_options options = {
        .n_types = 3, .types = f32s, .cuda_capability = capability};
    polytile_kernel *kernel = NULL;
    bench_require(polytile_kernel_compile(ctx, ADD_DECLARATION, body, &options, &kernel), ctx);
    return kernel;
}

/** The first launch loads what was compiled. */
static void launch_once(polytile_context *ctx, const polytile_kernel *kernel) {
    static float data[3][8];
    polytile_array *arrays[3];
    polytile_device *device;
    for (int a = 0; a < 3; a++)
        bench_require(
            polytile_array_wrap(ctx, "x", POLYTILE_F32, 1, (int64_t[]){8}, data[a], &arrays[a]),
            ctx);
    bench_require(polytile_device_open(ctx, "host(threads=1)", &device), ctx);
    bench_require(polytile_run(device, kernel, POLYTILE_EXTENTS(8), 3, arrays, NULL), ctx);
}

/** Return the seconds until a body has run, or for a GPU is compiled, in a new context. */
static double time_body(int capability, const char *body) {
    polytile_context *ctx = create_context();
    const double begin_s = bench_now_s();
    const polytile_kernel *kernel = compile(ctx, capability, body);
    if (capability == 0)
        launch_once(ctx, kernel);
    const double took_s = bench_now_s() - begin_s;
    polytile_context_destroy(ctx);
    return took_s;
}

/** Bodies that nobody compiled before, and then each again. */
static void measure_compiling(bench *b, const char *subject, int capability) {
    const double most_once_ms = 1500, most_kept_ms = 10;
    bench_times once = {0}, kept = {0};
    char body[64];
    for (int k = 0; k < BENCH_REPETITIONS; k++) {
        snprintf(body, sizeof body, "z(i) = x(i) + y(i) + %d;", k);
        bench_add_time(&once, time_body(capability, body));
        bench_add_time(&kept, time_body(capability, body));
    }
    bench_report(b, &(bench_figure){subject, "compile_ms", 1e3 * bench_median(&once), BENCH_AT_MOST,
                                    most_once_ms});
    bench_report(b, &(bench_figure){subject, "from_disk_ms", 1e3 * bench_median(&kept),
                                    BENCH_AT_MOST, most_kept_ms});
}

static bool has_nvrtc(int capability) {
    polytile_context *ctx = create_context();
    const polytile_compile_options options = {
        .n_types = 3, .types = f32s, .cuda_capability = capability};
    polytile_kernel *kernel = NULL;
    const bool has =
        polytile_kernel_compile(ctx, ADD_DECLARATION, add_body, &options, &kernel) == POLYTILE_OK;
    if (!has)
        printf("GPUs left out: %s\n", polytile_last_error(ctx));
    polytile_context_destroy(ctx);
    return has;
}

/* Running. */

/** A kernel from text and the same built with this program. */
typedef struct contest {
    const char *name;
    const char *declaration, *body;
    const polytile_implementation *(*built)(void);
    int n_arrays;
    int n_dims;
    int64_t extent, border;
    int n_times; /* launches that are timed together */
} contest;

static const contest contests[] = {
    {"vector add, 64 Mi", ADD_DECLARATION, add_body, add_f32_implementation, 3, 1, 64 << 20, 0, 1},
    {"vector add, 64 Ki", ADD_DECLARATION, add_body, add_f32_implementation, 3, 1, 64 << 10, 0,
     1000},
    {"jacobi 8192x8192", JACOBI_DECLARATION, jacobi_body, jacobi_f32_implementation, 2, 2, 8192, 1,
     1},
    {"jacobi 256x256", JACOBI_DECLARATION, jacobi_body, jacobi_f32_implementation, 2, 2, 256, 1,
     1000},
};

/** Seconds that the calling thread ran: other work on the machine does not count. */
static double thread_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/** Where both run: in place on one thread of the host, or in a queue on a GPU, where arrays
 * stay. */
typedef struct arena {
    polytile_context *ctx;
    polytile_device *device; /* NULL: the queue */
    polytile_queue *queue;   /* NULL: the device */
    polytile_kernel *kernels[2];
    polytile_array *arrays[3];
    void *data[3];
} arena;

static double time_in_place(const arena *in, int kernel, const polytile_domain *threads,
                            const contest *of) {
    const double begin_s = thread_now_s();
    for (int k = 0; k < of->n_times; k++)
        bench_require(
            polytile_run(in->device, in->kernels[kernel], threads, of->n_arrays, in->arrays, NULL),
            in->ctx);
    return thread_now_s() - begin_s;
}

static double time_queued(const arena *in, int kernel, const polytile_domain *threads,
                          const contest *of) {
    const double begin_s = bench_now_s();
    for (int k = 0; k < of->n_times; k++)
        bench_require(polytile_queue_launch(in->queue, in->kernels[kernel], threads, of->n_arrays,
                                            in->arrays, NULL),
                      in->ctx);
    bench_require(polytile_queue_wait(in->queue), in->ctx);
    return bench_now_s() - begin_s;
}

static int64_t bytes_of(const contest *of) {
    return (int64_t)sizeof(float) * of->extent * (of->n_dims == 2 ? of->extent : 1);
}

static void compare(const arena *in, const contest *of, bench_times *times) {
    const int64_t extents[] = {of->extent, of->extent};
    const polytile_domain threads = polytile_domain_from_interior(of->border, of->n_dims, extents);
    const double begin_s = bench_now_s();
    do {
        for (int k = 0; k < 2; k++)
            bench_add_time(&times[k],
                           (in->queue != NULL ? time_queued : time_in_place)(in, k, &threads, of));
    } while (!bench_is_enough(&times[0], bench_now_s() - begin_s));
}

static void create_kernels_and_arrays(arena *in, const contest *of) {
    static const char *const names[] = {"x", "y", "z"};
    const int64_t extents[] = {of->extent, of->extent};
    bench_require(
        polytile_kernel_compile(in->ctx, of->declaration, of->body, NULL, &in->kernels[0]),
        in->ctx);
    bench_require(polytile_kernel_create(in->ctx, of->declaration, of->built(), &in->kernels[1]),
                  in->ctx);
    for (int a = 0; a < of->n_arrays; a++) {
        in->data[a] = bench_allocate(bytes_of(of));
        bench_require(polytile_array_wrap(in->ctx, names[a], POLYTILE_F32, of->n_dims, extents,
                                          in->data[a], &in->arrays[a]),
                      in->ctx);
    }
}

static void report_contest(bench *b, const contest *of, const char *figure, arena *in) {
    const double most = 1.02;
    bench_times times[2] = {{0}, {0}};
    create_kernels_and_arrays(in, of);
    if (in->queue != NULL)
        bench_require(polytile_queue_attach(in->queue, of->n_arrays, in->arrays), in->ctx);
    compare(in, of, times);
    bench_report(b,
                 &(bench_figure){of->name, figure, bench_least(&times[0]) / bench_least(&times[1]),
                                 BENCH_AT_MOST, most});
    polytile_queue_destroy(in->queue);
    polytile_context_destroy(in->ctx);
    for (int a = 0; a < of->n_arrays; a++)
        bench_free(in->data[a], bytes_of(of));
}

static void measure_running(bench *b, const contest *of) {
    arena in = {.ctx = create_context()};
    bench_require(polytile_device_open(in.ctx, "host(threads=1)", &in.device), in.ctx);
    report_contest(b, of, "over_built", &in);
}

/** The same in queues on a GPU, with kernels that nvcc built; nothing where there is none. */
static void measure_on_gpu(bench *b) {
    static const contest on_gpu[] = {
        {"vector add, 64 Mi, cuda:0", ADD_DECLARATION, add_body, add_f32_implementation, 3, 1,
         64 << 20, 0, 100},
        {"jacobi 8192x8192, cuda:0", JACOBI_DECLARATION, jacobi_body, jacobi_f32_implementation, 2,
         2, 8192, 1, 100},
    };
    for (size_t k = 0; k < sizeof on_gpu / sizeof *on_gpu; k++) {
        arena in = {.ctx = create_context()};
        if (polytile_queue_create(in.ctx, "cuda:0", &in.queue) == POLYTILE_OK) {
            report_contest(b, &on_gpu[k], "over_built", &in);
            continue;
        }
        printf("%s left out: %s\n", on_gpu[k].name, polytile_last_error(in.ctx));
        polytile_context_destroy(in.ctx);
    }
}

static void remove_directory(const char *directory) {
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    if (system(command) != 0)
        perror(directory);
}

int main(int argc, char **argv) {
    enum { CAPABILITY = 90 };
    char directory[] = "/tmp/polytile-bench-XXXXXX";
    bench b;
    if (mkdtemp(directory) == NULL || setenv("POLYTILE_CACHE", directory, 1) != 0) {
        perror(directory);
        return 1;
    }
    if (!bench_begin(&b, "compile", argc, argv))
        return 1;
    measure_compiling(&b, "a body for the host", 0);
    if (has_nvrtc(CAPABILITY))
        measure_compiling(&b, "a body for a GPU", CAPABILITY);
    for (size_t k = 0; k < sizeof contests / sizeof *contests; k++)
        measure_running(&b, &contests[k]);
    measure_on_gpu(&b);
    remove_directory(directory);
    return bench_end(&b);
}
