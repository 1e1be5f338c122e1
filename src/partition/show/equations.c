#include "access/footprint/footprint.h"
#include "partition/show/print.h"

/* The equations of the paper, for plans of the strategy that solves them. */

/** "i", or "i x j" with the names of all indices. */
static void add_indices(pti_text *text, const pti_instance *instance) {
    for (int d = 0; d < instance->n_indices; d++)
        pti_text_add(text, "%s%s", d == 0 ? "" : " x ", instance->index_name[d]);
}

/** "2048 i + 1024 j" */
static void add_slopes(pti_text *text, const polytile_plan *plan) {
    for (int d = 0; d < plan->instance->n_indices; d++)
        pti_text_add(text, "%s%.0f %s", d == 0 ? "" : " + ", plan->solution.slope_bytes[d],
                     plan->instance->index_name[d]);
}

static void add_unions(pti_text *text, const polytile_plan *plan) {
    const pti_instance *instance = plan->instance;
    const polytile_domain *sample = &plan->solution.sample;
    pti_text_add(text, PTI_ROW, "union");
    for (int a = 0; a < instance->n_operands; a++) {
        const polytile_domain hull = pti_footprint_hull(instance, a, PTI_TOUCHES, sample);
        pti_text_add(text, "%s%s%s", a == 0 ? "" : ", ", instance->operand[a].name,
                     pti_words_box(&hull).text);
    }
    pti_text_add(text, " of the block %s\n", pti_words_box(sample).text);
}

static const char *name_surface(int n_dims) {
    static const char *const names[] = {"line", "plane", "hyperplane"};
    return names[n_dims > 2 ? 2 : n_dims - 1];
}

void pti_plan_write_equations(pti_text *text, const polytile_plan *plan) {
    const int n_dims = plan->instance->n_indices;
    if (plan->solution.sample.n_dims == 0)
        return;
    add_unions(text, plan);
    pti_text_add(text, PTI_ROW "bytes = ", name_surface(n_dims));
    add_slopes(text, plan);
    pti_text_add(text, " %c %.0f for ", plan->solution.constant_bytes < 0 ? '-' : '+',
                 plan->solution.constant_bytes < 0 ? -plan->solution.constant_bytes
                                                   : plan->solution.constant_bytes);
    add_indices(text, plan->instance);
    pti_text_add(text, " blocks\n" PTI_ROW, name_surface(n_dims - 1 > 0 ? n_dims - 1 : 1));
    add_slopes(text, plan);
    pti_text_add(text, " = %.0f at the limit\n",
                 (double)plan->summary.limit_bytes - plan->solution.constant_bytes);
    pti_text_add(text, PTI_ROW "%s, before it is shrunk until it fits\n", "solved",
                 pti_words_blocks(n_dims, plan->solution.shape).text);
}
