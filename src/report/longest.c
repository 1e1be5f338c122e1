#include "report/show.h"

#include <stdlib.h>

/** How many kinds of operations a report lists. */
enum { MOST_KINDS = 200 };

static int compare_totals(const void *a, const void *b) {
    const pti_traced_kind *one = *(const pti_traced_kind *const *)a;
    const pti_traced_kind *other = *(const pti_traced_kind *const *)b;
    if (one->total_ns != other->total_ns)
        return one->total_ns > other->total_ns ? -1 : 1;
    return (one > other) - (one < other);
}

const pti_traced_kind **pti_trace_longest_kinds(const polytile_trace *trace, int64_t *n) {
    const pti_traced_kind **kinds =
        malloc((size_t)(trace->n_kinds + 1) * sizeof(const pti_traced_kind *));
    *n = trace->n_kinds < MOST_KINDS ? trace->n_kinds : MOST_KINDS;
    if (kinds == NULL)
        return NULL;
    for (int64_t k = 0; k < trace->n_kinds; k++)
        kinds[k] = &trace->kind[k];
    qsort(kinds, (size_t)trace->n_kinds, sizeof(const pti_traced_kind *), compare_totals);
    return kinds;
}
