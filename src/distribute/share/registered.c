#include "distribute/share/registered.h"

#include "access/set/range.h"
#include "base/checked.h"
#include "base/list.h"
#include "base/log.h"
#include "base/text.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** A dimension as it was divided. */
typedef struct answer {
    struct answer *next;
    polytile_range whole;
    int n_parts;
    char arguments[PTI_ARGUMENTS_BYTES];
    int64_t *first;        /* of each part: its first range; one more entry has their number */
    polytile_range *range; /* part by part, ascending */
} answer;

/** A registered layout with the answers that it has given. */
struct pti_registered {
    pti_object object;
    polytile_layout layout;
    pti_distribution_kind kind;
    pthread_mutex_t mutex; /* of what is below: members ask from threads of their own */
    answer *answers;       /* newest first; they stay, so that they can be used without the mutex */
    bool was_told;
};

/** Ranges in the order of the indices, with their owners. */
typedef struct runs {
    int64_t n;
    int64_t capacity;
    polytile_range *range;
    int *owner;
    bool was_clamped;
} runs;

static void free_answer(answer *of) {
    if (of != NULL) {
        free(of->first);
        free(of->range);
    }
    free(of);
}

static void destroy_registered(pti_object *object) {
    pti_registered *registered = (pti_registered *)object;
    for (answer *next; registered->answers != NULL; registered->answers = next) {
        next = registered->answers->next;
        free_answer(registered->answers);
    }
    pthread_mutex_destroy(&registered->mutex);
    free((char *)(uintptr_t)registered->layout.name);
    free(registered);
}

/* Asking. */

static bool grow_runs(runs *of) {
    if (of->n < of->capacity)
        return true;
    int64_t capacity = 2 * of->capacity + 16;
    if (!PTI_RESIZE(of->range, capacity) || !PTI_RESIZE(of->owner, capacity))
        return false;
    of->capacity = capacity;
    return true;
}

/** Add a range after the others, to the last one if that has the same owner. */
static bool add_owned_range(runs *of, polytile_range range, int owner) {
    if (of->n > 0 && of->owner[of->n - 1] == owner) {
        of->range[of->n - 1].hi = range.hi;
        return true;
    }
    if (!grow_runs(of))
        return false;
    of->range[of->n] = range;
    of->owner[of->n++] = owner;
    return true;
}

static bool ask_for_runs(const polytile_layout *layout, const answer *of, runs *found) {
    const polytile_layout_dimension dimension = {.first = of->whole.lo,
                                                 .last = of->whole.hi,
                                                 .n_parts = of->n_parts,
                                                 .arguments = of->arguments};
    for (int64_t index = of->whole.lo, last; index <= of->whole.hi; index = last + 1) {
        int64_t told = index;
        int owner = layout->find_owner(&dimension, index, &told, layout->user);
        int part = (int)pti_max(0, pti_min(owner, of->n_parts - 1));
        last = pti_max(index, pti_min(told, of->whole.hi));
        found->was_clamped |= part != owner || last != told;
        if (!add_owned_range(found, (polytile_range){index, last, 1}, part))
            return false;
    }
    return true;
}

/** Sort the ranges by their owners. */
static bool sort_runs(const runs *found, answer *of) {
    of->first = calloc((size_t)of->n_parts + 2, sizeof *of->first);
    of->range = calloc((size_t)found->n + 1, sizeof *of->range);
    if (of->first == NULL || of->range == NULL)
        return false;
    for (int64_t k = 0; k < found->n; k++)
        of->first[found->owner[k] + 2]++;
    for (int p = 0; p < of->n_parts; p++)
        of->first[p + 2] += of->first[p + 1];
    for (int64_t k = 0; k < found->n; k++)
        of->range[of->first[found->owner[k] + 1]++] = found->range[k];
    return true;
}

static void tell_clamped(pti_registered *registered) {
    if (!registered->was_told)
        pti_log(
            registered->object.context, PTI_LOG_WARN,
            "layout %s: answers that are no part, or end before the index or after the last, are "
            "taken for the nearest one that is",
            registered->layout.name);
    registered->was_told = true;
}

static answer *ask_for_owners(pti_registered *registered, const pti_distribution *distribution,
                              const polytile_range *whole, int n_parts) {
    answer *made = calloc(1, sizeof *made);
    runs found = {0};
    if (made == NULL)
        return NULL;
    made->whole = *whole;
    made->n_parts = n_parts;
    memcpy(made->arguments, distribution->arguments, sizeof made->arguments);
    bool is_known = ask_for_runs(&registered->layout, made, &found) && sort_runs(&found, made);
    if (found.was_clamped)
        tell_clamped(registered);
    free(found.range);
    free(found.owner);
    if (is_known)
        return made;
    free_answer(made);
    return NULL;
}

/** Find how a dimension was divided, or divide it. NULL: memory ran out. */
static const answer *find_answer(const pti_distribution *distribution, const polytile_range *whole,
                                 int n_parts) {
    pti_registered *registered = distribution->registered;
    pthread_mutex_lock(&registered->mutex);
    answer *found = registered->answers;
    while (found != NULL && (found->n_parts != n_parts || !pti_range_equals(found->whole, *whole) ||
                             strcmp(found->arguments, distribution->arguments) != 0))
        found = found->next;
    if (found == NULL &&
        (found = ask_for_owners(registered, distribution, whole, n_parts)) != NULL) {
        found->next = registered->answers;
        registered->answers = found;
    }
    pthread_mutex_unlock(&registered->mutex);
    return found;
}

bool pti_registered_ask(const pti_distribution *distribution, const polytile_range *whole,
                        int n_parts) {
    return distribution->registered == NULL || find_answer(distribution, whole, n_parts) != NULL;
}

/* As a kind. What is asked for was divided before. */

static bool parse_registered(const char *arguments, pti_distribution *distribution) {
    size_t length = strlen(arguments);
    if (length >= sizeof distribution->arguments)
        return false;
    memcpy(distribution->arguments, arguments, length + 1);
    return true;
}

static int64_t count_registered(const pti_distribution *distribution, const polytile_range *whole,
                                int coordinate, int n_coordinates) {
    const answer *of = find_answer(distribution, whole, n_coordinates);
    return of == NULL ? 0 : of->first[coordinate + 1] - of->first[coordinate];
}

static polytile_range get_registered(const pti_distribution *distribution,
                                     const polytile_range *whole, int coordinate, int n_coordinates,
                                     int64_t k) {
    const answer *of = find_answer(distribution, whole, n_coordinates);
    return of == NULL ? pti_range_empty() : of->range[of->first[coordinate] + k];
}

const pti_distribution_kind *pti_registered_find(const polytile_context *ctx, const char *name,
                                                 size_t length, pti_registered **registered) {
    *registered = NULL;
    for (pti_object *object = pti_get_newest(ctx); object != NULL; object = object->next) {
        pti_registered *of = (pti_registered *)object;
        if (object->destroy == destroy_registered && pti_is_name(of->layout.name, name, length)) {
            *registered = of;
            return &of->kind;
        }
    }
    return NULL;
}

polytile_status pti_registered_add(polytile_context *ctx, const polytile_layout *layout) {
    pti_registered *made = calloc(1, sizeof *made);
    char *name = strdup(layout->name);
    if (made == NULL || name == NULL) {
        free(made);
        free(name);
        return pti_fail_memory(ctx, layout->name, sizeof *made);
    }
    made->layout = *layout;
    made->layout.name = name;
    made->kind = (pti_distribution_kind){.name = name,
                                         .forms = name,
                                         .parse = parse_registered,
                                         .count = count_registered,
                                         .get = get_registered};
    pthread_mutex_init(&made->mutex, NULL);
    pti_object_adopt(ctx, &made->object, destroy_registered);
    return POLYTILE_OK;
}
