#include "partition/skew/chain.h"

#include "access/footprint/slabs.h"
#include "base/checked.h"
#include "partition/skew/folded.h"
#include "partition/skew/tiled.h"

#include <stdlib.h>

/** Return whether an affine expression is index + constant. */
static bool follows_index(const pti_affine *affine, int n_indices, int index) {
    for (int d = 0; d < n_indices; d++) {
        if (affine->index[d] != (d == index ? 1 : 0))
            return false;
    }
    return true;
}

/** Return whether a section's dimension is an interval that moves with an index. */
static bool is_window(const pti_section *section, int dimension, int n_indices, int index) {
    const pti_subscript *subscript = &section->subscript[dimension];
    return follows_index(&subscript->lo, n_indices, index) &&
           follows_index(&subscript->hi, n_indices, index);
}

/** Return whether all sections of an operand have such an interval in a dimension. */
static bool has_window(const pti_instance *instance, int operand, int dimension, int index) {
    const pti_operand *of = &instance->operand[operand];
    for (int s = of->first_section; s < of->first_section + of->n_sections; s++) {
        if (!is_window(&instance->section[s], dimension, instance->n_indices, index))
            return false;
    }
    return of->n_sections > 0;
}

/** Return the dimension in which all sections of an operand follow an index; -1: none. */
static int dimension_along(const pti_instance *instance, int operand, int index) {
    for (int m = 0; m < instance->operand[operand].domain.n_dims; m++) {
        if (has_window(instance, operand, m, index))
            return m;
    }
    return -1;
}

/** A chain under construction, and why it ends. */
typedef struct finder {
    pti_chain *chain;
    bool *is_written; /* of each array */
    pti_text *why;
} finder;

static const char *array_name(const finder *of, int array) {
    return of->chain->arrays->operand[array].name;
}

static bool has_axis(const pti_chain *chain, int array) {
    return chain->axis[array] >= 0;
}

/** Return the index of a launch that its arrays' axes follow; -1: no axis is known yet. */
static int index_of_axes(const pti_chain *chain, const pti_cut_launch *cut) {
    const pti_instance *instance = cut->call.instance;
    for (int o = 0; o < instance->n_operands; o++) {
        for (int d = 0; d < instance->n_indices && has_axis(chain, cut->call.array[o]); d++) {
            if (has_window(instance, o, chain->axis[cut->call.array[o]], d))
                return d;
        }
    }
    return -1;
}

/** Return why an operand's launch cannot be cut; NULL if it can. */
static const char *obstacle_of(const pti_operand *operand) {
    if (operand->is_scratch)
        return "has scratch";
    if (operand->fresh)
        return "starts a reduction of";
    return operand->partial ? "writes elements that are only known by a box around them of" : NULL;
}

static bool explain_end_of_chain(const finder *of, const pti_cut_launch *cut, const char *does,
                                 int array) {
    pti_text_add(of->why, "%s %s %s", cut->call.instance->kernel_name, does, array_name(of, array));
    return false;
}

/** Return what a launch does with an operand that has elements anywhere. */
static const char *way_across(const pti_instance *instance, int operand) {
    const pti_operand *of = &instance->operand[operand];
    for (int s = 0; s < of->n_sections; s++)
        if (instance->section[of->first_section + s].indirection != NULL)
            return "looks up elements of";
    return "does not go along the others' slabs in";
}

/** Find an array's axis, the dimension that follows the launch's index; one that is only read may
 * stay whole. */
static bool find_axis(const finder *of, const pti_cut_launch *cut, int operand) {
    const pti_operand *is = &cut->call.instance->operand[operand];
    int a = cut->call.array[operand];
    int *axis = &of->chain->axis[a];
    int found = dimension_along(cut->call.instance, operand, cut->index);
    if (*axis == PTI_AXIS_NONE && (found >= 0 || !(is->writes || of->is_written[a])))
        *axis = found >= 0 ? found : PTI_AXIS_WHOLE;
    if (*axis == PTI_AXIS_WHOLE)
        return !is->writes || explain_end_of_chain(of, cut, "writes", a);
    return (*axis >= 0 && has_window(cut->call.instance, operand, *axis, cut->index)) ||
           explain_end_of_chain(of, cut, way_across(cut->call.instance, operand), a);
}

static bool find_axes(const finder *of, const pti_cut_launch *cut) {
    for (int o = 0; o < cut->call.instance->n_operands; o++) {
        const char *obstacle = obstacle_of(&cut->call.instance->operand[o]);
        if (obstacle != NULL)
            return explain_end_of_chain(of, cut, obstacle, cut->call.array[o]);
        if (!find_axis(of, cut, o))
            return false;
        of->is_written[cut->call.array[o]] |= cut->call.instance->operand[o].writes;
    }
    return true;
}

/** Append a launch if its arrays can pass along the others'. */
static bool append_launch(const finder *of, const pti_cut_launch *launch, int first_index) {
    pti_chain *chain = of->chain;
    pti_cut_launch *added = &chain->launch[chain->n_launches];
    int index = index_of_axes(chain, launch);
    bool has_first = first_index < launch->call.instance->n_indices;
    *added = (pti_cut_launch){.call = launch->call};
    added->index = index >= 0 ? index : has_first ? first_index : 0;
    added->call.instance = pti_instance_for_slabs(launch->call.instance, added->index);
    if (!find_axes(of, added))
        return false;
    chain->n_launches++;
    return true;
}

static void clear_chain(const finder *of) {
    of->chain->n_launches = 0;
    for (int a = 0; a < of->chain->arrays->n_operands; a++) {
        of->chain->axis[a] = PTI_AXIS_NONE;
        of->is_written[a] = false;
    }
}

/** Extend the chain as far as launches fit together if the first is cut along an index. */
static void extend_chain(const finder *of, int n_launches, const pti_cut_launch *launches,
                         int index) {
    clear_chain(of);
    while (of->chain->n_launches < n_launches &&
           append_launch(of, &launches[of->chain->n_launches], index))
        continue;
}

/** Find the first launch's index along which the most launches fit together. */
static void find_longest_index(const finder *of, int n_launches, const pti_cut_launch *launches) {
    int best = 0, longest = -1;
    for (int d = 0; d < launches[0].call.instance->n_indices && longest < n_launches; d++) {
        pti_text ignored = {0};
        finder tries = *of;
        tries.why = &ignored;
        extend_chain(&tries, n_launches, launches, d);
        pti_text_free(&ignored);
        if (of->chain->n_launches > longest) {
            longest = of->chain->n_launches;
            best = d;
        }
    }
    extend_chain(of, n_launches, launches, best);
}

/** What is known of a lag: nothing, a bound of it, or the lag itself. */
typedef enum lag_knowledge { LAG_UNKNOWN, LAG_BOUNDED, LAG_KNOWN } lag_knowledge;

/** Launches that are alike, and the lags between kinds of them. */
typedef struct kinds {
    int n_kinds;
    int *of_launch;  /* which kind */
    int *first;      /* of each kind: its first launch */
    int64_t *newest; /* of each kind: the offset of its newest launch, once it has one */
    bool *has_come;
    pti_lag *lag; /* [earlier * n_kinds + later] */
    lag_knowledge *known;
} kinds;

static bool is_launch_alike(const pti_cut_launch *one, const pti_cut_launch *other) {
    return one->index == other->index && pti_chain_is_same_launch(one, other);
}

/** Sort a launch into its kind. */
static void sort_into_kind(kinds *all, const pti_chain *chain, int launch) {
    int k = 0;
    while (k < all->n_kinds &&
           !is_launch_alike(&chain->launch[all->first[k]], &chain->launch[launch]))
        k++;
    if (k == all->n_kinds)
        all->first[all->n_kinds++] = launch;
    all->of_launch[launch] = k;
}

/** Find the lag of a kind behind another; where it is at most `enough` threads, a bound of it
 * will do. */
static polytile_status find_lag(const kinds *of, const pti_chain *chain, int earlier, int later,
                                int64_t enough, pti_lag *lag) {
    const pti_cut_launch *one = &chain->launch[of->first[earlier]];
    const pti_cut_launch *other = &chain->launch[of->first[later]];
    size_t at = (size_t)earlier * (size_t)of->n_kinds + (size_t)later;
    polytile_status status = POLYTILE_OK;
    if (of->known[at] == LAG_UNKNOWN)
        of->known[at] = pti_launch_lag_bound(one, other, &of->lag[at]) ? LAG_KNOWN : LAG_BOUNDED;
    if (of->known[at] == LAG_BOUNDED && of->lag[at].threads > enough) {
        PTI_TRY(pti_launch_lag(one, other, &of->lag[at]));
        of->known[at] = LAG_KNOWN;
    }
    *lag = of->lag[at];
done:
    return status;
}

static int64_t extent_of_launch(const pti_cut_launch *cut) {
    const polytile_range *range = &cut->call.instance->threads.range[cut->index];
    return range->hi - range->lo + 1;
}

/** Find the least offset that keeps a launch after all before it; of each kind the newest has
 * the largest. */
static polytile_status find_offset(kinds *of, const pti_chain *chain, int launch, int64_t former,
                                   int64_t *offset) {
    polytile_status status = POLYTILE_OK;
    int kind = of->of_launch[launch];
    *offset = former;
    for (int k = 0; k < of->n_kinds; k++) {
        pti_lag lag;
        if (!of->has_come[k])
            continue;
        PTI_TRY(find_lag(of, chain, k, kind, *offset - of->newest[k], &lag));
        if (lag.conflicts)
            *offset = pti_max(*offset, of->newest[k] + lag.threads);
    }
    of->newest[kind] = *offset;
    of->has_come[kind] = true;
done:
    return status;
}

/** Set launches' offsets, up to a launch that must wait for the end of another. */
static polytile_status set_offsets(const finder *of, kinds *all) {
    pti_chain *chain = of->chain;
    polytile_status status = POLYTILE_OK;
    int64_t former = 0;
    for (int l = 0; l < chain->n_launches; l++) {
        int64_t offset;
        PTI_TRY(find_offset(all, chain, l, former, &offset));
        if (offset - former >= extent_of_launch(&chain->launch[l])) {
            pti_text_add(of->why, "%s needs results that are complete only after the last slab",
                         chain->launch[l].call.instance->kernel_name);
            chain->n_launches = l;
            break;
        }
        chain->launch[l].offset = former = offset;
    }
done:
    return status;
}

/** Create the kinds of a chain; false when memory runs out. */
static bool create_kinds(const pti_chain *chain, kinds *all) {
    size_t n = (size_t)chain->n_launches;
    *all = (kinds){.of_launch = calloc(n, sizeof *all->of_launch),
                   .first = calloc(n, sizeof *all->first),
                   .newest = calloc(n, sizeof *all->newest),
                   .has_come = calloc(n, sizeof *all->has_come)};
    if (all->of_launch == NULL || all->first == NULL || all->newest == NULL ||
        all->has_come == NULL)
        return false;
    for (int l = 0; l < chain->n_launches; l++)
        sort_into_kind(all, chain, l);
    size_t n_pairs = (size_t)all->n_kinds * (size_t)all->n_kinds;
    all->lag = calloc(n_pairs, sizeof *all->lag);
    all->known = calloc(n_pairs, sizeof *all->known);
    return all->lag != NULL && all->known != NULL;
}

static void free_kinds(kinds *all) {
    free(all->of_launch);
    free(all->first);
    free(all->newest);
    free(all->has_come);
    free(all->lag);
    free(all->known);
}

static polytile_status find_offsets(const finder *of) {
    kinds all = {0};
    polytile_status status = POLYTILE_NO_MEMORY;
    if (of->chain->n_launches == 0)
        return POLYTILE_OK;
    if (create_kinds(of->chain, &all))
        status = set_offsets(of, &all);
    free_kinds(&all);
    return status;
}

static bool touches_array(const pti_chain *chain, int array) {
    for (int l = 0; l < chain->n_launches; l++) {
        const pti_cut_launch *cut = &chain->launch[l];
        for (int o = 0; o < cut->call.instance->n_operands; o++) {
            if (cut->call.array[o] == array)
                return true;
        }
    }
    return false;
}

/** Forget the axes of arrays that no launch of the chain touches: those that do could not join it.
 * */
static void forget_untouched_axes(pti_chain *chain) {
    for (int a = 0; a < chain->arrays->n_operands; a++) {
        if (!touches_array(chain, a))
            chain->axis[a] = PTI_AXIS_NONE;
    }
}

/** In place of an index. */
enum { LONGEST_INDEX = -1 };

/** Find the chain whose first launch is cut along an index, or the longest one. */
static polytile_status find_along(const pti_instance *arrays, int n_launches,
                                  const pti_cut_launch *launches, int index, pti_chain *chain,
                                  pti_text *why) {
    size_t n_arrays = (size_t)arrays->n_operands;
    finder of = {.chain = chain, .is_written = calloc(n_arrays + 1, sizeof(bool)), .why = why};
    polytile_status status = POLYTILE_NO_MEMORY;
    *chain = (pti_chain){.arrays = arrays,
                         .launch = calloc((size_t)n_launches + 1, sizeof *chain->launch),
                         .axis = calloc(n_arrays + 1, sizeof *chain->axis)};
    if (of.is_written != NULL && chain->launch != NULL && chain->axis != NULL) {
        if (index != LONGEST_INDEX)
            extend_chain(&of, n_launches, launches, index);
        else if (n_launches > 0)
            find_longest_index(&of, n_launches, launches);
        status = find_offsets(&of);
        forget_untouched_axes(chain);
    }
    free(of.is_written);
    return status;
}

polytile_status pti_chain_find(const pti_instance *arrays, int n_launches,
                               const pti_cut_launch *launches, pti_chain *chain, pti_text *why) {
    return find_along(arrays, n_launches, launches, LONGEST_INDEX, chain, why);
}

/** Return whether a chain has all launches of another, as they are, along other indices. */
static bool goes_across(const pti_chain *chain, const pti_chain *across) {
    bool does = across->n_launches == chain->n_launches;
    for (int l = 0; does && l < chain->n_launches; l++)
        does = across->launch[l].index != chain->launch[l].index &&
               across->launch[l].call.instance == chain->launch[l].call.instance;
    return does;
}

polytile_status pti_chain_find_across(const pti_chain *chain, pti_chain *across, pti_text *why) {
    const int n_indices = chain->launch[0].call.instance->n_indices;
    polytile_status status = POLYTILE_OK;
    *across = (pti_chain){0};
    if (n_indices == 1)
        pti_text_add(why, "%s has one index", chain->launch[0].call.instance->kernel_name);
    for (int d = 0; d < n_indices && !goes_across(chain, across); d++) {
        if (d == chain->launch[0].index)
            continue;
        pti_chain_free(across);
        pti_text_free(why);
        PTI_TRY(find_along(chain->arrays, chain->n_launches, chain->launch, d, across, why));
    }
    if (!goes_across(chain, across))
        across->n_launches = 0;
done:
    return status;
}

void pti_chain_free(pti_chain *chain) {
    free(chain->launch);
    free(chain->axis);
    pti_folded_free(chain->folded);
    pti_tiled_free(chain->tiled);
    pti_text_free(&chain->lacks_rounds);
    *chain = (pti_chain){0};
}

int pti_chain_n_calls(const pti_chain *chain) {
    return chain->n_launches / pti_chain_unit(chain);
}

bool pti_chain_is_same_launch(const pti_cut_launch *one, const pti_cut_launch *other) {
    bool is_same = one->call.instance == other->call.instance;
    for (int o = 0; is_same && o < one->call.instance->n_operands; o++)
        is_same = one->call.array[o] == other->call.array[o];
    return is_same;
}

bool pti_chain_reach(const pti_chain *chain, int launch, int array, pti_reach *reach) {
    const pti_cut_launch *cut = &chain->launch[launch];
    bool touches = false;
    if (chain->folded != NULL)
        return pti_folded_reach(chain, launch, array, reach);
    for (int o = 0; o < cut->call.instance->n_operands && chain->axis[array] >= 0; o++) {
        const pti_operand *operand = &cut->call.instance->operand[o];
        for (int s = 0; s < operand->n_sections && cut->call.array[o] == array; s++) {
            const pti_subscript *window = &cut->call.instance->section[operand->first_section + s]
                                               .subscript[chain->axis[array]];
            int64_t lo = window->lo.constant, hi = window->hi.constant;
            *reach = touches ? (pti_reach){pti_min(reach->lo, lo), pti_max(reach->hi, hi)}
                             : (pti_reach){lo, hi};
            touches = true;
        }
    }
    return touches;
}
