/* Arcs in any order, sorted so that those of each vertex lie side by side. */
#include "apsp_graph.h"

#include "apsp_kernels.h"

#include <string.h>

/** While they are counted, each vertex has its number of arcs one place on. */
void graph_lists_count(void *lists, const graph_arc *arc) {
    ((graph_lists *)lists)->first[arc->from + 1]++;
}

void graph_lists_give_places(graph_lists *lists) {
    for (int64_t v = 0; v < lists->n_vertices; ++v)
        lists->first[v + 1] += lists->first[v];
}

/** While they are filled in, each vertex has the place of its next arc. */
void graph_lists_fill_in(void *lists, const graph_arc *arc) {
    const graph_lists *of = lists;
    const int64_t place = of->first[arc->from]++;
    of->target[place] = (int32_t)arc->to;
    of->weight[place] = arc->weight;
}

void graph_lists_end(graph_lists *lists) {
    memmove(lists->first + 1, lists->first, (size_t)lists->n_vertices * sizeof *lists->first);
    lists->first[0] = 0;
    for (int64_t v = 0; v < lists->n_vertices; ++v) {
        int32_t least = APSP_UNREACHED;
        for (int64_t a = lists->first[v]; a < lists->first[v + 1]; ++a)
            least = lists->weight[a] < least ? lists->weight[a] : least;
        lists->least[v] = least;
    }
}
