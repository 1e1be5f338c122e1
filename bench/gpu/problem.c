#include "gpu/problem.h"

#include "gpu/report.h"

#include <time.h>

static void require(const problem *p, polytile_status status, const char *what) {
    if (status != POLYTILE_OK)
        gpu_fail("%s: %s: %s", what, polytile_status_text(status),
                 p->ctx != NULL ? polytile_last_error(p->ctx) : "");
}

void problem_open(problem *p, int64_t memory_bytes, const char *declaration,
                  const polytile_implementation *implementation) {
    char text[64];
    *p = (problem){0};
    snprintf(text, sizeof text, "cuda:0(memory=%lldB)", (long long)memory_bytes);
    require(p, polytile_context_create(&p->ctx), "polytile_context_create");
    require(p, polytile_device_open(p->ctx, text, &p->device), text);
    require(p, polytile_kernel_create(p->ctx, declaration, implementation, &p->kernel),
            declaration);
}

void problem_wrap(problem *p, int n_dims, const int64_t *extents, float *data) {
    const char *name = polytile_kernel_get_array_name(p->kernel, p->n_arrays);
    require(p,
            polytile_array_wrap(p->ctx, name, POLYTILE_F32, n_dims, extents, data,
                                &p->arrays[p->n_arrays]),
            "polytile_array_wrap");
    p->n_arrays++;
}

void problem_plan(problem *p, const polytile_domain *threads,
                  const polytile_launch_options *options) {
    polytile_launch_options complete = options != NULL ? *options : (polytile_launch_options){0};
    if (complete.plan.limit_bytes == 0)
        complete.plan.limit_bytes = polytile_device_get_limit(p->device);
    if (complete.plan.link == NULL)
        complete.plan.link = polytile_device_get_link(p->device);
    double start_s = bench_now_s();
    require(p,
            polytile_plan_create(p->kernel, threads, polytile_kernel_get_n_arrays(p->kernel),
                                 p->arrays, &complete, &p->plan),
            "polytile_plan_create");
    p->plan_s = bench_now_s() - start_s;
    polytile_plan_get_summary(p->plan, &p->summary);
}

double problem_run(const problem *p) {
    double start_s = bench_now_s();
    require(p,
            polytile_plan_run(p->plan, p->device, p->kernel,
                              polytile_kernel_get_n_arrays(p->kernel), p->arrays, &p->values),
            "polytile_plan_run");
    return bench_now_s() - start_s;
}

void problem_close(problem *p) {
    polytile_context_destroy(p->ctx);
    *p = (problem){0};
}

static double thread_cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void problem_report_overhead(const problem *p, const char *name) {
    bench_times work = {0}, run = {0};
    problem_run(p);
    for (int r = 0; r < PROBLEM_OVERHEAD_RUNS; r++) {
        double start_s = thread_cpu_s();
        bench_add_time(&run, problem_run(p));
        bench_add_time(&work, p->plan_s + thread_cpu_s() - start_s);
    }
    gpu_report(&(gpu_comparison){.name = name,
                                 .against = "the run",
                                 .ours = &work,
                                 .rival = &run,
                                 .relation = BENCH_AT_MOST,
                                 .target = 0.01,
                                 .plan_s = p->plan_s});
}
