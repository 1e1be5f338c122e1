#include "access/pieces/ways.h"

#include "access/pieces/shear.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/** The array of each operand of a split call; NULL when memory runs out. */
static int *list_split_arrays(const pti_instance *split, const int *declared) {
    int *array = calloc((size_t)split->n_operands, sizeof *array);
    for (int o = 0; array != NULL && o < split->n_operands; o++)
        array[o] = declared[pti_operand_array(split, o)];
    return array;
}

/** Add a way, whose instance is taken also on failure. */
static polytile_status add_way(polytile_context *ctx, pti_instance *split, pti_ways *ways) {
    const int *declared = ways->call[0].array;
    pti_call *added = &ways->call[ways->n_ways++];
    *added = (pti_call){.instance = split};
    if (declared == NULL)
        return POLYTILE_OK;
    added->array = list_split_arrays(split, declared);
    return added->array != NULL
               ? POLYTILE_OK
               : pti_fail_memory(ctx, split->kernel_name, split->n_operands * (double)sizeof(int));
}

/** Return whether two splits of one instance have the same pieces. */
static bool is_same_split(const pti_instance *one, const pti_instance *other) {
    bool is_same = one->n_operands == other->n_operands;
    for (int o = 0; is_same && o < one->n_operands; o++)
        is_same = one->operand[o].n_sections == other->operand[o].n_sections;
    return is_same && memcmp(one->section, other->section,
                             (size_t)one->n_sections * sizeof *one->section) == 0;
}

static int find_known_way(const pti_ways *ways, const pti_instance *split) {
    int w = 1;
    while (w < ways->n_ways && !is_same_split(ways->call[w].instance, split))
        w++;
    return w;
}

/** Find the way of a split, or add it; way: 0 where the split is NULL, or no more can be added. The
 * split is taken in any case. */
static polytile_status find_or_add_way(polytile_context *ctx, pti_instance *split, pti_ways *ways,
                                       int *way) {
    polytile_status status = POLYTILE_OK;
    const int known = split == NULL ? 0 : find_known_way(ways, split);
    if (split == NULL || known < ways->n_ways || known == PTI_MAX_WAYS)
        pti_instance_free(split);
    else
        PTI_TRY(add_way(ctx, split, ways));
    *way = known < ways->n_ways ? known : 0;
done:
    return status;
}

polytile_status pti_ways_find(polytile_context *ctx, pti_ways *ways, const polytile_domain *threads,
                              int finer, int *way) {
    const int most_further = finer == 0 ? INT_MAX : ways->call[finer].instance->n_further - 1;
    pti_instance *split;
    polytile_status status;
    *way = 0;
    if (!ways->may_split)
        return POLYTILE_OK;
    PTI_TRY(pti_instance_split(ctx, ways->call[0].instance, threads, most_further, &split));
    status = find_or_add_way(ctx, split, ways, way);
done:
    return status;
}

polytile_status pti_ways_cover(polytile_context *ctx, pti_ways *ways, int k, int *way) {
    pti_instance *split;
    polytile_status status;
    *way = 0;
    if (!ways->may_split)
        return POLYTILE_OK;
    PTI_TRY(pti_instance_split_by_cover(ctx, ways->call[0].instance, k, &split));
    status = find_or_add_way(ctx, split, ways, way);
done:
    return status;
}

polytile_status pti_ways_adopt(polytile_context *ctx, pti_ways *ways, const pti_instance *pieces,
                               int *way) {
    pti_instance *copy = NULL;
    polytile_status status = pti_instance_copy(ctx, pieces, &copy);
    if (status == POLYTILE_OK)
        return find_or_add_way(ctx, copy, ways, way);
    pti_instance_free(copy);
    return status;
}

polytile_status pti_ways_shear(polytile_context *ctx, pti_ways *ways, int way, int *sheared) {
    pti_instance *made = NULL;
    polytile_status status = POLYTILE_OK;
    *sheared = 0;
    if (!ways->may_shear || ways->n_ways == PTI_MAX_WAYS)
        return status;
    PTI_TRY(pti_instance_shear(ctx, ways->call[way].instance, &made));
    if (made == NULL)
        return status;
    *sheared = ways->n_ways;
    PTI_TRY(add_way(ctx, made, ways));
done:
    return status;
}

void pti_ways_free(pti_ways *ways) {
    for (int w = 1; w < ways->n_ways; w++) {
        pti_instance_free((pti_instance *)ways->call[w].instance);
        free((int *)ways->call[w].array);
    }
    *ways = (pti_ways){0};
}

/** The name of the first array that has several pieces. */
static const char *name_split_array(const pti_instance *split) {
    int a = 0;
    while (pti_instance_count_pieces(split, a) == 1)
        a++;
    return split->operand[a].name;
}

polytile_status pti_ways_explain(polytile_context *ctx, const pti_ways *ways,
                                 polytile_status status) {
    pti_instance *split = NULL;
    if (ways->may_split || ways->call[0].instance->n_sections < 2)
        return status;
    polytile_status found = pti_instance_split(ctx, ways->call[0].instance, NULL, INT_MAX, &split);
    if (found != POLYTILE_OK)
        return found;
    if (split != NULL)
        pti_fail(ctx, status,
                 "%s; sections of %s lie far apart, or move apart, and a function by hand or a "
                 "launcher gets one box around them: name it twice in the declaration, and give "
                 "the array for both names",
                 polytile_last_error(ctx), name_split_array(split));
    pti_instance_free(split);
    return status;
}
