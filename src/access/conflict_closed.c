#include "access/conflict.h"

#include "base/checked.h"

/** sum over k of coefficient[k] * (second thread's - first thread's index k) = difference */
typedef struct equation {
    const int64_t *coefficient;
    int64_t difference;
} equation;

/** Find the equation of one dimension for two threads that meet; false if there is none. */
static bool equation_of(const polytile_subscript *a, const polytile_subscript *b, equation *of) {
    of->coefficient = a->lo.index;
    return a->edge == POLYTILE_EDGE_CLIP && b->edge == POLYTILE_EDGE_CLIP &&
           pti_subscript_is_one_element(a) && pti_subscript_is_one_element(b) &&
           pti_terms_are_equal(&a->lo, &b->lo) &&
           !pti_sub_overflows(a->lo.constant, b->lo.constant, &of->difference);
}

static bool has_no_solution(const equation *of, int n_indices) {
    int64_t divisor = 0;
    for (int k = 0; k < n_indices; k++)
        divisor = pti_gcd(divisor, of->coefficient[k]);
    return divisor == 0 ? of->difference != 0 : of->difference % divisor != 0;
}

/** Return the only index of an equation that is not settled yet, or -1. */
static int only_open_index(const equation *of, int n_indices, const bool *settled) {
    int open = -1;
    for (int k = 0; k < n_indices; k++) {
        if (of->coefficient[k] == 0 || settled[k])
            continue;
        if (open >= 0)
            return -1;
        open = k;
    }
    return open;
}

/** Return whether the equations make the two threads equal. */
static bool threads_are_equal(const equation *equations, int n_equations, int n_indices) {
    bool settled[POLYTILE_MAX_DIMS] = {false};
    int n_settled = 0;
    for (int round = 0; round < n_indices; round++) {
        for (int e = 0; e < n_equations; e++) {
            int open = only_open_index(&equations[e], n_indices, settled);
            if (equations[e].difference != 0 || open < 0)
                continue;
            settled[open] = true;
            n_settled++;
        }
    }
    return n_settled == n_indices;
}

bool pti_accesses_never_meet(const polytile_declaration *declaration, const pti_access *a,
                             const pti_access *b) {
    equation equations[POLYTILE_MAX_DIMS];
    int n_equations = 0;
    for (int d = 0; d < a->n_dims; d++) {
        if (!equation_of(&a->subscript[d], &b->subscript[d], &equations[n_equations]))
            continue;
        if (has_no_solution(&equations[n_equations], declaration->n_indices))
            return true;
        n_equations++;
    }
    return threads_are_equal(equations, n_equations, declaration->n_indices);
}
