#include "distribute/exchange/exchange.h"

#include <stdlib.h>

bool pti_copies_create(int n_arrays, int n_members, pti_copies *copies) {
    *copies = (pti_copies){.n_arrays = n_arrays, .n_members = n_members};
    copies->extra = calloc((size_t)n_arrays * (size_t)n_members + 1, sizeof *copies->extra);
    return copies->extra != NULL;
}

void pti_copies_free(pti_copies *copies) {
    for (int k = 0; copies->extra != NULL && k < copies->n_arrays * copies->n_members; k++)
        pti_boxes_free(&copies->extra[k]);
    free(copies->extra);
    *copies = (pti_copies){0};
}

pti_boxes *pti_copies_get(const pti_copies *copies, int array, int member) {
    return &copies->extra[array * copies->n_members + member];
}
