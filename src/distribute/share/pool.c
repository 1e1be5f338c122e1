#include "distribute/share/pool.h"

#include <stdlib.h>

/* Pieces are what as many members would get of arrays that are dealt out in rows. */

static const pti_distribution rows = {.kind = &pti_distribution_block, .only_dim = 0};

const char *pti_pool_obstacle_text(pti_pool_obstacle obstacle) {
    static const char *const texts[] = {
        [PTI_POOL_NONE] = "nothing",
        [PTI_POOL_REDUCES] = "it reduces, and results would depend on who takes what",
        [PTI_POOL_WHOLE] = "it cannot be cut along the first dimension of what it writes",
        [PTI_POOL_NO_MEMORY] = "memory ran out",
    };
    return texts[obstacle];
}

static bool reduces(const pti_instance *instance) {
    bool does = false;
    for (int a = 0; a < instance->n_operands; a++)
        does |= instance->operand[a].reduces;
    return does;
}

/** Whether only the hull of some of its writes is known, which pieces may share. */
static bool writes_in_part(const pti_instance *instance) {
    bool does = false;
    for (int a = 0; a < instance->n_operands; a++)
        does |= instance->operand[a].writes && instance->operand[a].partial;
    return does;
}

static pti_ownership *place_in_rows(const polytile_domain *domains, int n_arrays, int n_pieces) {
    pti_ownership *placed = calloc((size_t)n_arrays + 1, sizeof *placed);
    for (int p = 0; placed != NULL && p < n_arrays; p++) {
        if (domains[p].n_dims > 0)
            placed[p] = pti_ownership_of(&domains[p], n_pieces, NULL, &rows);
    }
    return placed;
}

/** Empty pieces are left out. */
static bool add_piece(const pti_share *share, const pti_shared_launch *launch,
                      const pti_ownership *placed, int piece, pti_pool *pool) {
    pti_boxes *threads = &pool->threads[pool->n_pieces];
    pti_share_threads(share, launch, placed, piece, threads);
    pool->n_pieces += threads->n_boxes > 0 || threads->failed;
    return !threads->failed;
}

static pti_pool_obstacle cut_by_share(const pti_shared_launch *launch, const pti_ownership *placed,
                                      int n_pieces, pti_pool *pool) {
    pti_share share = pti_share_of(launch, placed);
    bool is_made = true;
    if (share.operand < 0 || share.splits || share.widens || writes_in_part(launch->instance))
        return PTI_POOL_WHOLE;
    pool->threads = calloc((size_t)n_pieces, sizeof *pool->threads);
    if (pool->threads == NULL)
        return PTI_POOL_NO_MEMORY;
    for (int piece = 0; piece < n_pieces && is_made; piece++)
        is_made = add_piece(&share, launch, placed, piece, pool);
    return is_made ? PTI_POOL_NONE : PTI_POOL_NO_MEMORY;
}

pti_pool_obstacle pti_pool_cut(const pti_shared_launch *launch, const polytile_domain *domains,
                               int n_arrays, int n_pieces, pti_pool *pool) {
    *pool = (pti_pool){0};
    if (reduces(launch->instance))
        return PTI_POOL_REDUCES;
    pti_ownership *placed = place_in_rows(domains, n_arrays, n_pieces);
    pti_pool_obstacle obstacle =
        placed == NULL ? PTI_POOL_NO_MEMORY : cut_by_share(launch, placed, n_pieces, pool);
    free(placed);
    if (obstacle != PTI_POOL_NONE)
        pti_pool_free(pool);
    return obstacle;
}

void pti_pool_free(pti_pool *pool) {
    pti_boxes_free_list(pool->threads, pool->n_pieces);
    *pool = (pti_pool){0};
}
