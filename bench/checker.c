/* What it costs to prove a plan right, against making it: single launches, and chains of them. */
#include "common/bench.h"
#include "partition/prove/check.h"
#include "partition/window/plan.h"

#include <stdlib.h>

/** A kernel over arrays of f32 with equal extents, whose threads leave out a border. A chain of
 * launches reads and writes the two arrays in turn, and needs only the first one afterwards. */
typedef struct checker_case {
    const char *name;
    const char *declaration;
    int n_indices;
    int64_t extent;
    int64_t border;
    int n_launches;
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
    {"vector add 67107840, 1 MiB", ADD, 1, 67107840, 0, 1, 1 * MIB},
    {"stencil 8192^2, 4 MiB", JACOBI, 2, 8192, 1, 1, 4 * MIB},
    {"matmul 4096, 4 MiB", MATMUL, 2, 4096, 0, 1, 4 * MIB},
    {"stencil 1024^3, 1/8", JACOBI_3D, 3, 1024, 1, 1, 1 * GIB},
    {"stencil 65536^2, 256 launches, 1/8", JACOBI, 2, 65536, 1, 256, 4 * GIB},
    {"stencil 65536^2, 256 launches, 1/32", JACOBI, 2, 65536, 1, 256, 1 * GIB},
    {"stencil 1024^3, 100 launches, 1/8", JACOBI_3D, 3, 1024, 1, 100, 1 * GIB},
    {"stencil 2048^3, 100 launches, 1/8", JACOBI_3D, 3, 2048, 1, 100, 8 * GIB},
    {"stencil 1024^2, 2 launches, 64 KiB", JACOBI, 2, 1024, 1, 2, MIB / 16},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]), MOST_ARRAYS = 3 };

/** What a case has when its kernel and arrays exist. */
typedef struct subject {
    const checker_case *c;
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_array *arrays[2][MOST_ARRAYS]; /* of launches of even and odd numbers */
    polytile_chain_launch *launch;          /* owned */
} subject;

static void report(bench *b, const subject *s, const char *figure, double value,
                   bench_relation relation, double target) {
    bench_report(b, &(bench_figure){s->c->name, figure, value, relation, target});
}

static void describe_arrays(subject *s) {
    const int64_t extents[] = {s->c->extent, s->c->extent, s->c->extent};
    polytile_domain whole = polytile_domain_from_extents(s->c->n_indices, extents);
    int n_arrays = polytile_kernel_get_n_arrays(s->kernel);
    for (int a = 0; a < n_arrays; a++) {
        const char *name = polytile_kernel_get_array_name(s->kernel, a);
        bench_require(polytile_array_describe(s->ctx, name, POLYTILE_F32, &whole, &s->arrays[0][a]),
                      s->ctx);
        s->arrays[1][n_arrays - 1 - a] = s->arrays[0][a];
    }
}

static void begin(subject *s, const checker_case *c) {
    const int64_t extents[] = {c->extent, c->extent, c->extent};
    *s = (subject){.c = c, .launch = calloc((size_t)c->n_launches, sizeof *s->launch)};
    bench_require(s->launch == NULL ? POLYTILE_NO_MEMORY : POLYTILE_OK, NULL);
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, NULL, &s->kernel), s->ctx);
    describe_arrays(s);
    for (int l = 0; l < c->n_launches; l++)
        s->launch[l] = (polytile_chain_launch){
            .kernel = s->kernel,
            .domain = polytile_domain_from_interior(c->border, c->n_indices, extents),
            .n_arrays = 2,
            .arrays = s->arrays[l % 2]};
}

static void end(subject *s) {
    polytile_context_destroy(s->ctx);
    free(s->launch);
}

static polytile_plan *make_plan(const subject *s) {
    const checker_case *c = s->c;
    polytile_launch_options options = {.plan.limit_bytes = c->limit_bytes};
    polytile_plan *plan;
    bench_require(c->n_launches == 1
                      ? polytile_plan_create(s->kernel, &s->launch->domain,
                                             polytile_kernel_get_n_arrays(s->kernel),
                                             s->launch->arrays, &options, &plan)
                      : polytile_plan_create_chain(c->n_launches, s->launch, 1, &s->arrays[0][1],
                                                   &options.plan, &plan),
                  s->ctx);
    return plan;
}

static void check_plan(const polytile_plan *plan) {
    pti_text why = {0};
    bool holds = pti_schedule_check(plan->schedule, &why);
    if (!holds) {
        fprintf(stderr, "checker: %s\n", why.data == NULL ? "" : why.data);
        exit(EXIT_FAILURE);
    }
    pti_text_free(&why);
}

static void run_case(bench *b, const checker_case *c) {
    subject s;
    bench_times planning = {0}, checking = {0};
    int64_t n_ops = 0;
    begin(&s, c);
    for (int repetition = 0; repetition < BENCH_REPETITIONS; repetition++) {
        double start_s = bench_now_s();
        polytile_plan *plan = make_plan(&s);
        bench_add_time(&planning, bench_now_s() - start_s);
        n_ops = plan->schedule->n_ops;
        start_s = bench_now_s();
        check_plan(plan);
        bench_add_time(&checking, bench_now_s() - start_s);
        polytile_plan_destroy(plan);
    }
    report(b, &s, "operations", (double)n_ops, BENCH_NO_TARGET, 0);
    report(b, &s, "plan_ms", 1e3 * bench_least(&planning), BENCH_NO_TARGET, 0);
    report(b, &s, "check_ms", 1e3 * bench_least(&checking), BENCH_NO_TARGET, 0);
    report(b, &s, "check_us_an_operation", 1e6 * bench_least(&checking) / (double)n_ops,
           BENCH_NO_TARGET, 0);
    report(b, &s, "check_of_plan", bench_least(&checking) / bench_least(&planning), BENCH_AT_MOST,
           0.05);
    end(&s);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "checker", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
