#include "access/declare/declaration.h"

bool pti_indirect_ends_are_equal(const pti_indirect_end *a, const pti_indirect_end *b) {
    return a->access == b->access && a->plus.constant == b->plus.constant &&
           pti_terms_are_equal(&a->plus, &b->plus);
}

bool pti_indirect_is_gather(const pti_indirect *indirect, int dim) {
    return pti_indirect_ends_are_equal(&indirect->lo[dim], &indirect->hi[dim]);
}

bool pti_is_index_array(const polytile_declaration *declaration, int array) {
    for (int a = 0; a < declaration->n_accesses; a++) {
        const pti_access *access = &declaration->access[a];
        for (int d = 0; access->indirect != NULL && d < access->n_dims; d++) {
            const int lo = access->indirect->lo[d].access, hi = access->indirect->hi[d].access;
            if (access->indirect->is_indirect[d] && ((lo >= 0 && lo < declaration->n_accesses &&
                                                      declaration->access[lo].array == array) ||
                                                     (hi >= 0 && hi < declaration->n_accesses &&
                                                      declaration->access[hi].array == array)))
                return true;
        }
    }
    return false;
}

bool pti_declaration_is_indirect(const polytile_declaration *declaration) {
    bool is = false;
    for (int a = 0; a < declaration->n_accesses; a++)
        is = is || declaration->access[a].indirect != NULL;
    return is;
}
