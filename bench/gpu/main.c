/* The CUDA device against ceilings and rivals that are measured in the same run, side by side. */
#include "gpu/cases.h"
#include "gpu/several.h"
#include "gpu/table.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/** Seconds after which a case is ended: one that hangs must not take the others with it. */
enum { CASE_LIMIT_S = 90 };

typedef struct gpu_case {
    const char *name;
    void (*run)(void);
} gpu_case;

static const gpu_case cases[] = {
    {"vector_add_pinned", vector_add_pinned},
    {"vector_add_pageable", vector_add_pageable},
    {"vector_add_hand", vector_add_hand},
    {"resident", resident},
    {"small_kernels", small_kernels},
    {"stencil", stencil},
    {"transpose_16th", transpose_16th},
    {"transpose_64th", transpose_64th},
    {"sgemm", sgemm},
    {"large_sgemm_fp32_eighth", sgemm_fp32_eighth},
    {"large_sgemm_fp32_64th", sgemm_fp32_64th},
    {"large_sgemm_tf32_eighth", sgemm_tf32_eighth},
    {"coarse", coarse},
    {"tiles_by_hand", tiles_by_hand},
    {"planes_by_hand_few", planes_by_hand_few},
    {"planes_by_hand_many", planes_by_hand_many},
    {"queue_overhead", queue_overhead},
    {"queue_resident", queue_resident},
    {"queue_resident_weight", queue_resident_weight},
    {"queue_resident_field", queue_resident_field},
    {"wave_resident", wave_resident},
    {"wave_resident_in_place", wave_resident_in_place},
    {"wave_eighth", wave_eighth},
    {"queue_unfused", queue_unfused},
    {"queue_sweeps_in_place", queue_sweeps_in_place},
    {"queue_sweeps_jacobi", queue_sweeps_jacobi},
    {"skew_jacobi_eighth", skew_jacobi_eighth},
    {"skew_jacobi_32nd", skew_jacobi_32nd},
    {"skew_jacobi3d_eighth", skew_jacobi3d_eighth},
    {"skew_star_home", skew_star_home},
    {"skew_lattice_home", skew_lattice_home},
    {"skew_jacobi_resident", skew_jacobi_resident},
    {"skew_periodic_eighth", skew_periodic_eighth},
    {"parameter_saxpy_resident", parameter_saxpy_resident},
    {"parameter_saxpy_streamed", parameter_saxpy_streamed},
    {"parameter_enqueue", parameter_enqueue},
    {"parameter_jacobi", parameter_jacobi},
    {"several_vector_add", several_vector_add},
    {"several_jacobi", several_jacobi},
    {"several_sgemm", several_sgemm},
    {"several_panels", several_panels},
    {"several_policies", several_policies},
    {"several_graph", several_graph},
    {"apsp_limit", apsp_limit},
    {"apsp_with_host", apsp_with_host},
    {"apsp_two", apsp_two},
    {"apsp_lanes_rmat", apsp_lanes_rmat},
    {"apsp_lanes_uniform", apsp_lanes_uniform},
    {"apsp_lanes_small", apsp_lanes_small},
    {"apsp_lanes_grid", apsp_lanes_grid},
    {"messages_small", messages_small},
    {"messages_many", messages_many},
    {"messages_large", messages_large},
    {"messages_linked", messages_linked},
    {"crowded", crowded},
    {"sparse_uniform_resident", sparse_uniform_resident},
    {"sparse_band_resident", sparse_band_resident},
    {"sparse_uniform_eighth", sparse_uniform_eighth},
    {"sparse_band_eighth", sparse_band_eighth},
    {"sparse_power_eighth", sparse_power_eighth},
    {"host_overhead_vector_add", vector_add_overhead},
    {"host_overhead_stencil", stencil_overhead},
    {"host_overhead_sgemm", sgemm_overhead},
};
enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

typedef struct request {
    const char *json_path;
    const char *trace_folder; /* NULL: no traces */
    bool is_wanted[N_CASES];
    int n_wanted; /* 0: all */
} request;

static int usage(const char *program) {
    fprintf(stderr, "usage: %s [--json FILE] [--trace FOLDER] [--gpus N] [--only CASE]...\ncases:",
            program);
    for (int c = 0; c < N_CASES; c++)
        fprintf(stderr, " %s", cases[c].name);
    fputc('\n', stderr);
    return 2;
}

/** A name takes in all cases that begin with it. */
static bool want(request *r, const char *name) {
    int n_before = r->n_wanted;
    for (int c = 0; c < N_CASES; c++) {
        bool matches = strncmp(cases[c].name, name, strlen(name)) == 0;
        r->is_wanted[c] = r->is_wanted[c] || matches;
        r->n_wanted += matches;
    }
    return r->n_wanted > n_before;
}

static bool read_arguments(int argc, char **argv, request *r) {
    *r = (request){0};
    for (int a = 1; a < argc; a += 2) {
        if (a + 1 == argc)
            return false;
        if (strcmp(argv[a], "--json") == 0)
            r->json_path = argv[a + 1];
        else if (strcmp(argv[a], "--trace") == 0)
            r->trace_folder = argv[a + 1];
        else if (strcmp(argv[a], "--gpus") == 0)
            several_use(atoi(argv[a + 1]));
        else if (strcmp(argv[a], "--only") != 0 || !want(r, argv[a + 1]))
            return false;
    }
    return true;
}

/** What a case that left no text of its own ended with. */
static void note_end(gpu_results *results, int wait_status) {
    if (results->failure[0] != '\0' || (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0))
        return;
    if (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGALRM)
        snprintf(results->failure, sizeof results->failure, "took more than %d s", CASE_LIMIT_S);
    else if (WIFSIGNALED(wait_status))
        snprintf(results->failure, sizeof results->failure, "ended by signal %d (%s)",
                 WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    else
        snprintf(results->failure, sizeof results->failure, "ended with exit code %d, see stderr",
                 WEXITSTATUS(wait_status));
}

/** A process of its own for each case: a fault on the GPU, or its memory, ends with it. */
static void run_case(const gpu_case *c, const char *trace_folder, gpu_results *results) {
    char prefix[256];
    int wait_status = 0;
    *results = (gpu_results){0};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(CASE_LIMIT_S);
        gpu_report_into(results);
        snprintf(prefix, sizeof prefix, "%s/%s", trace_folder == NULL ? "" : trace_folder, c->name);
        queue_stage_trace(trace_folder == NULL ? NULL : prefix);
        c->run();
        queue_stage_end_traces();
        _exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &wait_status, 0) < 0)
        snprintf(results->failure, sizeof results->failure, "no process: %s", strerror(errno));
    else
        note_end(results, wait_status);
}

int main(int argc, char **argv) {
    request r;
    gpu_table table;
    if (!read_arguments(argc, argv, &r))
        return usage(argv[0]);
    gpu_results *results =
        mmap(NULL, sizeof *results, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (results == MAP_FAILED) {
        perror("mmap");
        return EXIT_FAILURE;
    }
    if (!gpu_table_begin(&table, r.json_path))
        return EXIT_FAILURE;
    for (int c = 0; c < N_CASES; c++) {
        if (r.n_wanted > 0 && !r.is_wanted[c])
            continue;
        double start_s = bench_now_s();
        run_case(&cases[c], r.trace_folder, results);
        gpu_table_add(&table, cases[c].name, results, bench_now_s() - start_s);
    }
    return gpu_table_end(&table);
}
