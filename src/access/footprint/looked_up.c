#include "access/footprint/looked_up.h"

#include "access/footprint/affine.h"
#include "access/footprint/footprint.h"

/** What one thread looks up: a box, of which the dimensions before dim are found. */
typedef struct gathering {
    const pti_instance *instance;
    const pti_section *section;
    const polytile_domain *thread;
    pti_box_function *visit;
    void *user;
    polytile_domain box;
    polytile_range hull; /* of dim */
    int dim;
    bool is_last; /* no dimension behind dim is gathered */
} gathering;

static void gather_from(gathering of);
static void gather_behind(const gathering *of);

/** Go on with each index that some elements of an index array hold. */
static void gather_elements(const polytile_domain *elements, void *user) {
    gathering *of = user;
    const pti_looked_up *end = &of->section->indirection->lo[of->dim];
    const int64_t plus = pti_affine_min(&end->plus, of->thread);
    int64_t element[POLYTILE_MAX_DIMS];
    pti_box_first_point(elements, element);
    do {
        const int64_t index = plus + pti_index_array_get(end->array, element);
        if (index < of->hull.lo || of->hull.hi < index)
            continue;
        of->box.range[of->dim] = (polytile_range){index, index, 1};
        if (of->is_last)
            of->visit(&of->box, of->user);
        else
            gather_behind(of);
    } while (pti_box_next_point(elements, element));
}

static void gather_behind(const gathering *of) {
    gathering next = *of;
    next.dim++;
    gather_from(next);
}

/** The next dimension that is gathered, from one on; n_dims: none. */
static int gathered_from(const pti_section *section, int dim) {
    const pti_indirection *by = section->indirection;
    while (dim < section->n_dims && !(by->is_indirect[dim] && by->gathers[dim]))
        dim++;
    return dim;
}

static void gather_from(gathering of) {
    const pti_indirection *by = of.section->indirection;
    of.dim = gathered_from(of.section, of.dim);
    if (of.dim == of.section->n_dims) {
        of.visit(&of.box, of.user);
        return;
    }
    of.hull = of.box.range[of.dim];
    of.is_last = gathered_from(of.section, of.dim + 1) == of.section->n_dims;
    pti_section_each_of_thread(of.instance, &by->lo[of.dim].section, of.thread, gather_elements,
                               &of);
}

/** The hull of what a thread has of a section. Dimensions that are gathered are whole where no
 * other one is looked up, since each index of them is found anyway. */
static polytile_domain find_wide_hull(const pti_instance *instance, const pti_section *section,
                                      const polytile_domain *thread) {
    bool only_gathers = section->indirection != NULL;
    for (int d = 0; only_gathers && d < section->n_dims; d++)
        only_gathers = !section->indirection->is_indirect[d] || section->indirection->gathers[d];
    if (!only_gathers)
        return pti_section_hull(instance, section, thread);
    pti_section wide = *section;
    wide.indirection = NULL;
    return pti_section_hull(instance, &wide, thread);
}

void pti_section_each_of_thread(const pti_instance *instance, const pti_section *section,
                                const polytile_domain *thread, pti_box_function *visit,
                                void *user) {
    const polytile_domain hull = find_wide_hull(instance, section, thread);
    if (pti_box_is_empty(&hull))
        return;
    if (section->indirection == NULL)
        visit(&hull, user);
    else
        gather_from((gathering){.instance = instance,
                                .section = section,
                                .thread = thread,
                                .visit = visit,
                                .user = user,
                                .box = hull});
}

void pti_looked_up_load(const pti_looked_up *end, int64_t first, int64_t step, int n,
                        int64_t *indices) {
    pti_index_array_load(end->array, first, step, n, indices);
    for (int k = 0; k < n; k++)
        indices[k] += end->plus.constant;
}

bool pti_looked_up_flatten(const polytile_domain *box, pti_index_array *vector,
                           pti_looked_up *end) {
    if (!pti_index_array_as_vector(end->array, box, vector))
        return false;
    end->array = vector;
    return true;
}
