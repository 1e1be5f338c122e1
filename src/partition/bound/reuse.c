#include "partition/bound/reuse.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"

#include <math.h>

static double count_values(const pti_instance *instance, int k) {
    return (double)pti_range_count(instance->threads.range[k]);
}

static bool is_named(const pti_instance *instance, const pti_subscript *subscript, int k) {
    return pti_range_count(instance->threads.range[k]) > 1 && pti_subscript_names(subscript, k);
}

/** Return the only index on which a dimension depends; -1: none, -2: several. */
static int find_index(const pti_instance *instance, const pti_subscript *subscript) {
    int found = -1;
    for (int k = 0; k < instance->n_indices; k++)
        if (is_named(instance, subscript, k))
            found = found == -1 ? k : -2;
    return found;
}

/** Add a dimension in which all threads together touch n_touched elements of the array. */
static bool add_dimension(const pti_instance *instance, const pti_subscript *subscript,
                          int64_t n_touched, pti_projection *projection) {
    int k = find_index(instance, subscript);
    if (k == -1) {
        projection->n_hidden *= (double)n_touched;
        return n_touched > 0;
    }
    if (k < 0 || !pti_subscript_is_single(subscript) ||
        n_touched != pti_range_count(instance->threads.range[k]))
        return false;
    if ((projection->indices >> k & 1) == 0)
        projection->n_threads *= count_values(instance, k);
    projection->indices |= 1u << k;
    return true;
}

static bool find_projection(const pti_instance *instance, const pti_section *section,
                            pti_projection *projection) {
    const pti_operand *operand = &instance->operand[section->operand];
    polytile_domain hull = pti_section_hull(instance, section, &instance->threads);
    *projection =
        (pti_projection){.operand = section->operand,
                         .n_hidden = 1,
                         .n_threads = 1,
                         .element_bytes = (double)operand->element_bytes,
                         .starts = !pti_section_counts(section, PTI_READS) && !operand->partial};
    for (int d = 0; d < section->n_dims; d++)
        if (!add_dimension(instance, &section->subscript[d], pti_range_count(hull.range[d]),
                           projection))
            return false;
    return section->exact;
}

int pti_projections_find(const pti_instance *instance, pti_projection *projections) {
    int n = 0;
    for (int s = 0; s < instance->n_sections && n < PTI_MAX_PROJECTIONS; s++)
        n += find_projection(instance, &instance->section[s], &projections[n]);
    return n;
}

static double started_bytes(const pti_projection *projection) {
    return projection->starts
               ? projection->n_threads * projection->n_hidden * projection->element_bytes
               : 0;
}

/** Return the members of a triple that name index k, as bits. */
static unsigned find_namers(const pti_projection *const *projection, int k) {
    unsigned namers = 0;
    for (int p = 0; p < 3; p++)
        namers |= (projection[p]->indices >> k & 1) << p;
    return namers;
}

/** Return the members of a triple with the two largest numbers of hidden elements, as bits. The
 * smaller number is the size of an index set that no index stands for. */
static unsigned find_hiding(const pti_projection *const *projection, double *n_hidden) {
    int least = 0;
    for (int p = 1; p < 3; p++)
        least = projection[p]->n_hidden < projection[least]->n_hidden ? p : least;
    *n_hidden = fmin(projection[(least + 1) % 3]->n_hidden, projection[(least + 2) % 3]->n_hidden);
    return *n_hidden > 1 ? 7u & ~(1u << least) : 0;
}

/** Return whether a triple has all its index sets. Bit s of index_sets: the members s share, alone,
 * an index set of more than one value. */
static bool has_all_index_sets(unsigned index_sets) {
    const unsigned pairs = 1u << 3 | 1u << 5 | 1u << 6;
    return (index_sets & pairs) == pairs;
}

pti_reuse pti_reuse_of_triple(const pti_instance *instance, const pti_projection *const *projection,
                              double limit_bytes) {
    double n_points, size = 1;
    unsigned index_sets = 1u << find_hiding(projection, &n_points);
    for (int k = 0; k < instance->n_indices; k++) {
        unsigned namers = find_namers(projection, k);
        bool matters = pti_range_count(instance->threads.range[k]) > 1;
        if (matters && (namers & (namers - 1)) == 0)
            return (pti_reuse){0};
        index_sets |= matters ? 1u << namers : 0;
        n_points *= count_values(instance, k);
    }
    if (!has_all_index_sets(index_sets))
        return (pti_reuse){0};
    pti_reuse reuse = {.n_operands = 3};
    for (int p = 0; p < 3; p++) {
        size *= projection[p]->element_bytes;
        reuse.operand[p] = projection[p]->operand;
        reuse.started_bytes += started_bytes(projection[p]);
    }
    reuse.bytes = 2 * n_points * sqrt(size) / sqrt(limit_bytes);
    return reuse;
}

pti_reuse pti_reuse_of_pair(const pti_instance *instance, const pti_projection *const *projection,
                            double limit_bytes) {
    double bytes = 1 / limit_bytes;
    if ((projection[0]->indices & projection[1]->indices) != 0 || projection[0]->indices == 0 ||
        projection[1]->indices == 0)
        return (pti_reuse){0};
    for (int k = 0; k < instance->n_indices; k++)
        if (count_values(instance, k) > 1 &&
            ((projection[0]->indices | projection[1]->indices) >> k & 1) == 0)
            return (pti_reuse){0};
    pti_reuse reuse = {.n_operands = 2};
    for (int p = 0; p < 2; p++) {
        bytes *= projection[p]->n_threads * projection[p]->n_hidden * projection[p]->element_bytes;
        reuse.operand[p] = projection[p]->operand;
        reuse.started_bytes += started_bytes(projection[p]);
    }
    reuse.bytes = bytes;
    return reuse;
}
