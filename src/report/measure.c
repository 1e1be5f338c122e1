#include "report/collect.h"

#include "base/checked.h"

#include <stdlib.h>

#define BIT(work) (1U << PTI_WORK_##work)

/** Sets of work, and where the time goes in which at least one of a set runs. */
static const struct {
    unsigned works;
    size_t member; /* of pti_occupancy */
} sets[] = {
    {BIT(LAUNCH), offsetof(pti_occupancy, kernels_ns)},
    {BIT(UPLOAD), offsetof(pti_occupancy, in_ns)},
    {BIT(DOWNLOAD), offsetof(pti_occupancy, out_ns)},
    {BIT(UPLOAD) | BIT(DOWNLOAD), offsetof(pti_occupancy, link_ns)},
    {BIT(UPLOAD) | BIT(DOWNLOAD) | BIT(LAUNCH), offsetof(pti_occupancy, both_ns)},
    {~(BIT(PLAN)), offsetof(pti_occupancy, busy_ns)},
    {BIT(PLAN), offsetof(pti_occupancy, plan_ns)},
    {~0U, offsetof(pti_occupancy, idle_ns)},
};

enum { N_SETS = sizeof sets / sizeof *sets };

/** Until when the work of a process goes that was counted. */
typedef struct counted {
    int64_t first_ns, last_ns;
    int64_t end_ns[N_SETS];
} counted;

static int compare_begins(const void *a, const void *b) {
    const pti_traced_slice *one = a, *other = b;
    if (one->begin_ns != other->begin_ns)
        return one->begin_ns < other->begin_ns ? -1 : 1;
    return (one->end_ns > other->end_ns) - (one->end_ns < other->end_ns);
}

/** Add the time of a slice that no earlier one of the set has. */
static void count_occupied_time(counted *of, pti_occupancy *time, pti_traced_work work,
                                const pti_traced_slice *slice) {
    for (int k = 0; k < N_SETS; k++) {
        if ((sets[k].works & 1U << work) == 0)
            continue;
        const int64_t begin_ns = pti_max(slice->begin_ns, of->end_ns[k]);
        if (slice->end_ns <= begin_ns)
            continue;
        *(int64_t *)(void *)((char *)time + sets[k].member) += slice->end_ns - begin_ns;
        of->end_ns[k] = slice->end_ns;
    }
    of->first_ns = pti_min(of->first_ns, slice->begin_ns);
    of->last_ns = pti_max(of->last_ns, slice->end_ns);
}

/** Turn times of sets into what they have in common, and what is left. */
static void finish_occupancy(pti_occupancy *time, const counted *of) {
    const int64_t any_ns = time->idle_ns;
    time->span_ns = of->last_ns - of->first_ns;
    time->both_ns = time->kernels_ns + time->link_ns - time->both_ns;
    time->plan_alone_ns = any_ns - time->busy_ns;
    time->idle_ns = time->span_ns - any_ns;
}

/** Times begin with the first operation. */
static void shift_times(polytile_trace *trace) {
    const int64_t first_ns = trace->slice[0].begin_ns;
    trace->end_ns = 0;
    for (int64_t k = 0; k < trace->n_slices; k++) {
        trace->slice[k].begin_ns -= first_ns;
        trace->slice[k].end_ns -= first_ns;
        trace->end_ns = pti_max(trace->end_ns, trace->slice[k].end_ns);
    }
}

polytile_status pti_trace_measure(polytile_context *ctx, polytile_trace *trace) {
    const size_t n = (size_t)trace->n_processes;
    counted *of = calloc(n, sizeof *of);
    if (of == NULL)
        return pti_fail_memory(ctx, "the figures of a trace", (double)n * sizeof *of);
    qsort(trace->slice, (size_t)trace->n_slices, sizeof *trace->slice, compare_begins);
    shift_times(trace);
    for (size_t p = 0; p < n; p++)
        of[p].first_ns = INT64_MAX;
    for (int64_t k = 0; k < trace->n_slices; k++) {
        const pti_traced_kind *kind = &trace->kind[trace->slice[k].kind];
        count_occupied_time(&of[kind->process], &trace->process[kind->process].time, kind->work,
                            &trace->slice[k]);
    }
    for (size_t p = 0; p < n; p++)
        if (of[p].first_ns <= of[p].last_ns)
            finish_occupancy(&trace->process[p].time, &of[p]);
    free(of);
    return POLYTILE_OK;
}
