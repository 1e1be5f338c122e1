#include "partition/ping_pong/tile_cost.h"

#include "base/checked.h"
#include "partition/cost/predict.h"

/** Launches of a group at most, an odd number, and no more than a tile kernel takes: longer ones
 * compute too much of their borders. */
enum { MOST_LAUNCHES = 15 };

/** Rows of a tile with its border are a multiple of this. */
enum { ROWS_TOGETHER = 8 };

/** 228 KiB of shared memory for two thread blocks on each of 132 multiprocessors, less what CUDA
 * takes of a block. */
const pti_tile_room pti_tile_room_default = {
    .image_bytes = (228 / 2 - 1) * 1024 / PTI_TILE_IMAGES, .n_columns = 128, .n_tiles = 264};

/**
 * What a thread's accesses cost in a tile, in passes of the array through memory: five points on an
 * H100, docs/on_chip.md.
 */
static const double access_cost = 0.065;

/** Tiles pay if they cost at most this part of launch after launch. */
static const double most_cost_that_pays = 0.8;

/** Fewer launches a group are as good as more that cost this much less. */
static const double as_good_ratio = 1.05;

bool pti_ping_pong_has_columns(const pti_ping_pong *ping_pong) {
    return !pti_goes_round(ping_pong->rounds, 1) ||
           pti_range_count(ping_pong->instance->threads.range[1]) >= ping_pong->room->n_columns;
}

static int64_t most_rows(const pti_ping_pong *ping_pong) {
    const int64_t row_bytes = ping_pong->instance->n_operands * ping_pong->room->n_columns *
                              ping_pong->instance->operand[0].element_bytes;
    const int64_t most =
        PTI_TILE_IMAGES * ping_pong->room->image_bytes / row_bytes / ROWS_TOGETHER * ROWS_TOGETHER;
    return pti_goes_round(ping_pong->rounds, 0)
               ? pti_min(most, pti_range_count(ping_pong->instance->threads.range[0]))
               : most;
}

static int count_loaded(const pti_ping_pong *ping_pong) {
    int n = 0;
    for (int o = 0; o < ping_pong->instance->n_operands; o++)
        n += ping_pong->instance->operand[o].reads;
    return n;
}

int pti_ping_pong_passes_apart(const pti_ping_pong *ping_pong) {
    return count_loaded(ping_pong) + 1;
}

/** Return how much longer a tile with its border is along an index. */
static int64_t border_of(const pti_ping_pong *ping_pong, int n_launches, int dim) {
    return n_launches *
           (ping_pong->margin_per_launch.before[dim] + ping_pong->margin_per_launch.after[dim]);
}

bool pti_ping_pong_find_tile(const pti_ping_pong *ping_pong, int n_launches, int64_t *tile) {
    tile[0] = most_rows(ping_pong) - border_of(ping_pong, n_launches, 0);
    tile[1] = ping_pong->room->n_columns - border_of(ping_pong, n_launches, 1);
    return tile[0] > 0 && tile[1] > 0 && pti_ping_pong_has_columns(ping_pong);
}

double pti_ping_pong_cost(const pti_ping_pong *ping_pong, int n_launches, int64_t own_rows) {
    int64_t tile[2];
    double computed = 0;
    if (!pti_ping_pong_find_tile(ping_pong, n_launches, tile) || own_rows < 1)
        return 2 * pti_ping_pong_passes_apart(ping_pong);
    const double all =
        (double)((own_rows + border_of(ping_pong, n_launches, 0)) * ping_pong->room->n_columns);
    const double own = (double)(own_rows * tile[1]);
    for (int l = 0; l < n_launches; l++)
        computed += (double)(own_rows + border_of(ping_pong, l, 0)) *
                    (double)(tile[1] + border_of(ping_pong, l, 1));
    return (ping_pong->n_stored + count_loaded(ping_pong) * all / own) / n_launches +
           access_cost * pti_thread_accesses(ping_pong->instance) * computed / own / n_launches;
}

/** Return what a launch costs in the largest tiles. */
static double least_cost(const pti_ping_pong *ping_pong, int n_launches) {
    int64_t tile[2];
    return pti_ping_pong_find_tile(ping_pong, n_launches, tile)
               ? pti_ping_pong_cost(ping_pong, n_launches, tile[0])
               : 2 * pti_ping_pong_passes_apart(ping_pong);
}

int pti_ping_pong_choose_among(const pti_ping_pong *ping_pong, int least, int step) {
    double best = least_cost(ping_pong, least);
    int n = least;
    for (int k = least; k <= MOST_LAUNCHES; k += step)
        best = best < least_cost(ping_pong, k) ? best : least_cost(ping_pong, k);
    while (least_cost(ping_pong, n) > as_good_ratio * best)
        n += step;
    return best <= most_cost_that_pays * pti_ping_pong_passes_apart(ping_pong) ? n : 0;
}

int pti_ping_pong_choose(const pti_ping_pong *ping_pong) {
    return pti_ping_pong_choose_among(ping_pong, PTI_PING_PONG_LEAST, 2);
}

pti_ping_pong_groups pti_ping_pong_cut(int n_launches, int most) {
    pti_ping_pong_groups made = {.n_groups = (int)pti_ceil_div(n_launches, most)};
    made.n_groups += (n_launches - made.n_groups) % 2;
    const int n_pairs = (n_launches - made.n_groups) / 2;
    made.n_launches = 1 + 2 * (n_pairs / made.n_groups);
    made.n_longer = n_pairs % made.n_groups;
    return made;
}
