#include "distribute/share/chunk_list.h"

#include <stdlib.h>

/* Chunks are what as many members would get of arrays that are dealt out in rows. */

static const pti_distribution rows = {.kind = &pti_distribution_block, .only_dim = 0};

const char *pti_chunks_obstacle_text(pti_chunks_obstacle obstacle) {
    static const char *const texts[] = {
        [PTI_CHUNKS_NONE] = "nothing",
        [PTI_CHUNKS_REDUCE] = "it reduces, and results would depend on who takes what",
        [PTI_CHUNKS_WHOLE] = "it cannot be cut along the first dimension of what it writes",
        [PTI_CHUNKS_NO_MEMORY] = "memory ran out",
    };
    return texts[obstacle];
}

static bool reduces_any(const pti_instance *instance) {
    bool does = false;
    for (int a = 0; a < instance->n_operands; a++)
        does |= instance->operand[a].reduces;
    return does;
}

/** Whether only the hull of some of its writes is known, which chunks may share. */
static bool writes_in_part(const pti_instance *instance) {
    bool does = false;
    for (int a = 0; a < instance->n_operands; a++)
        does |= instance->operand[a].writes && instance->operand[a].partial;
    return does;
}

static pti_ownership *place_in_rows(const polytile_domain *domains, int n_arrays, int n_chunks) {
    pti_ownership *placed = calloc((size_t)n_arrays + 1, sizeof *placed);
    for (int p = 0; placed != NULL && p < n_arrays; p++) {
        if (domains[p].n_dims > 0)
            placed[p] = pti_ownership_of(&domains[p], n_chunks, NULL, &rows);
    }
    return placed;
}

/** Empty chunks are left out. */
static bool add_chunk(const pti_home *home, const pti_shared_launch *launch,
                      const pti_ownership *placed, int chunk, pti_chunk_list *chunks) {
    pti_boxes *threads = &chunks->threads[chunks->n_chunks];
    pti_home_threads(home, launch, placed, chunk, threads);
    chunks->n_chunks += threads->n_boxes > 0 || threads->failed;
    return !threads->failed;
}

static pti_chunks_obstacle cut_by_share(const pti_shared_launch *launch,
                                        const pti_ownership *placed, int n_chunks,
                                        pti_chunk_list *chunks) {
    pti_home home = pti_home_of(launch, placed);
    bool is_made = true;
    if (home.failed)
        return PTI_CHUNKS_NO_MEMORY;
    if (home.operand < 0 || home.splits || home.widens || writes_in_part(launch->call.instance))
        return PTI_CHUNKS_WHOLE;
    chunks->threads = calloc((size_t)n_chunks, sizeof *chunks->threads);
    if (chunks->threads == NULL)
        return PTI_CHUNKS_NO_MEMORY;
    for (int chunk = 0; chunk < n_chunks && is_made; chunk++)
        is_made = add_chunk(&home, launch, placed, chunk, chunks);
    return is_made ? PTI_CHUNKS_NONE : PTI_CHUNKS_NO_MEMORY;
}

pti_chunks_obstacle pti_chunk_list_cut(const pti_shared_launch *launch,
                                       const polytile_domain *domains, int n_arrays, int n_chunks,
                                       pti_chunk_list *chunks) {
    *chunks = (pti_chunk_list){0};
    if (reduces_any(launch->call.instance))
        return PTI_CHUNKS_REDUCE;
    pti_ownership *placed = place_in_rows(domains, n_arrays, n_chunks);
    pti_chunks_obstacle obstacle =
        placed == NULL ? PTI_CHUNKS_NO_MEMORY : cut_by_share(launch, placed, n_chunks, chunks);
    free(placed);
    if (obstacle != PTI_CHUNKS_NONE)
        pti_chunk_list_free(chunks);
    return obstacle;
}

void pti_chunk_list_free(pti_chunk_list *chunks) {
    pti_boxes_free_list(chunks->threads, chunks->n_chunks);
    *chunks = (pti_chunk_list){0};
}
