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

pti_boxes *pti_copies_get(const pti_copies *copies, int array, int member) {
    return &copies->extra[array * copies->n_members + member];
}
