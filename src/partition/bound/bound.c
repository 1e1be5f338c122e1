#include "partition/bound/bound.h"

#include "access/footprint/footprint.h"
#include "base/checked.h"
#include "partition/bound/looked_up.h"
#include "partition/bound/reuse.h"
#include "partition/cost/demand.h"

#include <math.h>
#include <stdio.h>

/** Return the bytes of a lower bound, rounded up; rounding errors may have made the bound
 * larger. */
static int64_t whole_bytes(double figure) {
    const double least = ceil(figure * (1 - 1e-12));
    return least >= 9.2e18 ? INT64_MAX : (int64_t)fmax(0, least);
}

static int64_t count_touched_bytes(const pti_instance *instance, int operand, pti_touch touch,
                                   bool *failed) {
    const pti_operand *of = &instance->operand[operand];
    if (touch == PTI_READS ? !of->reads : !of->writes)
        return 0;
    const int64_t count = pti_max(pti_operand_least_count(instance, operand, touch, failed),
                                  pti_looked_up_least_count(instance, operand, touch, failed));
    return pti_mul_saturated(count, of->element_bytes);
}

static pti_bound find_compulsory(const pti_instance *instance, int64_t *in_bytes) {
    pti_bound bound = {.kind = PTI_BOUND_COMPULSORY,
                       .reason = "compulsory: every element that is read comes in once"};
    for (int a = 0; a < instance->n_operands; a++) {
        in_bytes[a] = count_touched_bytes(instance, a, PTI_READS, &bound.failed);
        bound.h2d_bytes = pti_add_saturated(bound.h2d_bytes, in_bytes[a]);
        bound.d2h_bytes = pti_add_saturated(
            bound.d2h_bytes, count_touched_bytes(instance, a, PTI_WRITES, &bound.failed));
    }
    bound.goal_bytes = bound.h2d_bytes;
    return bound;
}

/** Return the compulsory uploads of all operands that a formula does not count. */
static int64_t sum_others(const pti_instance *instance, const pti_reuse *reuse,
                          const int64_t *in_bytes) {
    int64_t sum = 0;
    for (int a = 0; a < instance->n_operands; a++) {
        bool is_counted = false;
        for (int p = 0; p < reuse->n_operands; p++)
            is_counted |= reuse->operand[p] == a;
        sum = is_counted ? sum : pti_add_saturated(sum, in_bytes[a]);
    }
    return sum;
}

/** Write the reason of a formula: its arrays, and S in words if all elements have one size. */
static void write_reuse_reason(const pti_instance *instance, const pti_reuse *reuse,
                               int64_t limit_bytes, pti_bound *bound) {
    const pti_operand *operand[3] = {NULL};
    bool is_matmul = bound->kind == PTI_BOUND_MATMUL, is_uniform = true;
    for (int p = 0; p < reuse->n_operands; p++) {
        operand[p] = &instance->operand[reuse->operand[p]];
        is_uniform &= operand[p]->element_bytes == operand[0]->element_bytes;
    }
    const char *formula = !is_matmul   ? "bytes of one, times bytes of the other, / S"
                          : is_uniform ? "2 m n k / sqrt(S) words"
                                       : "2 m n k sqrt(a b c / S) bytes, a, b, c those of elements";
    bool in_words = is_matmul && is_uniform;
    snprintf(bound->reason, sizeof bound->reason,
             "%s (%.16s, %.16s%s%.16s): %s, S = %lld %s of the limit",
             is_matmul ? "matmul-like" : "all pairs", operand[0]->name, operand[1]->name,
             is_matmul ? ", " : "", is_matmul ? operand[2]->name : "", formula,
             (long long)(in_words ? limit_bytes / operand[0]->element_bytes : limit_bytes),
             in_words ? "words" : "bytes");
}

/** Raise the bound to a formula's answer if that is higher. */
static void apply_formula(const pti_instance *instance, pti_bound_kind kind, const pti_reuse *reuse,
                          int64_t limit_bytes, const int64_t *in_bytes, pti_bound *bound) {
    if (reuse->n_operands == 0)
        return;
    int64_t others = sum_others(instance, reuse, in_bytes);
    int64_t goal = pti_add_saturated(others, whole_bytes(reuse->bytes));
    int64_t uploads = pti_add_saturated(others, whole_bytes(reuse->bytes - reuse->started_bytes));
    bound->h2d_bytes = pti_max(bound->h2d_bytes, uploads);
    if (goal <= bound->goal_bytes)
        return;
    bound->goal_bytes = goal;
    bound->kind = kind;
    write_reuse_reason(instance, reuse, limit_bytes, bound);
}

/** A launch, its projections, and what is known so far. */
typedef struct bound_finder {
    const pti_instance *instance;
    int64_t limit_bytes;
    int64_t in_bytes[PTI_MAX_OPERANDS];
    int n_projections;
    pti_projection projection[PTI_MAX_PROJECTIONS];
    pti_bound bound;
} bound_finder;

static void try_pair(bound_finder *f, const pti_projection *const *projection) {
    pti_reuse pair = pti_reuse_of_pair(f->instance, projection, (double)f->limit_bytes);
    apply_formula(f->instance, PTI_BOUND_PAIRS, &pair, f->limit_bytes, f->in_bytes, &f->bound);
}

static void try_triple(bound_finder *f, const pti_projection *const *projection) {
    pti_reuse triple = pti_reuse_of_triple(f->instance, projection, (double)f->limit_bytes);
    apply_formula(f->instance, PTI_BOUND_MATMUL, &triple, f->limit_bytes, f->in_bytes, &f->bound);
}

/** Try each third projection, of another operand, with two. An operand's are consecutive. */
static void try_thirds(bound_finder *f, const pti_projection **projection) {
    const pti_projection *end = f->projection + f->n_projections;
    for (projection[2] = projection[1] + 1; projection[2] < end; projection[2]++)
        if (projection[2]->operand != projection[1]->operand)
            try_triple(f, projection);
}

pti_bound pti_bound_find(const pti_instance *instance, int64_t limit_bytes) {
    bound_finder f = {.instance = instance, .limit_bytes = limit_bytes};
    f.bound = find_compulsory(instance, f.in_bytes);
    f.n_projections = limit_bytes > 0 ? pti_projections_find(instance, f.projection) : 0;
    const pti_projection *projection[3], *end = f.projection + f.n_projections;
    for (projection[0] = f.projection; projection[0] < end; projection[0]++)
        for (projection[1] = projection[0] + 1; projection[1] < end; projection[1]++) {
            if (projection[0]->operand == projection[1]->operand)
                continue;
            try_pair(&f, projection);
            try_thirds(&f, projection);
        }
    return f.bound;
}
