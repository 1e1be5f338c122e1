#include "access/footprint/indirection.h"

#include "access/footprint/affine.h"

#include <stdlib.h>

static bool end_follows(const pti_looked_up *end, int index) {
    bool does = end->plus.index[index] != 0;
    for (int d = 0; end->array != NULL && d < end->section.n_dims; d++)
        does = does || pti_subscript_names(&end->section.subscript[d], index);
    return does || (end->array != NULL && pti_section_looks_up_by(&end->section, index));
}

bool pti_section_looks_up_by(const pti_section *section, int index) {
    bool does = false;
    for (int d = 0; section->indirection != NULL && d < section->n_dims; d++)
        does = does || (pti_section_is_indirect(section, d) &&
                        (end_follows(&section->indirection->lo[d], index) ||
                         end_follows(&section->indirection->hi[d], index)));
    return does;
}

void pti_inspection_hold(pti_inspection *inspection) {
    if (inspection != NULL)
        __atomic_add_fetch(&inspection->n_holders, 1, __ATOMIC_RELAXED);
}

void pti_inspection_release(pti_inspection *inspection) {
    if (inspection == NULL || __atomic_sub_fetch(&inspection->n_holders, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int o = 0; inspection->array != NULL && o < inspection->n_operands; o++)
        pti_index_array_release(inspection->array[o]);
    for (int a = 0; inspection->indirection != NULL && a < inspection->n_accesses; a++)
        free(inspection->indirection[a]);
    free(inspection->array);
    free(inspection->indirection);
    free(inspection);
}
