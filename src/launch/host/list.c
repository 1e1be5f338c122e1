#include "launch/host/host.h"

#include "base/checked.h"
#include "base/clock.h"
#include "launch/host/copy/box_copy.h"
#include "launch/host/host_launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LARGE_BYTES = 64 * 1024 * 1024,
    SMALL_BYTES = 64,
    CACHED_BYTES = 1024 * 1024,
    RUN_BYTES = 256,    /* a contiguous run of the strided transfer */
    N_LARGE_TRIALS = 4, /* the best counts; the first one also touches the pages */
    N_SMALL_TRIALS = 200,
};

/** Two buffers to copy between. */
typedef struct host_bench {
    char *host;
    char *device;
    int n_threads;
} host_bench;

/** A timed function; bytes is what one call goes through. */
typedef void trial(const host_bench *bench, int64_t bytes);

static void copy_to_measure(const host_bench *bench, char *to, char *from, int64_t bytes) {
    polytile_domain box = polytile_domain_from_extents(1, &bytes);
    pti_memory_layout layout = pti_memory_layout_of(&box, 1);
    pti_move move = {&box, 1, {to, &layout}, {from, &layout}};
    pti_box_copy(&move, bench->n_threads);
}

static void copy_up(const host_bench *bench, int64_t bytes) {
    copy_to_measure(bench, bench->device, bench->host, bytes);
}

static void copy_down(const host_bench *bench, int64_t bytes) {
    copy_to_measure(bench, bench->host, bench->device, bytes);
}

/** Copy half each way, one after the other, as the executor does on the host. */
static void both_ways(const host_bench *bench, int64_t bytes) {
    copy_up(bench, bytes / 2);
    copy_to_measure(bench, bench->host + bytes / 2, bench->device + bytes / 2, bytes / 2);
}

/** Copy every other run of an array into a dense buffer: half the bytes of a plain upload. */
static void upload_runs(const host_bench *bench, int64_t bytes) {
    int64_t extents[] = {bytes / (2 * RUN_BYTES), 2 * RUN_BYTES};
    polytile_domain array = polytile_domain_from_extents(2, extents);
    polytile_domain box = array;
    box.range[1].hi = RUN_BYTES - 1;
    pti_memory_layout from = pti_memory_layout_of(&array, 1);
    pti_memory_layout to = pti_memory_layout_of(&box, 1);
    pti_move move = {&box, 1, {bench->device, &to}, {bench->host, &from}};
    pti_box_copy(&move, bench->n_threads);
}

static void increment_elements(const polytile_domain *threads, const polytile_view *views,
                               void *user) {
    (void)user;
    char *element = views[0].origin;
    for (int64_t k = threads->range[0].lo; k <= threads->range[0].hi; k++)
        element[k]++;
}

/** Run a kernel that reads and writes one array once. */
static void run_kernel(const host_bench *bench, int64_t bytes) {
    pti_operand operand = {.writes = true};
    pti_instance instance = {.n_operands = 1, .operand = &operand};
    polytile_implementation implementation = {.host = increment_elements};
    polytile_domain threads = polytile_domain_from_extents(1, &bytes);
    polytile_view view = {.origin = bench->device, .stride_bytes = {1}, .resident = threads};
    pti_sub_kernel sub_kernel = {.instance = &instance,
                                 .config = {.implementation = &implementation},
                                 .threads = &threads,
                                 .views = &view};
    pti_host_launch(&sub_kernel, bench->n_threads, NULL);
}

static double best_seconds(const host_bench *bench, trial *run, int64_t bytes, int n_trials) {
    double best_s = 1e9;
    for (int k = 0; k < n_trials; k++) {
        double start_s = pti_now_s();
        run(bench, bytes);
        double taken_s = pti_now_s() - start_s;
        best_s = taken_s < best_s ? taken_s : best_s;
    }
    return best_s > 0 ? best_s : 1e-9;
}

static polytile_link measure_link(const host_bench *bench) {
    double upload_s = best_seconds(bench, copy_up, LARGE_BYTES, N_LARGE_TRIALS);
    double download_s = best_seconds(bench, copy_down, LARGE_BYTES, N_LARGE_TRIALS);
    double runs_s = best_seconds(bench, upload_runs, LARGE_BYTES, N_LARGE_TRIALS);
    double both_s = best_seconds(bench, both_ways, LARGE_BYTES, N_LARGE_TRIALS);
    double kernel_s = best_seconds(bench, run_kernel, LARGE_BYTES, N_LARGE_TRIALS);
    double cached_s = best_seconds(bench, run_kernel, CACHED_BYTES, N_SMALL_TRIALS);
    return (polytile_link){
        .upload_bytes_per_s = LARGE_BYTES / upload_s,
        .download_bytes_per_s = LARGE_BYTES / download_s,
        .duplex_bytes_per_s = LARGE_BYTES / 2.0 / both_s,
        .run_overhead_bytes = RUN_BYTES * fmax(2 * runs_s / upload_s - 1, 0),
        .transfer_latency_s = best_seconds(bench, copy_up, SMALL_BYTES, N_SMALL_TRIALS),
        .launch_latency_s = best_seconds(bench, run_kernel, SMALL_BYTES, N_SMALL_TRIALS),
        .kernel_bytes_per_s = LARGE_BYTES / kernel_s,
        .kernel_accesses_per_s = 2.0 * CACHED_BYTES / cached_s,
    };
}

static int64_t memory_bytes(void) {
    int64_t n_bytes;
    if (pti_mul_overflows(sysconf(_SC_PHYS_PAGES), sysconf(_SC_PAGESIZE), &n_bytes))
        return INT64_MAX;
    return n_bytes;
}

/** Find the processor's name, as far as the system knows it. */
static void describe_processor(char *name, size_t capacity) {
    char line[256];
    snprintf(name, capacity, "processor");
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *value = strstr(line, ": ");
        if (strncmp(line, "model name", strlen("model name")) == 0 && value != NULL) {
            value[strcspn(value, "\n")] = '\0';
            snprintf(name, capacity, "%s", value + 2);
            break;
        }
    }
    if (file != NULL)
        fclose(file);
}

static polytile_status measure_into(polytile_context *ctx, polytile_device_info *info) {
    char processor[64];
    host_bench bench = {malloc(LARGE_BYTES), malloc(LARGE_BYTES), pti_host_default_threads()};
    polytile_status status = POLYTILE_OK;
    if (bench.host == NULL || bench.device == NULL)
        PTI_TRY(pti_fail_memory(ctx, "host: measuring", 2.0 * LARGE_BYTES));
    PTI_TRY(pti_host_probe_threads(ctx, bench.n_threads));
    memset(bench.host, 1, LARGE_BYTES);
    memset(bench.device, 1, LARGE_BYTES);
    *info = (polytile_device_info){.text = "host",
                                   .memory_bytes = memory_bytes(),
                                   .n_threads = bench.n_threads,
                                   .link = measure_link(&bench)};
    describe_processor(processor, sizeof processor);
    snprintf(info->description, sizeof info->description, "%s, %d OpenMP threads", processor,
             bench.n_threads);
done:
    free(bench.host);
    free(bench.device);
    return status;
}

polytile_status pti_host_list(polytile_context *ctx, int capacity, polytile_device_info *infos,
                              int *n_devices) {
    polytile_status status = POLYTILE_OK;
    if (*n_devices < capacity)
        PTI_TRY(measure_into(ctx, &infos[*n_devices]));
    ++*n_devices;
done:
    return status;
}
