#include "report/collect.h"

#include "base/list.h"
#include "base/mix.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *word, *noun;
} works[PTI_N_WORKS] = {
#define PTI_WORK(name, word, noun) [PTI_WORK_##name] = {word, noun},
    PTI_WORKS(PTI_WORK)
#undef PTI_WORK
};

const char *pti_traced_work_noun(pti_traced_work work) {
    return works[work].noun;
}

static pti_traced_work work_of_category(const char *category) {
    int work = 0;
    while (work < PTI_WORK_OTHER && strcmp(works[work].word, category) != 0)
        work++;
    return (pti_traced_work)work;
}

/** Return the name without the word of its work in front. */
static const char *subject_of(const char *name, pti_traced_work work) {
    const size_t n = strlen(works[work].word);
    return n > 0 && strncmp(name, works[work].word, n) == 0 && name[n] == ' ' ? name + n + 1 : name;
}

/** Return the bucket of a kind in the table, or the free one where it would be. */
static int64_t *find_bucket(const pti_trace_collector *collector, int process, pti_traced_work work,
                            const char *name) {
    const uint64_t mask = (uint64_t)collector->n_buckets - 1;
    uint64_t at = pti_mix_text(pti_mix(pti_mix(0, process), (int64_t)work), name) & mask;
    for (;; at = (at + 1) & mask) {
        const int64_t k = collector->bucket[at];
        const pti_traced_kind *kind = k < 0 ? NULL : &collector->to->kind[k];
        if (kind == NULL ||
            (kind->process == process && kind->work == work && strcmp(kind->name, name) == 0))
            return &collector->bucket[at];
    }
}

/** Have a table that is at most half full with one kind more. */
static polytile_status make_room(pti_trace_collector *collector) {
    const int64_t n_buckets = collector->n_buckets == 0 ? 64 : 2 * collector->n_buckets;
    if (2 * (collector->to->n_kinds + 1) <= collector->n_buckets)
        return POLYTILE_OK;
    if (!PTI_RESIZE(collector->bucket, n_buckets))
        return pti_fail_memory(collector->ctx, "names of a trace", 8.0 * (double)n_buckets);
    collector->n_buckets = n_buckets;
    memset(collector->bucket, 0xff, (size_t)n_buckets * sizeof *collector->bucket);
    for (int64_t k = 0; k < collector->to->n_kinds; k++) {
        const pti_traced_kind *kind = &collector->to->kind[k];
        *find_bucket(collector, kind->process, kind->work, kind->name) = k;
    }
    return POLYTILE_OK;
}

static polytile_status add_kind(pti_trace_collector *collector, pti_traced_kind kind,
                                int64_t *bucket) {
    polytile_trace *to = collector->to;
    char *name = strdup(kind.name);
    if (name == NULL || !PTI_GROW(to->kind, to->n_kinds, &to->kind_capacity)) {
        free(name);
        return pti_fail_memory(collector->ctx, "names of a trace", sizeof kind);
    }
    kind.name = name;
    *bucket = to->n_kinds;
    to->kind[to->n_kinds++] = kind;
    return POLYTILE_OK;
}

polytile_status pti_trace_find_kind(pti_trace_collector *collector, int process,
                                    const pti_trace_event *event, int *kind) {
    const pti_traced_work work =
        event->category == NULL || collector->to->process[process].is_program
            ? PTI_WORK_OTHER
            : work_of_category(event->category);
    const char *subject = subject_of(event->name == NULL ? "" : event->name, work);
    polytile_status status;
    PTI_TRY(make_room(collector));
    int64_t *bucket = find_bucket(collector, process, work, subject);
    if (*bucket < 0)
        PTI_TRY(add_kind(
            collector,
            (pti_traced_kind){.name = (char *)(uintptr_t)subject, .work = work, .process = process},
            bucket));
    *kind = (int)*bucket;
done:
    return status;
}
