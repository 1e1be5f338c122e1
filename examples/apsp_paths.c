/* Shortest paths by a plain algorithm, and paths that are too long to be told. */
#include "apsp_graph.h"

#include "apsp_kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/** A vertex by a distance at which it was reached; a shorter one may have been found since. */
typedef struct heap_entry {
    int32_t distance;
    int32_t vertex;
} heap_entry;

/** The nearest is first; each entry is at most as far as the two at twice its place. */
typedef struct heap {
    heap_entry *entry; /* from place 1 on; owned */
    int64_t n;
    int64_t capacity;
} heap;

static bool push(heap *of, heap_entry added) {
    if (of->n + 1 >= of->capacity) {
        const int64_t capacity = 2 * of->capacity + 64;
        heap_entry *grown = realloc(of->entry, (size_t)capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        of->entry = grown;
        of->capacity = capacity;
    }
    int64_t place = ++of->n;
    for (; place > 1 && added.distance < of->entry[place / 2].distance; place /= 2)
        of->entry[place] = of->entry[place / 2];
    of->entry[place] = added;
    return true;
}

static heap_entry pop(heap *of) {
    const heap_entry nearest = of->entry[1], moved = of->entry[of->n--];
    int64_t place = 1;
    for (int64_t below = 2; below <= of->n; below = 2 * place) {
        below += below < of->n && of->entry[below + 1].distance < of->entry[below].distance;
        if (moved.distance <= of->entry[below].distance)
            break;
        of->entry[place] = of->entry[below];
        place = below;
    }
    of->entry[place] = moved;
    return nearest;
}

/** Reach the ends of a vertex's arcs; false when memory runs out. */
static bool relax(const graph *g, heap_entry from, int32_t *distance, heap *reached) {
    const int64_t *first = polytile_array_get_data(g->first);
    const int32_t *target = polytile_array_get_data(g->target);
    const int32_t *weight = polytile_array_get_data(g->weight);
    for (int64_t a = first[from.vertex]; a < first[from.vertex + 1]; ++a) {
        const int64_t end = (int64_t)from.distance + weight[a];
        if (end >= distance[target[a]])
            continue;
        distance[target[a]] = (int32_t)end;
        if (!push(reached, (heap_entry){(int32_t)end, target[a]}))
            return false;
    }
    return true;
}

bool paths_find_plainly(const graph *g, int64_t source, int32_t *distance) {
    heap reached = {0};
    for (int64_t v = 0; v < g->n_vertices; ++v)
        distance[v] = APSP_UNREACHED;
    distance[source] = 0;
    bool has_memory = push(&reached, (heap_entry){0, (int32_t)source});
    while (has_memory && reached.n > 0) {
        const heap_entry nearest = pop(&reached);
        if (nearest.distance == distance[nearest.vertex])
            has_memory = relax(g, nearest, distance, &reached);
    }
    free(reached.entry);
    return has_memory;
}

static int32_t find_heaviest(const graph *g) {
    const int32_t *weight = polytile_array_get_data(g->weight);
    int32_t heaviest = 0;
    for (int64_t a = 0; a < g->n_arcs; ++a)
        heaviest = weight[a] > heaviest ? weight[a] : heaviest;
    return heaviest;
}

/** Whether an arc may lead too far from a vertex that is reached. */
static bool may_be_too_long(const graph *g, const int32_t *distance, int32_t heaviest) {
    int32_t farthest = 0;
    for (int64_t v = 0; v < g->n_vertices; ++v)
        if (distance[v] != APSP_UNREACHED && distance[v] > farthest)
            farthest = distance[v];
    return farthest > GRAPH_MOST - heaviest;
}

/** Find an arc from a vertex that is reached to one that seems not to be. */
static bool find_long_arc(const graph *g, const int32_t *distance, graph_arc *arc) {
    const int64_t *first = polytile_array_get_data(g->first);
    const int32_t *target = polytile_array_get_data(g->target);
    const int32_t *weight = polytile_array_get_data(g->weight);
    for (int64_t v = 0; v < g->n_vertices; ++v)
        for (int64_t a = first[v]; distance[v] != APSP_UNREACHED && a < first[v + 1]; ++a)
            if (distance[target[a]] == APSP_UNREACHED) {
                *arc = (graph_arc){v, target[a], weight[a]};
                return true;
            }
    return false;
}

static polytile_status refuse_sum(session *s, const graph *g, int64_t source, int32_t before,
                                  const graph_arc *arc) {
    char place[64] = "";
    const int64_t line = g->source.path == NULL ? 0 : dimacs_find_line(s, g->source.path, arc);
    if (line > 0)
        snprintf(place, sizeof place, ": line %" PRId64, line);
    return session_fail(
        s, POLYTILE_OVERFLOW,
        "%s%s: the weight %d of the arc from %" PRId64 " to %" PRId64 " makes a path from %" PRId64
        " of %" PRId64 "; a distance is at most %d: use smaller weights",
        g->source.path == NULL ? "the graph" : g->source.path, place, (int)arc->weight,
        arc->from + 1, arc->to + 1, source + 1, (int64_t)before + arc->weight, (int)GRAPH_MOST);
}

polytile_status paths_check_sums(session *s, const graph *g, int64_t n_sources,
                                 const int32_t *distances) {
    const int32_t heaviest = find_heaviest(g);
    graph_arc arc;
    if (heaviest <= GRAPH_MOST / g->n_vertices)
        return POLYTILE_OK;
    for (int64_t source = 0; source < n_sources; ++source) {
        const int32_t *row = distances + source * g->n_vertices;
        if (may_be_too_long(g, row, heaviest) && find_long_arc(g, row, &arc))
            return refuse_sum(s, g, source, row[arc.from], &arc);
    }
    return POLYTILE_OK;
}
