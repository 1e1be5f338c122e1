#include "graph/schedule/place.h"

#include "base/checked.h"

#include <stdlib.h>
#include <string.h>

/* Branch and bound. A node has, for each two tasks, by how much one starts after the other at
 * least, of the same frame: the longest paths over the edges so far. First it is decided of each
 * two tasks of a resource how their frames alternate; then of each buffer how many frames it holds.
 * What each buffer holds at least bounds the bytes from below. */

enum { MAX_TASKS = 28, MAX_PAIRS = 160, MAX_NODES = 30000 };

static const int64_t apart = INT64_MIN / 4; /* no path */

/** Two tasks of one resource, of which one runs first. */
typedef struct task_pair {
    int u;
    int v;
    bool is_decided;
} task_pair;

/** The search through the orders of all pairs. */
typedef struct orders_search {
    const pti_stream_tasks *of;
    int64_t period;
    int n_tasks;
    int n_pairs;
    task_pair *pair; /* owned */
    int64_t *least;  /* of each buffer, frames by decisions; owned */
    bool *is_held;   /* of each buffer: its least frames are decided; owned */
    int64_t *paths;  /* a matrix a level; owned */
    int n_levels;
    int64_t best_bytes; /* INT64_MAX: none is known */
    int64_t *start;     /* of the best; the caller's */
    bool improved;
    int64_t n_nodes;
} orders_search;

/** The longest paths between tasks at a level of the search: a matrix. */
static int64_t *longest_paths_at(const orders_search *of, int level) {
    return of->paths + (size_t)level * (size_t)of->n_tasks * (size_t)of->n_tasks;
}

/** Add an edge to the longest paths; false: it makes a cycle that raises starts for ever. */
static bool add_edge(const orders_search *of, int64_t *path, int from, int to, int64_t weight) {
    const int n = of->n_tasks;
    if (weight <= path[from * n + to])
        return true;
    if (path[to * n + from] > apart / 2 && path[to * n + from] + weight > 0)
        return false;
    for (int a = 0; a < n; a++) {
        if (path[a * n + from] <= apart / 2)
            continue;
        const int64_t through = path[a * n + from] + weight;
        for (int b = 0; b < n; b++)
            if (path[to * n + b] > apart / 2)
                path[a * n + b] = pti_max(path[a * n + b], through + path[to * n + b]);
    }
    return true;
}

/** How many frames a buffer holds at least. */
static int64_t least_frames(const orders_search *of, const int64_t *path, int buffer) {
    const pti_frame_buffer *held = &of->of->buffer[buffer];
    const pti_task *task = of->of->task;
    int64_t length = task[held->producer].ticks;
    for (int r = held->first_reader; r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &of->of->reader[r];
        const int64_t path_ticks = path[held->producer * of->n_tasks + reader->task];
        if (path_ticks > apart / 2)
            length =
                pti_max(length, path_ticks + task[reader->task].ticks + reader->delay * of->period);
    }
    return pti_max(pti_max(1, of->least[buffer]), pti_ceil_div(length, of->period));
}

static int64_t least_bytes(const orders_search *of, const int64_t *path) {
    int64_t n_bytes = 0;
    for (int b = 0; b < of->of->n_buffers; b++)
        n_bytes = pti_add_saturated(
            n_bytes, pti_mul_saturated(of->of->buffer[b].frame_bytes, least_frames(of, path, b)));
    return n_bytes;
}

static bool limit_frames(const orders_search *of, int64_t *path, int buffer, int64_t frames) {
    const pti_frame_buffer *held = &of->of->buffer[buffer];
    bool is_good = true;
    for (int r = held->first_reader; is_good && r < held->first_reader + held->n_readers; r++) {
        const pti_buffer_reader *reader = &of->of->reader[r];
        is_good =
            add_edge(of, path, reader->task, held->producer,
                     of->of->task[reader->task].ticks + (reader->delay - frames) * of->period);
    }
    return is_good;
}

/** In how many ways two tasks can alternate: v of frame f runs between u of the frames f + first -
 * 1 and f + first, up to last. A pair that no path joins can be moved to be 0 frames apart. */
static void find_ways(const orders_search *of, const int64_t *path, const task_pair *of_two,
                      int64_t *first, int64_t *last) {
    const int64_t from = path[of_two->u * of->n_tasks + of_two->v];
    const int64_t to = path[of_two->v * of->n_tasks + of_two->u];
    const int64_t u = of->of->task[of_two->u].ticks, v = of->of->task[of_two->v].ticks;
    if (from <= apart / 2 || to <= apart / 2) {
        *first = *last = 0;
        return;
    }
    *first = -pti_floor_div(-(u + to), of->period);
    *last = pti_floor_div(of->period - v - from, of->period);
}

static bool order_pair(const orders_search *of, int64_t *path, const task_pair *of_two,
                       int64_t way) {
    const int64_t u = of->of->task[of_two->u].ticks, v = of->of->task[of_two->v].ticks;
    return add_edge(of, path, of_two->u, of_two->v, u - way * of->period) &&
           add_edge(of, path, of_two->v, of_two->u, v + (way - 1) * of->period);
}

/** The pair with the fewest ways; -1: all are decided. */
static int choose_pair(const orders_search *of, const int64_t *path) {
    int64_t fewest = INT64_MAX;
    int chosen = -1;
    for (int p = 0; p < of->n_pairs; p++) {
        int64_t first, last;
        if (of->pair[p].is_decided)
            continue;
        find_ways(of, path, &of->pair[p], &first, &last);
        if (last - first < fewest) {
            fewest = last - first;
            chosen = p;
        }
    }
    return chosen;
}

/** The buffer of the most bytes whose frames are not decided; -1: none. */
static int choose_buffer(const orders_search *of) {
    int chosen = -1;
    for (int b = 0; b < of->of->n_buffers; b++)
        if (!of->is_held[b] && of->of->buffer[b].n_readers > 0 &&
            (chosen < 0 || of->of->buffer[b].frame_bytes > of->of->buffer[chosen].frame_bytes))
            chosen = b;
    return chosen;
}

static void record_best(orders_search *of, const int64_t *path, int64_t n_bytes) {
    const int n = of->n_tasks;
    for (int t = 0; t < n; t++) {
        of->start[t] = 0;
        for (int a = 0; a < n; a++)
            of->start[t] = pti_max(of->start[t], path[a * n + t]);
    }
    of->best_bytes = n_bytes;
    of->improved = true;
}

static void visit_level(orders_search *of, int level);

static int64_t *copy_level(const orders_search *of, int level) {
    const size_t n_bytes = (size_t)of->n_tasks * (size_t)of->n_tasks * sizeof(int64_t);
    return memcpy(longest_paths_at(of, level + 1), longest_paths_at(of, level), n_bytes);
}

static void decide_pair(orders_search *of, int level, int chosen) {
    int64_t first, last;
    find_ways(of, longest_paths_at(of, level), &of->pair[chosen], &first, &last);
    of->pair[chosen].is_decided = true;
    for (int64_t way = first; way <= last && of->n_nodes < MAX_NODES; way++)
        if (order_pair(of, copy_level(of, level), &of->pair[chosen], way))
            visit_level(of, level + 1);
    of->pair[chosen].is_decided = false;
}

static void decide_buffer(orders_search *of, int level, int chosen) {
    const int64_t *path = longest_paths_at(of, level);
    const int64_t before = of->least[chosen];
    of->is_held[chosen] = true;
    while (least_bytes(of, path) < of->best_bytes && of->n_nodes < MAX_NODES) {
        of->least[chosen] = least_frames(of, path, chosen);
        if (limit_frames(of, copy_level(of, level), chosen, of->least[chosen]))
            visit_level(of, level + 1);
        of->least[chosen]++;
    }
    of->is_held[chosen] = false;
    of->least[chosen] = before;
}

static void visit_level(orders_search *of, int level) {
    const int64_t *path = longest_paths_at(of, level);
    const int64_t n_bytes = least_bytes(of, path);
    of->n_nodes++;
    if (n_bytes >= of->best_bytes)
        return;
    const int two = choose_pair(of, path);
    const int buffer = two >= 0 ? -1 : choose_buffer(of);
    if (two >= 0)
        decide_pair(of, level, two);
    else if (buffer >= 0)
        decide_buffer(of, level, buffer);
    else
        record_best(of, path, n_bytes);
}

static bool list_pairs(orders_search *of) {
    const pti_task *task = of->of->task;
    for (int u = 0; u < of->n_tasks; u++)
        for (int v = u + 1; v < of->n_tasks; v++) {
            if (task[u].resource < 0 || task[u].resource != task[v].resource)
                continue;
            if (of->n_pairs == MAX_PAIRS)
                return false;
            of->pair[of->n_pairs++] = (task_pair){u, v, false};
        }
    return true;
}

/** The first level: what edges say, and what buffers hold at most in anything better than what is
 * known. False: nothing is. */
static bool begin_search(orders_search *of, const pti_start_edges *edges) {
    int64_t *path = longest_paths_at(of, 0), most = of->n_tasks + 2;
    const int n = of->n_tasks;
    bool is_good = true;
    for (int k = 0; k < n * n; k++)
        path[k] = k % (n + 1) == 0 ? 0 : apart;
    for (int64_t k = 0; is_good && k < edges->n; k++) {
        const pti_start_edge *e = &edges->edge[k];
        is_good = add_edge(of, path, e->from, e->to, pti_start_edge_ticks(e, of->period));
    }
    for (int r = 0; r < of->of->n_readers; r++)
        most += of->of->reader[r].delay;
    const int64_t n_bytes = is_good ? least_bytes(of, path) : 0;
    is_good = is_good && n_bytes < of->best_bytes;
    for (int b = 0; is_good && b < of->of->n_buffers; b++) {
        const int64_t spare =
            of->best_bytes == INT64_MAX
                ? most
                : (of->best_bytes - 1 - n_bytes) / pti_max(1, of->of->buffer[b].frame_bytes);
        is_good = limit_frames(of, path, b, least_frames(of, path, b) + pti_min(spare, most));
    }
    return is_good;
}

static bool allocate_lists(orders_search *of) {
    const size_t n = (size_t)of->n_tasks, n_buffers = (size_t)of->of->n_buffers + 1;
    of->pair = calloc(MAX_PAIRS, sizeof *of->pair);
    of->least = calloc(n_buffers, sizeof *of->least);
    of->is_held = calloc(n_buffers, sizeof *of->is_held);
    return of->pair != NULL && of->least != NULL && of->is_held != NULL && n > 0;
}

static pti_search_end search_orders(orders_search *of, const pti_start_edges *edges) {
    if (!allocate_lists(of))
        return PTI_SEARCH_NO_MEMORY;
    if (!list_pairs(of))
        return PTI_SEARCH_LEFT;
    of->n_levels = of->n_pairs + of->of->n_buffers + 2;
    of->paths = malloc((size_t)of->n_levels * (size_t)of->n_tasks * (size_t)of->n_tasks *
                       sizeof *of->paths);
    if (of->paths == NULL)
        return PTI_SEARCH_NO_MEMORY;
    if (begin_search(of, edges))
        visit_level(of, 0);
    if (of->n_nodes >= MAX_NODES)
        return PTI_SEARCH_LEFT;
    return of->improved ? PTI_SEARCH_IMPROVED : PTI_SEARCH_CONFIRMED;
}

pti_search_end pti_place_search(const pti_stream_tasks *tasks, const pti_start_edges *edges,
                                int64_t period, bool *has_start, int64_t *start) {
    orders_search work = {.of = tasks,
                          .period = period,
                          .n_tasks = tasks->n_tasks,
                          .best_bytes = INT64_MAX,
                          .start = start};
    int64_t n_bytes = 0;
    if (tasks->n_tasks > MAX_TASKS || tasks->n_tasks == 0)
        return PTI_SEARCH_LEFT;
    for (int b = 0; *has_start && b < tasks->n_buffers; b++)
        n_bytes = pti_add_saturated(
            n_bytes, pti_mul_saturated(tasks->buffer[b].frame_bytes,
                                       pti_buffer_capacity(tasks, b, period, start)));
    if (*has_start)
        work.best_bytes = n_bytes;
    pti_search_end end = search_orders(&work, edges);
    *has_start = *has_start || work.improved;
    free(work.pair);
    free(work.least);
    free(work.is_held);
    free(work.paths);
    return end;
}
