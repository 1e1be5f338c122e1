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

static double time_launches(polytile_device *device, const polytile_kernel *kernel,
                            const polytile_domain *threads, const contest *of,
                            polytile_array *const *arrays) {
    const double begin_s = thread_now_s();
    for (int k = 0; k < of->n_times; k++)
        bench_require(polytile_run(device, kernel, threads, of->n_arrays, arrays, NULL), NULL);
    return thread_now_s() - begin_s;
}

static int64_t bytes_of(const contest *of) {
    return (int64_t)sizeof(float) * of->extent * (of->n_dims == 2 ? of->extent : 1);
}

static void compare(polytile_device *device, const contest *of, polytile_kernel *const *kernels,
                    polytile_array *const *arrays, bench_times *times) {
    const int64_t extents[] = {of->extent, of->extent};
    const polytile_domain threads = polytile_domain_from_interior(of->border, of->n_dims, extents);
    const double begin_s = bench_now_s();
    do {
        for (int k = 0; k < 2; k++)
            bench_add_time(&times[k], time_launches(device, kernels[k], &threads, of, arrays));
    } while (!bench_is_enough(&times[0], bench_now_s() - begin_s));
}

static void measure_running(bench *b, const contest *of) {
    static const char *const names[] = {"x", "y", "z"};
    const double most = 1.02;
    const int64_t extents[] = {of->extent, of->extent};
    polytile_context *ctx = create_context();
    polytile_kernel *kernels[2];
    polytile_array *arrays[3];
    polytile_device *device;
    void *data[3];
    bench_times times[2] = {{0}, {0}};
    bench_require(polytile_device_open(ctx, "host(threads=1)", &device), ctx);
    bench_require(polytile_kernel_compile(ctx, of->declaration, of->body, NULL, &kernels[0]), ctx);
    bench_require(polytile_kernel_create(ctx, of->declaration, of->built(), &kernels[1]), ctx);
    for (int a = 0; a < of->n_arrays; a++) {
        data[a] = bench_allocate(bytes_of(of));
        bench_require(polytile_array_wrap(ctx, names[a], POLYTILE_F32, of->n_dims, extents, data[a],
                                          &arrays[a]),
                      ctx);
    }
    compare(device, of, kernels, arrays, times);
    bench_report(b, &(bench_figure){of->name, "over_built",
                                    bench_least(&times[0]) / bench_least(&times[1]), BENCH_AT_MOST,
                                    most});
    polytile_context_destroy(ctx);
    for (int a = 0; a < of->n_arrays; a++)
        bench_free(data[a], bytes_of(of));
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
    remove_directory(directory);
    return bench_end(&b);
}
