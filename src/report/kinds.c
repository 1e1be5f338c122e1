#include "report/kinds.h"

#include "base/list.h"

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

/** The name without the word of its work in front. */
static const char *subject_of(const char *name, pti_traced_work work) {
    const size_t n = strlen(works[work].word);
    return n > 0 && strncmp(name, works[work].word, n) == 0 && name[n] == ' ' ? name + n + 1 : name;
}

/** FNV-1a, of Fowler, Noll and Vo. */
static uint64_t hash_of(int process, pti_traced_work work, const char *name) {
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = (hash ^ (uint64_t)(process * PTI_N_WORKS + (int)work)) * UINT64_C(1099511628211);
    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return hash;
}

/** The place of a kind in the table, or the free one where it would be. */
static int64_t *find_place(const pti_trace_collector *collector, int process, pti_traced_work work,
                           const char *name) {
    const uint64_t mask = (uint64_t)collector->n_places - 1;
    uint64_t at = hash_of(process, work, name) & mask;
    for (;; at = (at + 1) & mask) {
        const int64_t k = collector->kind_at[at];
        const pti_traced_kind *kind = k < 0 ? NULL : &collector->to->kind[k];
        if (kind == NULL ||
            (kind->process == process && kind->work == work && strcmp(kind->name, name) == 0))
            return &collector->kind_at[at];
    }
}

/** Have a table that is at most half full with one kind more. */
static polytile_status make_room(pti_trace_collector *collector) {
    const int64_t n_places = collector->n_places == 0 ? 64 : 2 * collector->n_places;
    if (2 * (collector->to->n_kinds + 1) <= collector->n_places)
        return POLYTILE_OK;
    if (!PTI_RESIZE(collector->kind_at, n_places))
        return pti_fail_memory(collector->ctx, "names of a trace", 8.0 * (double)n_places);
    collector->n_places = n_places;
    memset(collector->kind_at, 0xff, (size_t)n_places * sizeof *collector->kind_at);
    for (int64_t k = 0; k < collector->to->n_kinds; k++) {
        const pti_traced_kind *kind = &collector->to->kind[k];
        *find_place(collector, kind->process, kind->work, kind->name) = k;
    }
    return POLYTILE_OK;
}

static polytile_status add_kind(pti_trace_collector *collector, pti_traced_kind kind,
                                int64_t *place) {
    polytile_trace *to = collector->to;
    char *name = strdup(kind.name);
    if (name == NULL || !PTI_GROW(to->kind, to->n_kinds, &to->kind_capacity)) {
        free(name);
        return pti_fail_memory(collector->ctx, "names of a trace", sizeof kind);
    }
    kind.name = name;
    *place = to->n_kinds;
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
    int64_t *place = find_place(collector, process, work, subject);
    if (*place < 0)
        PTI_TRY(add_kind(
            collector,
            (pti_traced_kind){.name = (char *)(uintptr_t)subject, .work = work, .process = process},
            place));
    *kind = (int)*place;
done:
    return status;
}
