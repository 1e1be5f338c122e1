#include "distribute/exchange/exchange.h"

#include <stdlib.h>

bool pti_copies_create(int n_arrays, int n_members, pti_copies *copies) {
    *copies = (pti_copies){.n_arrays = n_arrays, .n_members = n_members};
    copies->extra = calloc((size_t)n_arrays * (size_t)n_members + 1, sizeof *copies->extra);
    return copies->extra != NULL;
}

void pti_copies_free(pti_copies *copies) {
    pti_boxes_free_list(copies->extra, copies->n_arrays * copies->n_members);
    *copies = (pti_copies){0};
}

bool pti_copies_assign(pti_copies *to, const pti_copies *from) {
    bool has_failed = false;
    for (int k = 0; k < from->n_arrays * from->n_members; k++) {
        pti_boxes_copy(&to->extra[k], &from->extra[k]);
        has_failed |= to->extra[k].failed;
    }
    return !has_failed;
}

bool pti_copies_are_alike(const pti_copies *one, const pti_copies *other) {
    bool is_same = one->n_arrays == other->n_arrays;
    for (int k = 0; is_same && k < one->n_arrays * one->n_members; k++)
        is_same = pti_boxes_are_alike(&one->extra[k], &other->extra[k]);
    return is_same;
}

pti_boxes *pti_copies_get(const pti_copies *copies, int array, int member) {
    return &copies->extra[array * copies->n_members + member];
}

bool pti_copies_give_all(const pti_copies *copies, int array, const polytile_domain *all) {
    bool has_failed = false;
    for (int m = 0; m < copies->n_members; m++) {
        pti_boxes *extra = pti_copies_get(copies, array, m);
        pti_boxes_assign(extra, all);
        has_failed |= extra->failed;
        extra->failed = false;
    }
    return !has_failed;
}
