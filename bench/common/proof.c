#include "common/proof.h"

#include <stdlib.h>

static void describe_arrays(proof_subject *s) {
    const int64_t extents[] = {s->c->extent, s->c->extent, s->c->extent};
    const int n_arrays = polytile_kernel_get_n_arrays(s->kernel);
    for (int a = 0; a < n_arrays; a++) {
        const polytile_domain whole = polytile_domain_from_extents(s->c->array_dims[a], extents);
        const char *name = polytile_kernel_get_array_name(s->kernel, a);
        bench_require(polytile_array_describe(s->ctx, name, POLYTILE_F32, &whole, &s->arrays[0][a]),
                      s->ctx);
        s->arrays[1][n_arrays - 1 - a] = s->arrays[0][a];
    }
}

void proof_begin(proof_subject *s, const proof_case *c) {
    const int64_t extents[] = {c->extent, c->extent, c->extent};
    *s = (proof_subject){.c = c, .launch = calloc((size_t)c->n_launches, sizeof *s->launch)};
    bench_require(s->launch == NULL ? POLYTILE_NO_MEMORY : POLYTILE_OK, NULL);
    bench_require(polytile_context_create(&s->ctx), NULL);
    bench_require(polytile_kernel_create(s->ctx, c->declaration, NULL, &s->kernel), s->ctx);
    describe_arrays(s);
    for (int l = 0; l < c->n_launches; l++)
        s->launch[l] = (polytile_chain_launch){
            .kernel = s->kernel,
            .domain = polytile_domain_from_interior(c->border, c->n_indices, extents),
            .n_arrays = polytile_kernel_get_n_arrays(s->kernel),
            .arrays = s->arrays[l % 2]};
}

void proof_end(proof_subject *s) {
    polytile_context_destroy(s->ctx);
    free(s->launch);
}

static void report(bench *b, const char *name, const char *figure, double value) {
    bench_report(b, &(bench_figure){name, figure, value, BENCH_NO_TARGET, 0});
}

double proof_measure(bench *b, const char *name, const proof_kind *kind, const void *of) {
    bench_times planning = {0}, checking = {0};
    double n_ops = 0;
    for (int repetition = 0; repetition < BENCH_REPETITIONS; repetition++) {
        double start_s = bench_now_s();
        void *plan = kind->plan(of);
        bench_add_time(&planning, bench_now_s() - start_s);
        n_ops = kind->count_ops(plan);
        start_s = bench_now_s();
        kind->check(plan);
        bench_add_time(&checking, bench_now_s() - start_s);
        kind->destroy(plan);
    }
    report(b, name, "operations", n_ops);
    report(b, name, "plan_ms", 1e3 * bench_least(&planning));
    report(b, name, "check_ms", 1e3 * bench_least(&checking));
    report(b, name, "check_us_an_operation", 1e6 * bench_least(&checking) / n_ops);
    return bench_least(&checking) / bench_least(&planning);
}

void proof_require(bool holds, const char *why) {
    if (holds)
        return;
    fprintf(stderr, "a plan is wrong: %s\n", why == NULL ? "" : why);
    exit(EXIT_FAILURE);
}
