/* What it costs to prove what several members do together, against planning it. */
#include "common/bench.h"
#include "distribute/exchange/joint_plan.h"
#include "distribute/show/ranks_plan.h"
#include "partition/prove/joint/joint_check.h"

#include <stdlib.h>

/** A kernel over arrays of f32 with equal extents, whose threads leave out a border; launches read
 * and write the two arrays in turn. */
typedef struct joint_case {
    const char *name;
    const char *declaration;
    const char *layout;
    int n_dims; /* of the threads, and of each array as the next says */
    int array_dims[3];
    int64_t extent;
    int64_t border;
    int n_launches;
    int n_members;
} joint_case;

#define JACOBI   "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"
#define GEMM     "gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]"
#define TRIANGLE "lower[i]: in L[i, 0:i], x[0:i]; out y[i]"

static const joint_case cases[] = {
    {"stencil 8192^2, 64 launches, 2 members", JACOBI, "block", 2, {2, 2}, 8192, 1, 64, 2},
    {"stencil 8192^2, 64 launches, 16 members", JACOBI, "block", 2, {2, 2}, 8192, 1, 64, 16},
    {"stencil 8192^2, 64 launches, 64 members", JACOBI, "block", 2, {2, 2}, 8192, 1, 64, 64},
    {"stencil 4096^2, cyclic, 4 members", JACOBI, "cyclic(256)", 2, {2, 2}, 4096, 1, 1, 4},
    {"product 1024, 8 members", GEMM, "block", 3, {2, 2, 2}, 1024, 0, 1, 8},
    {"triangle, 2000 rows, 2 members", TRIANGLE, "block", 1, {2, 1, 1}, 2000, 0, 1, 2},
    {"triangle, 20000 rows, 2 members", TRIANGLE, "block", 1, {2, 1, 1}, 20000, 0, 1, 2},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]), MOST_ARRAYS = 3 };

/** What a case has when its launches are known. */
typedef struct subject {
    const joint_case *c;
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_array *arrays[2][MOST_ARRAYS]; /* of launches of even and odd numbers */
    polytile_chain_launch *launch;          /* owned */
    polytile_ranks_plan *plan;
} subject;

static void report(bench *b, const subject *s, const char *figure, double value,
                   bench_relation relation, double target) {
    bench_report(b, &(bench_figure){s->c->name, figure, value, relation, target});
}

static void describe_arrays(subject *s) {
    const int64_t extents[] = {s->c->extent, s->c->extent, s->c->extent};
    const int n_arrays = polytile_kernel_get_n_arrays(s->kernel);
    for (int a = 0; a < n_arrays; a++) {
        const polytile_domain whole = polytile_domain_from_extents(s->c->array_dims[a], extents);
        bench_require(
            polytile_array_describe(s->ctx, "array", POLYTILE_F32, &whole, &s->arrays[0][a]),
            s->ctx);
    }
    for (int a = 0; a < n_arrays; a++)
        s->arrays[1][a] = s->arrays[0][s->c->n_launches > 1 ? 1 - a : a];
}

static void begin(subject *s, const joint_case *c) {
    const int64_t extents[] = {c->extent, c->extent, c->extent};
    polytile_domain threads = polytile_domain_from_extents(c->n_dims, extents);
    *s = (subject){.c = c};
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, NULL, &s->kernel), s->ctx);
    describe_arrays(s);
    for (int d = 0; d < c->n_dims; d++) {
        threads.range[d].lo += c->border;
        threads.range[d].hi -= c->border;
    }
    s->launch = calloc((size_t)c->n_launches, sizeof *s->launch);
    if (s->launch == NULL)
        abort();
    for (int l = 0; l < c->n_launches; l++)
        s->launch[l] = (polytile_chain_launch){.kernel = s->kernel,
                                               .domain = threads,
                                               .n_arrays = polytile_kernel_get_n_arrays(s->kernel),
                                               .arrays = s->arrays[l % 2]};
    const polytile_ranks_request request = {.n_launches = c->n_launches,
                                            .launches = s->launch,
                                            .n_ranks = c->n_members,
                                            .share.layout = c->layout};
    bench_require(polytile_ranks_plan_create(&request, &s->plan), s->ctx);
}

static void end(subject *s) {
    polytile_ranks_plan_destroy(s->plan);
    for (int a = 0; a < polytile_kernel_get_n_arrays(s->kernel); a++)
        polytile_array_destroy(s->arrays[0][a]);
    polytile_kernel_destroy(s->kernel);
    polytile_context_destroy(s->ctx);
    free(s->launch);
}

/** The first superstep of ranks. */
static pti_joint_schedule *plan_joint(const subject *s) {
    const pti_members_plan *members = &s->plan->members;
    const pti_superstep superstep =
        pti_members_plan_superstep(&s->plan->asked_of, members, 0, members->n_first);
    pti_superstep_parts parts;
    pti_copies before = {0}, after = {0};
    bool none[MOST_ARRAYS] = {false};
    if (!pti_copies_create(members->n_arrays, members->n_members, &before) ||
        !pti_copies_create(members->n_arrays, members->n_members, &after) ||
        !pti_superstep_deal(&superstep, 0, members->n_members, &after, &parts))
        abort();
    const pti_joint_request request = {
        .superstep = &superstep, .parts = &parts, .is_shared = none, .is_lent = none};
    pti_joint_schedule *schedule = pti_joint_plan(&request, 1, &before, &after);
    if (schedule == NULL)
        abort();
    pti_superstep_parts_free(&parts);
    pti_copies_free(&before);
    pti_copies_free(&after);
    return schedule;
}

static void check(const pti_joint_schedule *schedule) {
    pti_text why = {0};
    if (!pti_joint_check(schedule, &why)) {
        fprintf(stderr, "joint: %s\n", why.data == NULL ? "" : why.data);
        exit(EXIT_FAILURE);
    }
    pti_text_free(&why);
}

static void run_case(bench *b, const joint_case *c) {
    subject s;
    bench_times planning = {0}, checking = {0};
    double n_ops = 0;
    begin(&s, c);
    for (int repetition = 0; repetition < BENCH_REPETITIONS; repetition++) {
        double start_s = bench_now_s();
        pti_joint_schedule *schedule = plan_joint(&s);
        bench_add_time(&planning, bench_now_s() - start_s);
        n_ops = 0;
        for (int k = 0; k < schedule->n_lists; k++)
            n_ops += schedule->list[k].n_ops;
        start_s = bench_now_s();
        check(schedule);
        bench_add_time(&checking, bench_now_s() - start_s);
        pti_joint_free(schedule);
    }
    report(b, &s, "operations", n_ops, BENCH_NO_TARGET, 0);
    report(b, &s, "plan_ms", 1e3 * bench_least(&planning), BENCH_NO_TARGET, 0);
    report(b, &s, "check_ms", 1e3 * bench_least(&checking), BENCH_NO_TARGET, 0);
    report(b, &s, "check_us_an_operation", 1e6 * bench_least(&checking) / n_ops, BENCH_NO_TARGET,
           0);
    end(&s);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "joint", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
