/* How long registering and planning take, and whether plans have the fewest sub-kernels: against
 * brute force over every superblock shape. */
#include "common/bench.h"
#include "common/brute_force.h"

/** A kernel at one size, and by hand what a superblock of it touches. Arrays of whole extents;
 * threads start at `border`. */
typedef struct planner_case {
    const char *name;
    const char *declaration;
    int64_t border;
    double plan_target_ms;
    int n_array_dims;
    int64_t array_extent;
    brute_problem brute;
    int n_limits;
    int64_t limit_bytes[4];
} planner_case;

#define MIB INT64_C(1048576)
#define GIB INT64_C(1073741824)

static const planner_case cases[] = {
    {"vector add 67107840",
     "add[i]: in x[i], y[i]; out z[i]",
     0,
     1.0,
     1,
     67107840,
     {1, {67107840}, {256}, 3, {{1, {{0, 0, 0}}}, {1, {{0, 0, 0}}}, {1, {{0, 0, 0}}}}},
     3,
     {1 * MIB, 16 * MIB, 256 * MIB}},
    {"stencil 8192^2, 256x1024 blocks",
     "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     1,
     1.0,
     2,
     8192,
     {2, {8190, 8190}, {32, 8}, 2, {{2, {{0, 2, 0}, {1, 2, 0}}}, {2, {{0, 0, 0}, {1, 0, 0}}}}},
     3,
     {4 * MIB, 32 * MIB, 256 * MIB}},
    {"stencil 65538^2, 4096x4096 blocks",
     "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]",
     1,
     1.0,
     2,
     65538,
     {2, {65536, 65536}, {16, 16}, 2, {{2, {{0, 2, 0}, {1, 2, 0}}}, {2, {{0, 0, 0}, {1, 0, 0}}}}},
     3,
     {512 * MIB, 2 * GIB, 8 * GIB}},
    {"stencil 514^3, 128^3 blocks",
     "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]",
     1,
     10.0,
     3,
     514,
     {3,
      {512, 512, 512},
      {4, 4, 4},
      2,
      {{3, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}}, {3, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}}}},
     2,
     {16 * MIB, 128 * MIB}},
    {"stencil 4098^3, 1024^3 blocks",
     "heat[i, j, k]: in A[i-1:i+1, j, k], A[i, j-1:j+1, k], A[i, j, k-1:k+1]; out B[i, j, k]",
     1,
     10.0,
     3,
     4098,
     {3,
      {4096, 4096, 4096},
      {4, 4, 4},
      2,
      {{3, {{0, 2, 0}, {1, 2, 0}, {2, 2, 0}}}, {3, {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}}}},
     3,
     {4 * GIB, 16 * GIB, 64 * GIB}},
    {"matmul 4096, whole rows and columns",
     "matmul[i, j]: in A[i, :], B[:, j]; out C[i, j]",
     0,
     1.0,
     2,
     4096,
     {2,
      {4096, 4096},
      {8, 32},
      3,
      {{2, {{0, 0, 0}, {-1, 0, 4096}}},
       {2, {{-1, 0, 4096}, {1, 0, 0}}},
       {2, {{0, 0, 0}, {1, 0, 0}}}}},
     3,
     {4 * MIB, 16 * MIB, 64 * MIB}},
    {"matmul 16384, k split, 1024^3 blocks",
     "gemm[i, j, k]: in A[i, k], B[k, j]; out sum C[i, j]",
     0,
     10.0,
     2,
     16384,
     {3,
      {16384, 16384, 16384},
      {16, 16, 16},
      3,
      {{2, {{0, 0, 0}, {2, 0, 0}}}, {2, {{2, 0, 0}, {1, 0, 0}}}, {2, {{0, 0, 0}, {1, 0, 0}}}}},
     2,
     {256 * MIB, 1 * GIB}},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** What a case has when its kernel and arrays exist. */
typedef struct subject {
    const planner_case *c;
    polytile_context *ctx;
    polytile_kernel *kernel;
    polytile_array *arrays[BRUTE_MAX_OPERANDS];
    polytile_domain threads;
} subject;

static void report(bench *b, const char *name, const char *figure, double value,
                   bench_relation relation, double target) {
    bench_report(b, &(bench_figure){name, figure, value, relation, target});
}

/** Register the kernel several times; the last one stays. */
static void register_kernel(bench *b, subject *s) {
    bench_times times = {0};
    for (int repetition = 0; repetition < BENCH_REPETITIONS; repetition++) {
        polytile_kernel_destroy(s->kernel);
        double start_s = bench_now_s();
        bench_require(polytile_kernel_create(s->ctx, s->c->declaration, NULL, &s->kernel), s->ctx);
        bench_add_time(&times, bench_now_s() - start_s);
    }
    report(b, s->c->name, "register_ms", 1e3 * bench_median(&times), BENCH_AT_MOST, 5.0);
}

static void describe_arrays(subject *s) {
    const planner_case *c = s->c;
    int64_t extents[] = {c->array_extent, c->array_extent, c->array_extent};
    polytile_domain whole = polytile_domain_from_extents(c->n_array_dims, extents);
    for (int a = 0; a < polytile_kernel_get_n_arrays(s->kernel); a++)
        bench_require(polytile_array_describe(s->ctx, polytile_kernel_get_array_name(s->kernel, a),
                                              POLYTILE_F32, &whole, &s->arrays[a]),
                      s->ctx);
}

/** The median time of planning, in milliseconds; the plan's figures in *summary. */
static double time_plan(const subject *s, const polytile_launch_options *options,
                        polytile_plan_summary *summary) {
    bench_times times = {0};
    for (int repetition = 0; repetition < BENCH_REPETITIONS; repetition++) {
        polytile_plan *plan;
        double start_s = bench_now_s();
        bench_require(polytile_plan_create(s->kernel, &s->threads,
                                           polytile_kernel_get_n_arrays(s->kernel), s->arrays,
                                           options, &plan),
                      s->ctx);
        bench_add_time(&times, bench_now_s() - start_s);
        polytile_plan_get_summary(plan, summary);
        polytile_plan_destroy(plan);
    }
    return 1e3 * bench_median(&times);
}

static void name_limit(const planner_case *c, int64_t limit_bytes, char *name, size_t size) {
    snprintf(name, size, "%s, %lld MiB", c->name, (long long)(limit_bytes / MIB));
}

/** The fewest kernels under a limit, by the library with one buffer and by brute force. */
static void compare_with_brute_force(bench *b, const subject *s, int64_t limit_bytes) {
    char name[128];
    polytile_plan_summary summary;
    polytile_launch_options options = {.plan.limit_bytes = limit_bytes,
                                       .plan.strategy = "min-kernels",
                                       .plan.n_buffers = 1,
                                       .plan.block = s->c->brute.block};
    name_limit(s->c, limit_bytes, name, sizeof(name));
    double plan_ms = time_plan(s, &options, &summary);
    double start_s = bench_now_s();
    int64_t fewest = brute_fewest_kernels(&s->c->brute, limit_bytes);
    double brute_ms = 1e3 * (bench_now_s() - start_s);
    report(b, name, "kernels", (double)summary.n_kernels, BENCH_AT_MOST, (double)fewest);
    report(b, name, "brute_force_kernels", (double)fewest, BENCH_AT_MOST,
           (double)summary.n_kernels);
    report(b, name, "plan_ms", plan_ms, BENCH_AT_MOST, s->c->plan_target_ms);
    report(b, name, "brute_force_ms", brute_ms, BENCH_NO_TARGET, 0.0);
}

/** The default strategy, which chooses the number of buffers as well. */
static void time_default(bench *b, const subject *s, int64_t limit_bytes) {
    char name[128];
    polytile_plan_summary summary;
    polytile_launch_options options = {.plan.limit_bytes = limit_bytes,
                                       .plan.block = s->c->brute.block};
    name_limit(s->c, limit_bytes, name, sizeof(name));
    double plan_ms = time_plan(s, &options, &summary);
    report(b, name, "min_time_kernels", (double)summary.n_kernels, BENCH_NO_TARGET, 0.0);
    report(b, name, "min_time_plan_ms", plan_ms, BENCH_AT_MOST, s->c->plan_target_ms);
}

static void run_case(bench *b, const planner_case *c) {
    subject s = {.c = c, .threads = {.n_dims = c->brute.n_indices}};
    bench_require(polytile_context_create(&s.ctx), NULL);
    for (int d = 0; d < c->brute.n_indices; d++)
        s.threads.range[d] = (polytile_range){c->border, c->border + c->brute.threads[d] - 1, 1};
    register_kernel(b, &s);
    describe_arrays(&s);
    for (int k = 0; k < c->n_limits; k++) {
        compare_with_brute_force(b, &s, c->limit_bytes[k]);
        time_default(b, &s, c->limit_bytes[k]);
    }
    polytile_context_destroy(s.ctx);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "planner", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
