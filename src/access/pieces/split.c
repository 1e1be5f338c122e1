#include "access/pieces/split.h"

#include "access/footprint/affine.h"
#include "access/footprint/section.h"
#include "access/set/memory_layout.h"
#include "base/checked.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** The most elements between two sections along a dimension that lie side by side: a stencil's. */
enum { NEAR_ELEMENTS = 8 };

/** The group of each section, and how many groups each operand has. */
typedef struct grouping {
    int *group; /* of each section, counted from 0 within its operand */
    int *n_groups;
} grouping;

/** Return how many elements lie between two parallel subscripts; 0: they meet. */
static int64_t gap_between(const pti_subscript *one, const pti_subscript *other) {
    const int64_t before = one->lo.constant - other->hi.constant - 1;
    const int64_t after = other->lo.constant - one->hi.constant - 1;
    return pti_max(0, pti_max(before, after));
}

static bool are_parallel(const pti_subscript *one, const pti_subscript *other) {
    return pti_affine_is_parallel(&one->lo, &other->lo) &&
           pti_affine_is_parallel(&one->hi, &other->hi);
}

/** Return whether a subscript is as wide for all threads: only then its gap to another one is,
 * too. */
static bool has_fixed_width(const pti_subscript *subscript) {
    return pti_affine_is_parallel(&subscript->lo, &subscript->hi);
}

static bool lie_side_by_side(const pti_section *one, const pti_section *other) {
    bool do_lie = true;
    for (int d = 0; d < one->n_dims; d++) {
        const pti_subscript *a = &one->subscript[d], *b = &other->subscript[d];
        do_lie = do_lie && are_parallel(a, b) &&
                 (!has_fixed_width(a) || gap_between(a, b) <= NEAR_ELEMENTS);
    }
    return do_lie;
}

static bool may_split(const pti_instance *instance, const pti_operand *operand) {
    bool may = true;
    for (int s = 0; s < operand->n_sections; s++)
        may = may && instance->section[operand->first_section + s].exact;
    return may;
}

/** Return whether one range ends before another begins, for each thread. */
static bool is_before(const pti_subscript *one, const pti_subscript *other,
                      const polytile_domain *threads) {
    const pti_affine gap = pti_affine_difference(&other->lo, &one->hi);
    return pti_affine_min(&gap, threads) > 0;
}

/** Return whether each thread touches different elements through two sections, of which one may be
 * written. */
static bool may_part(const pti_section *one, const pti_section *other,
                     const polytile_domain *threads) {
    bool may = (one->role == POLYTILE_IN && other->role == POLYTILE_IN);
    for (int d = 0; d < one->n_dims; d++)
        may = may || is_before(&one->subscript[d], &other->subscript[d], threads) ||
              is_before(&other->subscript[d], &one->subscript[d], threads);
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

/** Give each section that may be parted from the others a group, and join those of which no part
 * gains anything. */
static void group_neighbours(const pti_instance *instance, const pti_operand *operand, int *group) {
    const pti_section *section = &instance->section[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        group[s] = may_split(instance, operand) ? s : 0;
    for (int s = 1; s < operand->n_sections; s++)
        for (int t = 0; t < s; t++)
            if (group[s] != group[t] && (lie_side_by_side(&section[s], &section[t]) ||
                                         !may_part(&section[s], &section[t], &instance->threads)))
                join_groups(group, operand->n_sections, group[s], group[t]);
}

/** Return the device memory of the box around what some threads touch through two groups, or
 * through one, given twice; rounded up as placements are. */
static int64_t groups_bytes(const pti_instance *instance, const pti_operand *operand,
                            const int *group, int one, int other, const polytile_domain *threads) {
    const int64_t alignment = pti_max(instance->piece_alignment_bytes, 1);
    polytile_domain hull = pti_box_empty(operand->domain.n_dims);
    for (int s = 0; s < operand->n_sections; s++) {
        if (group[s] != one && group[s] != other)
            continue;
        const polytile_domain touched =
            pti_section_hull(instance, &instance->section[operand->first_section + s], threads);
        hull = pti_box_coarse_union(&hull, &touched);
    }
    const int64_t bytes = pti_memory_layout_of(&hull, operand->element_bytes).size_bytes;
    return bytes > INT64_MAX - alignment ? bytes : pti_ceil_div(bytes, alignment) * alignment;
}

/** Two groups of one operand. */
typedef struct joined_pair {
    int operand; /* -1: none */
    int one;
    int other;
    double more_bytes; /* that their union takes than they do one by one */
} joined_pair;

static double more_bytes(const pti_instance *instance, const pti_operand *operand, const int *group,
                         int one, int other, const polytile_domain *threads) {
    return (double)groups_bytes(instance, operand, group, one, other, threads) -
           (double)groups_bytes(instance, operand, group, one, one, threads) -
           (double)groups_bytes(instance, operand, group, other, other, threads);
}

/** Find the pair of groups of an operand whose union takes the least. */
static void find_pair(const pti_instance *instance, int o, const int *group,
                      const polytile_domain *threads, joined_pair *best) {
    const pti_operand *operand = &instance->operand[o];
    for (int s = 1; s < operand->n_sections; s++)
        for (int t = 0; t < s; t++) {
            if (group[s] == group[t])
                continue;
            const double more = more_bytes(instance, operand, group, group[t], group[s], threads);
            if (best->operand < 0 || more < best->more_bytes)
                *best = (joined_pair){o, group[t], group[s], more};
        }
}

/** n_further: groups beyond one an array; n_pieces: groups of arrays that have several. */
typedef struct counts {
    int n_further;
    int n_pieces;
} counts;

static counts count_groups(const pti_instance *instance, const grouping *of) {
    counts n = {0};
    for (int o = 0; o < instance->n_operands; o++) {
        n.n_further += of->n_groups[o] - 1;
        n.n_pieces += of->n_groups[o] > 1 ? of->n_groups[o] : 0;
    }
    return n;
}

static void join_pair(const pti_instance *instance, const joined_pair *found, grouping *of) {
    const pti_operand *operand = &instance->operand[found->operand];
    int *group = &of->group[operand->first_section];
    join_groups(group, operand->n_sections, found->other, found->one);
    of->n_groups[found->operand] = renumber_groups(group, operand->n_sections);
}

/** Join pairs of groups, those first whose unions take the least: all that is worth it, and on
 * until there are no more than may be. */
static void join_pairs(const pti_instance *instance, const polytile_domain *threads,
                       bool joins_worthy, int most_further, grouping *of) {
    while (true) {
        const counts n = count_groups(instance, of);
        const bool is_too_many = n.n_further > most_further || n.n_pieces > POLYTILE_MAX_PIECES ||
                                 instance->n_operands + n.n_further > PTI_MAX_SPLIT_OPERANDS;
        joined_pair best = {.operand = -1};
        for (int o = 0; o < instance->n_operands && (is_too_many || joins_worthy); o++)
            find_pair(instance, o, &of->group[instance->operand[o].first_section], threads, &best);
        if (best.operand < 0 || (!is_too_many && best.more_bytes > 0))
            return;
        join_pair(instance, &best, of);
    }
}

/** Return the box of the first of some threads. */
static polytile_domain first_thread(const polytile_domain *threads) {
    polytile_domain first = *threads;
    for (int d = 0; d < first.n_dims; d++)
        first.range[d].hi = first.range[d].lo;
    return first;
}

/** Group all sections. Returns how many operands there are more than arrays. */
static int group_all(const pti_instance *instance, const polytile_domain *threads, int most_further,
                     grouping *of) {
    const polytile_domain first = first_thread(&instance->threads);
    for (int o = 0; o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        int *group = &of->group[operand->first_section];
        group_neighbours(instance, operand, group);
        of->n_groups[o] = renumber_groups(group, operand->n_sections);
    }
    join_pairs(instance, threads == NULL ? &first : threads, threads != NULL, most_further, of);
    return count_groups(instance, of).n_further;
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
        pti_operand_add_role(&split->operand[operand], &instance->section[s]);
    }
}

/** Add the operand of a piece, which has no section yet. One of several has what its own sections
 * do, and is never moved as a box that others may have elements in. */
static polytile_status add_piece(polytile_context *ctx, const pti_instance *instance,
                                 const grouping *of, int array, pti_instance *split) {
    pti_operand *piece = &split->operand[split->n_operands];
    *piece = instance->operand[array];
    piece->array = array;
    piece->name = strdup(instance->operand[array].name);
    if (of->n_groups[array] > 1)
        piece->reads = piece->writes = piece->partial = false;
    split->n_operands++;
    split->n_further += split->n_operands > instance->n_operands;
    return piece->name == NULL ? pti_fail_memory(ctx, instance->kernel_name, sizeof *piece)
                               : POLYTILE_OK;
}

/** Add the operands of arrays, and after them those of further pieces. */
static polytile_status add_operands(polytile_context *ctx, const pti_instance *instance,
                                    const grouping *of, pti_instance *split) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < instance->n_operands; o++) {
        PTI_TRY(add_piece(ctx, instance, of, o, split));
        take_sections(instance, of, o, 0, split, o);
    }
    for (int o = 0; o < instance->n_operands; o++)
        for (int g = 1; g < of->n_groups[o]; g++) {
            PTI_TRY(add_piece(ctx, instance, of, o, split));
            take_sections(instance, of, o, g, split, split->n_operands - 1);
        }
done:
    return status;
}

static polytile_status split_groups(polytile_context *ctx, const pti_instance *instance,
                                    const grouping *of, int n_more, pti_instance **split) {
    polytile_status status;
    PTI_TRY(pti_instance_copy_frame(ctx, instance, n_more, split));
    PTI_TRY(add_operands(ctx, instance, of, *split));
done:
    if (status != POLYTILE_OK) {
        pti_instance_free(*split);
        *split = NULL;
    }
    return status;
}

/** Make a grouping of nothing yet; its lists are freed in any case. Errors: NO_MEMORY. */
static polytile_status begin_grouping(polytile_context *ctx, const pti_instance *instance,
                                      grouping *of) {
    *of = (grouping){calloc((size_t)instance->n_sections + 1, sizeof *of->group),
                     calloc((size_t)instance->n_operands + 1, sizeof *of->n_groups)};
    if (of->group != NULL && of->n_groups != NULL)
        return POLYTILE_OK;
    return pti_fail_memory(ctx, instance->kernel_name,
                           (double)instance->n_sections * sizeof *of->group);
}

static void free_grouping(grouping *of) {
    free(of->group);
    free(of->n_groups);
}

/** Copy the instance that the program gave, with separate sections, for the threads of one whose
 * sections are united. Operands keep the united one's roles. */
static polytile_status part_united(polytile_context *ctx, const pti_instance *instance,
                                   pti_instance **parted) {
    polytile_status status;
    PTI_TRY(pti_instance_copy(ctx, instance->given->instance, parted));
    (*parted)->threads = instance->threads;
    (*parted)->piece_alignment_bytes = instance->piece_alignment_bytes;
    for (int o = 0; o < instance->n_operands; o++) {
        pti_operand *operand = &(*parted)->operand[o];
        const pti_operand declared = *operand;
        *operand = instance->operand[o];
        operand->name = declared.name;
        operand->first_section = declared.first_section;
        operand->n_sections = declared.n_sections;
    }
done:
    return status;
}

/** The sections to be grouped, and how. */
typedef struct plot {
    const pti_instance *instance; /* NULL: nothing may be split */
    pti_instance *parted;         /* owned; NULL: that is as declared */
    grouping of;
} plot;

/** Errors: NO_MEMORY. Owns: end_plot() is called also after an error. */
static polytile_status begin_plot(polytile_context *ctx, const pti_instance *instance,
                                  plot *begun) {
    const pti_given *given = instance->given;
    polytile_status status = POLYTILE_OK;
    *begun = (plot){.instance = given == NULL ? instance : NULL};
    if (given != NULL && given->is_united) {
        PTI_TRY(part_united(ctx, instance, &begun->parted));
        begun->instance = begun->parted;
    }
    if (begun->instance != NULL)
        PTI_TRY(begin_grouping(ctx, begun->instance, &begun->of));
done:
    return status;
}

static void end_plot(plot *begun) {
    free_grouping(&begun->of);
    pti_instance_free(begun->parted);
}

polytile_status pti_instance_split(polytile_context *ctx, const pti_instance *instance,
                                   const polytile_domain *threads, int most_further,
                                   pti_instance **split) {
    plot begun;
    polytile_status status;
    *split = NULL;
    PTI_TRY(begin_plot(ctx, instance, &begun));
    const int n_more =
        begun.instance == NULL ? 0 : group_all(begun.instance, threads, most_further, &begun.of);
    if (n_more > 0)
        status = split_groups(ctx, begun.instance, &begun.of, n_more, split);
done:
    end_plot(&begun);
    return status;
}

/** All covers of three groups and of four, but for one piece and for one each: the piece of each
 * group, in the order of the groups. */
static const char *const covers_of_three[] = {"001", "010", "011", NULL};
static const char *const covers_of_four[] = {"0001", "0010", "0100", "0111", "0011", "0101", "0110",
                                             "0012", "0102", "0120", "0112", "0121", "0122", NULL};

/** Return the only operand that has several groups; -1: there is none, or there are several. */
static int find_split_operand(const pti_instance *instance, const grouping *of) {
    int found = -1;
    for (int o = 0; o < instance->n_operands; o++) {
        if (of->n_groups[o] > 1 && found >= 0)
            return -1;
        found = of->n_groups[o] > 1 ? o : found;
    }
    return found;
}

/** Unite the groups of an operand by a cover. Returns how many further ones remain. */
static int cover_groups(const pti_instance *instance, int o, const char *cover, grouping *of) {
    const pti_operand *operand = &instance->operand[o];
    int *group = &of->group[operand->first_section];
    for (int s = 0; s < operand->n_sections; s++)
        group[s] = cover[group[s]] - '0';
    of->n_groups[o] = renumber_groups(group, operand->n_sections);
    return of->n_groups[o] - 1;
}

/** Return the k-th cover of n_groups groups; NULL: there is none. */
static const char *get_cover(int n_groups, int k) {
    const char *const *covers = n_groups == 3   ? covers_of_three
                                : n_groups == 4 ? covers_of_four
                                                : NULL;
    return covers == NULL ? NULL : covers[k];
}

polytile_status pti_instance_split_by_cover(polytile_context *ctx, const pti_instance *instance,
                                            int k, pti_instance **split) {
    plot begun;
    polytile_status status;
    *split = NULL;
    PTI_TRY(begin_plot(ctx, instance, &begun));
    const bool is_split =
        begun.instance != NULL && group_all(begun.instance, NULL, INT_MAX, &begun.of) > 0;
    const int o = is_split ? find_split_operand(begun.instance, &begun.of) : -1;
    const char *cover = o < 0 ? NULL : get_cover(begun.of.n_groups[o], k);
    if (cover != NULL)
        status = split_groups(ctx, begun.instance, &begun.of,
                              cover_groups(begun.instance, o, cover, &begun.of), split);
done:
    end_plot(&begun);
    return status;
}

int pti_instance_count_pieces(const pti_instance *instance, int array) {
    int n_pieces = 1;
    for (int o = pti_instance_n_arrays(instance); o < instance->n_operands; o++)
        n_pieces += instance->operand[o].array == array;
    return n_pieces;
}

static bool are_pieces_of_one(const pti_instance *instance, int one, int other) {
    return one != other && pti_operand_array(instance, one) == pti_operand_array(instance, other);
}

void pti_pieces_add_met(const pti_instance *instance, int operand, const polytile_domain *threads,
                        int max_boxes, pti_boxes *scratch, pti_boxes *boxes) {
    polytile_domain hull;
    if (instance->n_further == 0 ||
        !pti_footprint_find_hull(instance, operand, PTI_TOUCHES, threads, &hull) ||
        pti_boxes_cover(boxes, &hull))
        return;
    for (int o = 0; o < instance->n_operands; o++) {
        if (!are_pieces_of_one(instance, operand, o))
            continue;
        pti_footprint_boxes(instance, o, PTI_READS, threads, max_boxes, scratch);
        pti_boxes_clip(scratch, &hull);
        pti_boxes_unite(boxes, scratch, pti_boxes_include);
    }
}

/** Return whether two pieces meet, of which one is written. */
static bool do_clash(const pti_instance *instance, const polytile_domain *threads, int one,
                     int other) {
    polytile_domain hull, its_hull, common;
    return are_pieces_of_one(instance, one, other) &&
           (instance->operand[one].writes || instance->operand[other].writes) &&
           pti_footprint_find_hull(instance, one, PTI_TOUCHES, threads, &hull) &&
           pti_footprint_find_hull(instance, other, PTI_TOUCHES, threads, &its_hull) &&
           pti_box_intersect(&hull, &its_hull, &common);
}

static bool is_in_pieces(const pti_instance *instance, int operand) {
    bool is = false;
    for (int o = 0; o < instance->n_operands; o++)
        is = is || are_pieces_of_one(instance, operand, o);
    return is;
}

bool pti_pieces_clash(const pti_instance *instance, const polytile_domain *threads) {
    bool clash = false;
    for (int o = 0; instance->n_further > 0 && o < instance->n_operands; o++) {
        const pti_operand *operand = &instance->operand[o];
        clash = clash || (operand->writes && !operand->partial && is_in_pieces(instance, o) &&
                          pti_operand_writes_unknown(instance, operand, threads));
        for (int p = 0; p < o; p++)
            clash = clash || do_clash(instance, threads, o, p);
    }
    return clash;
}
