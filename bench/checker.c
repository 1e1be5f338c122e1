/* What it costs to prove a plan right, against making it: single launches, and chains of them. */
#include "common/proof.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"

/** Launches, and their limit. A chain needs only the first array afterwards. */
typedef struct checker_case {
    proof_case launches;
    int64_t limit_bytes;
} checker_case;

#define MIB    INT64_C(1048576)
#define GIB    INT64_C(1073741824)
#define ADD    "add[i]: in x[i], y[i]; out z[i]"
#define JACOBI "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"
#define JACOBI_3D                                                                                  \
    "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]"
#define MATMUL "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]"

static const checker_case cases[] = {
    {{"vector add 67107840, 1 MiB", ADD, 1, {1, 1, 1}, 67107840, 0, 1}, 1 * MIB},
    {{"stencil 8192^2, 4 MiB", JACOBI, 2, {2, 2}, 8192, 1, 1}, 4 * MIB},
    {{"matmul 4096, 4 MiB", MATMUL, 2, {2, 2, 2}, 4096, 0, 1}, 4 * MIB},
    {{"stencil 1024^3, 1/8", JACOBI_3D, 3, {3, 3}, 1024, 1, 1}, 1 * GIB},
    {{"stencil 65536^2, 256 launches, 1/8", JACOBI, 2, {2, 2}, 65536, 1, 256}, 4 * GIB},
    {{"stencil 65536^2, 256 launches, 1/32", JACOBI, 2, {2, 2}, 65536, 1, 256}, 1 * GIB},
    {{"stencil 1024^3, 100 launches, 1/8", JACOBI_3D, 3, {3, 3}, 1024, 1, 100}, 1 * GIB},
    {{"stencil 2048^3, 100 launches, 1/8", JACOBI_3D, 3, {3, 3}, 2048, 1, 100}, 8 * GIB},
    {{"stencil 1024^2, 2 launches, 64 KiB", JACOBI, 2, {2, 2}, 1024, 1, 2}, MIB / 16},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** What is planned, with its limit. */
typedef struct subject {
    proof_subject of;
    int64_t limit_bytes;
} subject;

static void *make_plan(const void *of) {
    const subject *s = of;
    const polytile_chain_launch *launch = s->of.launch;
    const int n_launches = s->of.c->n_launches;
    polytile_launch_options options = {.plan.limit_bytes = s->limit_bytes};
    polytile_plan *plan;
    bench_require(n_launches == 1
                      ? polytile_plan_create(launch->kernel, &launch->domain, launch->n_arrays,
                                             launch->arrays, &options, &plan)
                      : polytile_plan_create_chain(n_launches, launch, 1, &s->of.arrays[0][1],
                                                   &options.plan, &plan),
                  s->of.ctx);
    return plan;
}

static double count_ops(const void *plan) {
    return (double)((const polytile_plan *)plan)->schedule->n_ops;
}

static void check_plan(const void *plan) {
    pti_text why = {0};
    proof_require(pti_schedule_check(((const polytile_plan *)plan)->schedule, &why), why.data);
    pti_text_free(&why);
}

static void destroy_plan(void *plan) {
    polytile_plan_destroy(plan);
}

static void run_case(bench *b, const checker_case *c) {
    static const proof_kind single = {make_plan, count_ops, check_plan, destroy_plan};
    subject s = {.limit_bytes = c->limit_bytes};
    proof_begin(&s.of, &c->launches);
    const double part = proof_measure(b, c->launches.name, &single, &s);
    bench_report(b, &(bench_figure){c->launches.name, "check_of_plan", part, BENCH_AT_MOST, 0.05});
    proof_end(&s.of);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "checker", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
