#include "access/footprint/split.h"

#include "access/footprint/affine.h"
#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** The most elements between two sections along a dimension that lie side by side. */
enum { NEAR_ELEMENTS = 64 };

/** The group of each section, and how many groups each operand has. */
typedef struct grouping {
    int *group; /* of each section, counted from 0 within its operand */
    int *n_groups;
} grouping;

/** Return how many elements lie between two parallel subscripts; 0: they meet. */
static int64_t gap_between(const pti_subscript *one, const pti_subscript *other) {
    const int64_t before = one->lo.constant - other->hi.constant - 1;
    const int64_t behind = other->lo.constant - one->hi.constant - 1;
    return pti_max(0, pti_max(before, behind));
}

static bool are_parallel(const pti_subscript *one, const pti_subscript *other) {
    return pti_affine_is_parallel(&one->lo, &other->lo) &&
           pti_affine_is_parallel(&one->hi, &other->hi);
}

/** Return whether a subscript is as wide for all threads: only then its gap to another one is, too. */
static bool has_fixed_width(const pti_subscript *of) {
    return pti_affine_is_parallel(&of->lo, &of->hi);
}

static bool stay_together(const pti_section *one, const pti_section *other, pti_together together) {
    bool stay = true;
    for (int d = 0; d < one->n_dims; d++) {
        const pti_subscript *a = &one->subscript[d], *b = &other->subscript[d];
        stay = stay && are_parallel(a, b);
        if (together == PTI_TOGETHER_NEAR && has_fixed_width(a))
            stay = stay && gap_between(a, b) <= NEAR_ELEMENTS;
    }
    return stay;
}

static bool may_split(const pti_instance *instance, const pti_operand *operand) {
    bool may = !operand->writes;
    for (int s = 0; s < operand->n_sections; s++)
        may = may && instance->section[operand->first_section + s].exact;
    return may;
}

/** Give all sections of one group the number of another. */
static void join_groups(int *group, int n_sections, int from, int to) {
    for (int s = 0; s < n_sections; s++)
        if (group[s] == from)
            group[s] = to;
}

/** Number the groups from 0 in the order of their first sections. Returns how many there are. */
static int renumber_groups(int *group, int n_sections) {
    int n_groups = 0;
    for (int s = 0; s < n_sections; s++)
        if (group[s] >= n_groups) {
            join_groups(group, n_sections, n_groups, n_sections + n_groups);
            join_groups(group, n_sections, group[s], n_groups++);
        }
    return n_groups;
}

/** Group the sections of an operand. */
static int group_sections(const pti_instance *instance, const pti_operand *operand,
                          pti_together together, int *group) {
    const pti_section *section = &instance->section[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        group[s] = may_split(instance, operand) ? s : 0;
    for (int s = 1; s < operand->n_sections; s++)
        for (int t = 0; t < s; t++)
            if (group[s] != group[t] && stay_together(&section[s], &section[t], together))
                join_groups(group, operand->n_sections, group[s], group[t]);
    return renumber_groups(group, operand->n_sections);
}

/** Group all sections. Returns how many operands there are more than arrays; -1: too many. */
static int group_all(const pti_instance *instance, pti_together together, grouping *of) {
    int n_more = 0, n_pieces = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        of->n_groups[o] =
            group_sections(instance, operand, together, &of->group[operand->first_section]);
        if (of->n_groups[o] > 1) {
            n_more += of->n_groups[o] - 1;
            n_pieces += of->n_groups[o];
        }
    }
    return n_pieces > POLYTILE_MAX_PIECES ? -1 : n_more;
}

/** Give an operand the sections of a group. */
static void take_sections(const pti_instance *instance, const grouping *of, int array, int group,
                          pti_instance *split, int operand) {
    const pti_operand *whole = &instance->operand[array];
    split->operand[operand].first_section = split->n_sections;
    split->operand[operand].n_sections = 0;
    for (int s = whole->first_section; s < whole->first_section + whole->n_sections; s++) {
        if (of->group[s] != group)
            continue;
        split->section[split->n_sections] = instance->section[s];
        split->section[split->n_sections++].operand = operand;
        split->operand[operand].n_sections++;
    }
}

static polytile_status add_piece(polytile_context *ctx, const pti_instance *instance, int array,
                                 pti_instance *split) {
    pti_operand *piece = &split->operand[split->n_operands];
    *piece = instance->operand[array];
    piece->array = array;
    piece->name = strdup(instance->operand[array].name);
    split->n_operands++;
    split->n_further += split->n_operands > instance->n_operands;
    return piece->name == NULL ? pti_fail_memory(ctx, instance->kernel_name, sizeof *piece)
                               : POLYTILE_OK;
}

/** Add the operands of arrays, and behind them those of further pieces. */
static polytile_status add_operands(polytile_context *ctx, const pti_instance *instance,
                                    const grouping *of, pti_instance *split) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < instance->n_operands; o++) {
        PTI_TRY(add_piece(ctx, instance, o, split));
        take_sections(instance, of, o, 0, split, o);
    }
    for (int o = 0; o < instance->n_operands; o++)
        for (int g = 1; g < of->n_groups[o]; g++) {
            PTI_TRY(add_piece(ctx, instance, o, split));
            take_sections(instance, of, o, g, split, split->n_operands - 1);
        }
done:
    return status;
}

/** Copy what an instance has beside operands and sections, for which it makes room. */
static polytile_status copy_frame(polytile_context *ctx, const pti_instance *instance, int n_more,
                                  pti_instance **split) {
    pti_instance *made = calloc(1, sizeof *made);
    bool failed = made == NULL;
    *split = made;
    if (!failed) {
        *made = *instance;
        made->n_operands = made->n_further = made->n_sections = 0;
        made->operand = calloc((size_t)(instance->n_operands + n_more + 1), sizeof *made->operand);
        made->section = calloc((size_t)instance->n_sections + 1, sizeof *made->section);
        made->kernel_name = strdup(instance->kernel_name);
        failed = made->operand == NULL || made->section == NULL || made->kernel_name == NULL;
        for (int k = 0; k < instance->n_indices; k++) {
            made->index_name[k] = strdup(instance->index_name[k]);
            failed = failed || made->index_name[k] == NULL;
        }
    }
    return failed ? pti_fail_memory(ctx, instance->kernel_name, sizeof *made) : POLYTILE_OK;
}

static polytile_status split_groups(polytile_context *ctx, const pti_instance *instance,
                                    const grouping *of, int n_more, pti_instance **split) {
    polytile_status status;
    PTI_TRY(copy_frame(ctx, instance, n_more, split));
    PTI_TRY(add_operands(ctx, instance, of, *split));
done:
    if (status != POLYTILE_OK) {
        pti_instance_free(*split);
        *split = NULL;
    }
    return status;
}

polytile_status pti_instance_split(polytile_context *ctx, const pti_instance *instance,
                                   pti_together together, pti_instance **split) {
    grouping of = {calloc((size_t)instance->n_sections + 1, sizeof *of.group),
                   calloc((size_t)instance->n_operands + 1, sizeof *of.n_groups)};
    polytile_status status = POLYTILE_OK;
    *split = NULL;
    if (of.group == NULL || of.n_groups == NULL)
        status = pti_fail_memory(ctx, instance->kernel_name,
                                 (double)instance->n_sections * sizeof *of.group);
    const int n_more = status == POLYTILE_OK ? group_all(instance, together, &of) : -1;
    if (n_more > 0)
        status = split_groups(ctx, instance, &of, n_more, split);
    free(of.group);
    free(of.n_groups);
    return status;
}

int pti_instance_count_pieces(const pti_instance *instance, int array) {
    int n_pieces = 1;
    for (int o = pti_instance_n_arrays(instance); o < instance->n_operands; o++)
        n_pieces += instance->operand[o].array == array;
    return n_pieces;
}
