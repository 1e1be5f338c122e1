#include "access/set/index_map.h"

pti_index_map pti_index_map_identity(int n_dims) {
    pti_index_map map = {.n_from = n_dims, .n_to = n_dims};
    for (int d = 0; d < n_dims; d++)
        map.coefficient[d][d] = 1;
    return map;
}

static bool row_equals(const pti_index_map *a, const pti_index_map *b, int d) {
    for (int k = 0; k < a->n_from; k++)
        if (a->coefficient[d][k] != b->coefficient[d][k])
            return false;
    return a->constant[d] == b->constant[d];
}

bool pti_index_map_equals(const pti_index_map *a, const pti_index_map *b) {
    bool equals = a->n_from == b->n_from && a->n_to == b->n_to;
    for (int d = 0; d < a->n_to && equals; d++)
        equals = row_equals(a, b, d);
    return equals;
}

pti_index_map pti_index_map_compose(const pti_index_map *first, const pti_index_map *second) {
    pti_index_map map = {.n_from = first->n_from, .n_to = second->n_to};
    for (int d = 0; d < map.n_to; d++) {
        map.constant[d] = second->constant[d];
        for (int m = 0; m < first->n_to; m++) {
            map.constant[d] += second->coefficient[d][m] * first->constant[m];
            for (int k = 0; k < map.n_from; k++)
                map.coefficient[d][k] += second->coefficient[d][m] * first->coefficient[m][k];
        }
    }
    return map;
}
