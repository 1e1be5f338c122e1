#include "partition/schedule/columns.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/** The most operations of a tile, after which workers of later columns may go on. */
enum { MOST_OPS = 8 };

bool pti_columns_threads(const pti_columns *columns, int launch, int64_t column,
                         const polytile_domain *box, polytile_domain *threads) {
    const int64_t first = columns->begin + column * columns->width - columns->offset[launch];
    *threads = *box;
    polytile_range *along = &threads->range[columns->index[launch]];
    along->lo = pti_max(along->lo, first);
    along->hi = pti_min(along->hi, first + columns->width - 1);
    return along->lo <= along->hi;
}

int64_t pti_columns_tile_ops(int64_t n_ops, int64_t n_workers) {
    return pti_max(1, pti_min(n_ops / (2 * n_workers), MOST_OPS));
}

bool pti_columns_make(int n_launches, pti_columns *columns) {
    const size_t n = (size_t)n_launches + 1;
    *columns = (pti_columns){.index = calloc(n, sizeof *columns->index),
                             .offset = calloc(n, sizeof *columns->offset)};
    return columns->index != NULL && columns->offset != NULL;
}

bool pti_columns_copy(const pti_columns *from, int n_launches, pti_columns *to) {
    const size_t n = (size_t)n_launches;
    if (from->n == 0) {
        *to = (pti_columns){0};
        return true;
    }
    if (!pti_columns_make(n_launches, to))
        return false;
    to->n = from->n;
    to->width = from->width;
    to->begin = from->begin;
    memcpy(to->index, from->index, n * sizeof *to->index);
    memcpy(to->offset, from->offset, n * sizeof *to->offset);
    return true;
}

void pti_columns_free(pti_columns *columns) {
    free(columns->index);
    free(columns->offset);
    *columns = (pti_columns){0};
}
