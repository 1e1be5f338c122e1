/* What it costs to prove what several members do together, against planning it. */
#include "common/proof.h"
#include "distribute/exchange/joint_plan.h"
#include "distribute/show/ranks_plan.h"
#include "partition/prove/joint/joint_check.h"

#include <stdlib.h>

/** Launches, and who shares them. */
typedef struct joint_case {
    proof_case launches;
    const char *layout;
    int n_members;
} joint_case;

#define JACOBI   "jacobi[i, j]: in A[i-1:i+1, j], A[i, j-1:j+1]; out B[i, j]"
#define GEMM     "gemm[i, j, k]: in A[i, k], B[k, j]; sum C[i, j]"
#define TRIANGLE "lower[i]: in L[i, 0:i], x[0:i]; out y[i]"

static const joint_case cases[] = {
    {{"stencil 8192^2, 64 launches, 2 members", JACOBI, 2, {2, 2}, 8192, 1, 64}, "block", 2},
    {{"stencil 8192^2, 64 launches, 16 members", JACOBI, 2, {2, 2}, 8192, 1, 64}, "block", 16},
    {{"stencil 8192^2, 64 launches, 64 members", JACOBI, 2, {2, 2}, 8192, 1, 64}, "block", 64},
    {{"stencil 4096^2, cyclic, 4 members", JACOBI, 2, {2, 2}, 4096, 1, 1}, "cyclic(256)", 4},
    {{"product 1024, 8 members", GEMM, 3, {2, 2, 2}, 1024, 0, 1}, "block", 8},
    {{"triangle, 2000 rows, 2 members", TRIANGLE, 1, {2, 1, 1}, 2000, 0, 1}, "block", 2},
    {{"triangle, 20000 rows, 2 members", TRIANGLE, 1, {2, 1, 1}, 20000, 0, 1}, "block", 2},
};

enum { N_CASES = sizeof(cases) / sizeof(cases[0]) };

/** The first superstep of ranks. */
static void *plan_joint(const void *of) {
    const polytile_ranks_plan *plan = of;
    const pti_members_plan *members = &plan->members;
    const pti_superstep superstep = pti_members_plan_first_superstep(members);
    pti_superstep_parts parts;
    pti_copies before = {0}, after = {0};
    bool none[PROOF_MOST_ARRAYS] = {false};
    if (!pti_copies_create(members->n_arrays, members->n_members, &before) ||
        !pti_copies_create(members->n_arrays, members->n_members, &after) ||
        !pti_superstep_cut(&superstep, 0, members->n_members, &after, &parts))
        abort();
    const pti_joint_request request = {
        .superstep = &superstep, .parts = &parts, .is_shared = none, .n_local = 1, .is_lent = none};
    pti_joint_schedule *schedule = pti_joint_plan(&request, 1, &before, &after);
    if (schedule == NULL)
        abort();
    pti_superstep_parts_free(&parts);
    pti_copies_free(&before);
    pti_copies_free(&after);
    return schedule;
}

static double count_ops(const void *plan) {
    const pti_joint_schedule *schedule = plan;
    double n_ops = 0;
    for (int k = 0; k < schedule->n_lists; k++)
        n_ops += schedule->list[k].n_ops;
    return n_ops;
}

static void check_joint(const void *plan) {
    pti_text why = {0};
    proof_require(pti_joint_check(plan, &why), why.data);
    pti_text_free(&why);
}

static void free_joint(void *plan) {
    pti_joint_free(plan);
}

static void run_case(bench *b, const joint_case *c) {
    static const proof_kind joint = {plan_joint, count_ops, check_joint, free_joint};
    proof_subject s;
    polytile_ranks_plan *plan;
    proof_begin(&s, &c->launches);
    const polytile_ranks_request request = {.n_launches = c->launches.n_launches,
                                            .launches = s.launch,
                                            .n_ranks = c->n_members,
                                            .share.layout = c->layout};
    bench_require(polytile_ranks_plan_create(&request, &plan), s.ctx);
    proof_measure(b, c->launches.name, &joint, plan);
    polytile_ranks_plan_destroy(plan);
    proof_end(&s);
}

int main(int argc, char **argv) {
    bench b;
    if (!bench_begin(&b, "joint", argc, argv))
        return 2;
    for (int c = 0; c < N_CASES; c++)
        run_case(&b, &cases[c]);
    return bench_end(&b);
}
