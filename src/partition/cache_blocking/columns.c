#include "base/checked.h"
#include "partition/cache_blocking/in_place.h"
#include "partition/schedule/builder.h"
#include "partition/skew/memory.h"
#include <polytile/size.h>

#include <math.h>
#include <stdlib.h>

/* Columns of a chain in place: whether they pay, and how large tiles are. */

/** Seconds of a thread, in units of what it takes out of the caches of a core: where all of its
 * elements come from memory and go there, and where they are in caches that cores share, with a
 * wait after each launch (five points of floats on two cores of an EPYC 9004). */
static const double memory_cost = 4, shared_cost = 1.8;

/** What the ends of a row of threads cost, in threads: vectors are not full there, and what is
 * known of a row is found anew. */
static const double row_ends = 90;

/** Tiles stay in the caches of a core if they take at most this part of it. */
static const double share_of_core = 0.75;

/** Columns pay if they take at most this part of what they would take without. */
static const double worth = 0.9;

/** Of rows of a tile and of columns a worker powers of two are tried, up to these. */
enum { MOST_ROWS = 1024, MOST_COLUMNS = 1 << 12 };

/** Superblocks of a schedule, and tiles: planning them takes some hundredths of a second. */
enum { MOST_PIECES = PTI_MAX_SUPERBLOCKS / 2, MOST_TILES = PTI_MAX_OPS / 2 };

/** Coordinates of all threads of a chain, from begin on. */
typedef struct extent {
    int64_t begin;
    int64_t length;
    int64_t most_offset;
} extent;

/** A number of launches a pass, while its tiles are chosen. */
typedef struct column_trial {
    const pti_skew_request *request;
    const pti_chain *across;
    extent along; /* of the request's chain */
    extent aside; /* of the other */
    int n_per_pass;
    int n_passes;
    pti_skew_need *needs;        /* of rows; owned */
    pti_skew_need *across_needs; /* of columns; owned */
    double cost;                 /* of the best so far, of a thread */
} column_trial;

static extent extent_of(const pti_chain *chain) {
    int64_t first = INT64_MAX, last = INT64_MIN, most_offset = 0;
    for (int l = 0; l < chain->n_launches; l++) {
        const pti_cut_launch *cut = &chain->launch[l];
        const polytile_range *threads = &cut->call.instance->threads.range[cut->index];
        first = pti_min(first, threads->lo + cut->offset);
        last = pti_max(last, threads->hi + cut->offset);
        most_offset = pti_max(most_offset, cut->offset);
    }
    return (extent){first, last - first + 1, most_offset};
}

/** Return the part of an array's columns that a tile touches. */
static double share_of_columns(const column_trial *of, int array, int64_t width) {
    const pti_skew_need *need = &of->across_needs[array];
    if (of->across->axis[array] < 0 || need->all_rows == 0)
        return 1;
    return fmin(1, (double)(width + need->band_rows) / (double)need->all_rows);
}

static double tile_bytes(const column_trial *of, int64_t n_rows, int64_t width) {
    double sum = 0;
    for (int a = 0; a < of->request->chain->arrays->n_operands; a++) {
        const pti_skew_need *need = &of->needs[a];
        const double rows = (double)pti_min(n_rows + need->band_rows, need->all_rows);
        sum += need->whole_bytes > 0
                   ? (double)need->whole_bytes
                   : rows * (double)need->row_bytes * share_of_columns(of, a, width);
    }
    return sum;
}

static int64_t widest_band(const column_trial *of) {
    int64_t widest = 0;
    for (int a = 0; a < of->request->chain->arrays->n_operands; a++)
        widest = pti_max(widest, of->across_needs[a].band_rows);
    return widest;
}

/** Return the threads that follow one another in memory, in a tile. */
static double innermost_threads(const column_trial *of, int64_t n_rows, int64_t width) {
    const pti_cut_launch *cut = &of->request->chain->launch[0];
    const pti_instance *instance = cut->call.instance;
    const int last = instance->n_indices - 1;
    if (of->across->launch[0].index == last)
        return (double)width;
    return cut->index == last ? (double)n_rows
                              : (double)pti_range_count(instance->threads.range[last]);
}

/** Return the tiles of a column of n_slabs slabs: no more columns than these run at once. */
static double count_tiles(const pti_skew_request *request, double n_slabs, int n_per_slab) {
    const int64_t n_ops = (int64_t)(n_slabs * n_per_slab);
    return n_slabs *
           (double)pti_ceil_div(n_per_slab, pti_columns_tile_ops(n_ops, request->n_workers));
}

/** Return the time of workers that each take `turns` columns, in units of the time that these take:
 * they wait for tiles of the column before, or have none left at the end. */
static double time_of_columns(const pti_skew_request *request, double turns, double n_tiles) {
    const double n_workers = (double)request->n_workers;
    return fmax(1, n_workers / n_tiles) + (fmin(n_workers, n_tiles) - 1) / (turns * n_tiles);
}

/** Return what a thread costs: out of the caches of its core, its part of bringing a tile there,
 * and its part of the time in which workers wait for the first column, or have none left. */
static double thread_cost(const column_trial *of, int64_t n_rows, int64_t width) {
    const double n_columns = ceil((double)of->aside.length / (double)width);
    const double n_slabs = of->n_passes * ceil((double)of->along.length / (double)n_rows);
    const double n_workers = (double)of->request->n_workers;
    const double turns = ceil(n_columns / n_workers);
    const double n_tiles = count_tiles(of->request, n_slabs, of->n_per_pass);
    const double idle = turns * n_workers / n_columns - 1 +
                        time_of_columns(of->request, turns, n_tiles) - 1 +
                        (double)of->aside.most_offset / (double)of->aside.length / turns;
    const double computes =
        1 + 1 / (double)n_rows + row_ends / innermost_threads(of, n_rows, width);
    const double brings =
        memory_cost / of->n_per_pass * (1 + (double)widest_band(of) / (double)width);
    return (computes + brings) * (1 + idle);
}

static bool may_be_tile(const column_trial *of, int64_t n_rows, int64_t width) {
    const double n_slabs = ceil((double)of->along.length / (double)n_rows) + 1;
    const double n_pieces = n_slabs * of->request->chain->n_launches;
    return n_pieces <= MOST_PIECES &&
           n_pieces * ceil((double)of->aside.length / (double)width) <= MOST_TILES &&
           tile_bytes(of, n_rows, width) <= share_of_core * (double)of->request->core_bytes;
}

static void try_tile(column_trial *of, int64_t n_rows, int64_t width, pti_skew_shape *best) {
    if (!may_be_tile(of, n_rows, width))
        return;
    const double cost = thread_cost(of, n_rows, width);
    if (best->column > 0 && cost >= of->cost)
        return;
    of->cost = cost;
    *best = (pti_skew_shape){.n_passes = of->n_passes,
                             .n_per_pass = of->n_per_pass,
                             .slab = n_rows,
                             .n_per_lap = INT64_MAX,
                             .column = width};
}

/** Columns are as many for each worker, and about as wide as each other. */
static void try_tiles(column_trial *of, pti_skew_shape *best) {
    for (int64_t turns = 1; turns <= MOST_COLUMNS; turns += pti_max(1, turns / 4)) {
        const int64_t n_columns = turns * of->request->n_workers;
        if (n_columns > of->aside.length)
            return;
        const int64_t width = pti_ceil_div(of->aside.length, n_columns);
        for (int64_t n_rows = 1; n_rows <= pti_min(MOST_ROWS, of->along.length); n_rows *= 2)
            try_tile(of, n_rows, width, best);
    }
}

/** Try a number of launches a pass; false when memory runs out. */
static bool try_pass_length(column_trial *of, int n_per_pass, pti_skew_shape *best) {
    const int n_launches = of->request->chain->n_launches;
    of->n_per_pass = n_per_pass;
    of->n_passes = (int)pti_ceil_div(n_launches, n_per_pass);
    of->needs = pti_skew_needs(of->request->chain, n_per_pass);
    of->across_needs = pti_skew_needs(of->across, n_per_pass);
    const bool has_memory = of->needs != NULL && of->across_needs != NULL;
    if (has_memory)
        try_tiles(of, best);
    free(of->needs);
    free(of->across_needs);
    return has_memory;
}

/** Return whether the caches that cores share hold all; false also when memory runs out. */
static bool exceeds_caches(const pti_skew_request *request) {
    pti_skew_need *needs = pti_skew_needs(request->chain, request->chain->n_launches);
    const bool exceeds = needs != NULL && pti_skew_slabs_bytes(request->chain, needs, INT64_MAX) >
                                              (double)request->arena_bytes;
    free(needs);
    return exceeds;
}

/** Return what a thread costs without columns. */
static double cost_of_slabs(const pti_skew_request *request) {
    pti_skew_shape slabs = {0};
    pti_text ignored = {0};
    const bool is_chosen = pti_blocking_choose_in_place(request, &slabs, &ignored);
    pti_text_free(&ignored);
    return is_chosen ? shared_cost + memory_cost / slabs.n_per_pass : memory_cost;
}

static void explain_columns(const pti_skew_request *request, const pti_skew_shape *best,
                            pti_text *why) {
    char size[32];
    pti_text_add(
        why, "the cache of a core, %s, %s of %s", polytile_size_format(request->core_bytes, size),
        best->column == 0 ? "holds no tile of two launches" : "saves too little with tiles",
        request->chain->launch[0].call.instance->kernel_name);
}

bool pti_blocking_choose_columns(const pti_skew_request *request, const pti_chain *across,
                                 pti_skew_shape *shape, pti_text *why) {
    const int n_launches = request->chain->n_launches;
    column_trial of = {.request = request,
                       .across = across,
                       .along = extent_of(request->chain),
                       .aside = extent_of(across)};
    pti_skew_shape best = {0};
    bool has_memory = true;
    if (!exceeds_caches(request))
        return false;
    for (int n = pti_skew_fewest_passes(request), most = pti_skew_most_passes(request);
         n <= most && has_memory; n += n / 3 + 1)
        has_memory = try_pass_length(&of, (int)pti_ceil_div(n_launches, n), &best);
    if (!has_memory)
        return false;
    if (best.column > 0 && of.cost <= worth * cost_of_slabs(request)) {
        *shape = best;
        return true;
    }
    explain_columns(request, &best, why);
    return false;
}

/** Return the widest column of which the rows of all launches stay in the cache of a core, of as
 * many columns for each worker; 0: none that is as wide as its band. */
static int64_t widest_column(const pti_skew_request *request, const pti_skew_need *needs,
                             int64_t length) {
    for (int64_t turns = 1; turns * request->n_workers <= length; turns += pti_max(1, turns / 8)) {
        const int64_t width = pti_ceil_div(length, turns * request->n_workers);
        const double n_bytes = pti_skew_slabs_bytes(request->chain, needs, width);
        if (n_bytes <= share_of_core * (double)request->core_bytes)
            return 2 * pti_skew_slabs_bytes(request->chain, needs, 0) <= n_bytes ? width : 0;
    }
    return 0;
}

/** Return what a thread costs where all launches run on each column. */
static double cost_of_columns_alone(const pti_skew_request *request, int64_t width) {
    const int n_launches = request->chain->n_launches;
    return (1 + row_ends / (double)width + 2 * memory_cost / n_launches) *
           fmax(1, (double)request->n_workers / count_tiles(request, 1, n_launches));
}

static double count_all_tiles(const pti_skew_request *request, int64_t length, int64_t width) {
    return (double)request->chain->n_launches * (double)pti_ceil_div(length, width);
}

static void explain_columns_alone(const pti_skew_request *request, const pti_skew_shape *best,
                                  int64_t length, pti_text *why) {
    char size[32];
    if (best->column == 0 || count_all_tiles(request, length, best->column) <= MOST_TILES)
        explain_columns(request, best, why);
    else
        pti_text_add(why,
                     "with the cache of a core, %s, %d launches of %s have %.0f tiles, of at "
                     "most %d",
                     polytile_size_format(request->core_bytes, size), request->chain->n_launches,
                     request->chain->launch[0].call.instance->kernel_name,
                     count_all_tiles(request, length, best->column), MOST_TILES);
}

bool pti_blocking_choose_columns_alone(const pti_skew_request *request, pti_skew_shape *shape,
                                       pti_text *why) {
    const int n_launches = request->chain->n_launches;
    const extent all = extent_of(request->chain);
    pti_skew_need *needs = pti_skew_needs(request->chain, n_launches);
    pti_skew_shape best = {
        .n_passes = 1, .n_per_pass = n_launches, .slab = all.length, .n_per_lap = INT64_MAX};
    bool pays = false;
    if (needs != NULL && exceeds_caches(request) && request->most_per_pass == 0) {
        best.column = widest_column(request, needs, all.length);
        pays = best.column > 0 && count_all_tiles(request, all.length, best.column) <= MOST_TILES &&
               cost_of_columns_alone(request, best.column) <= worth * cost_of_slabs(request);
        if (!pays)
            explain_columns_alone(request, &best, all.length, why);
    }
    free(needs);
    if (pays)
        *shape = best;
    return pays;
}

bool pti_blocking_add_columns(const pti_chain *across, const pti_skew_shape *shape,
                              pti_schedule *schedule) {
    const extent all = extent_of(across);
    pti_columns *columns = &schedule->columns;
    if (!pti_columns_make(across->n_launches, columns))
        return false;
    columns->begin = all.begin;
    columns->width = shape->column;
    columns->n = pti_ceil_div(all.length, shape->column);
    for (int l = 0; l < across->n_launches; l++) {
        columns->index[l] = across->launch[l].index;
        columns->offset[l] = across->launch[l].offset;
    }
    return true;
}
