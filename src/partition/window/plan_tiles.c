#include "partition/window/plan_chain.h"

#include "partition/ping_pong/tile_cost.h"
#include "partition/skew/tiled.h"
#include "partition/window/tiles.h"
#include "partition/window/tiles_aside.h"
#include "partition/window/tiles_text.h"
#include <polytile/kernel_tile_launch.h>
#include <polytile/size.h>

#include <stdlib.h>

/* What a plan says of tiles: what a queue does on a GPU whose tiles are those of an H200. */

static pti_tile_kernel any_kernel(const void *of, int launch) {
    (void)of;
    (void)launch;
    return PTI_TILES_ROUND;
}

/** Say what becomes of launches that run one after the other; the schedule stays as it is. */
static polytile_status describe_apart(pti_schedule *schedule, pti_text *text) {
    pti_tiles *const before = schedule->tiles;
    const int n_before = schedule->n_tiles;
    schedule->tiles = NULL;
    schedule->n_tiles = 0;
    polytile_status status =
        pti_tiles_find(&pti_tile_room_default, any_kernel, NULL, schedule, text);
    if (status == POLYTILE_OK)
        status = pti_tiles_place_aside(schedule, text);
    free(schedule->tiles);
    schedule->tiles = before;
    schedule->n_tiles = n_before;
    return status;
}

/** Say what becomes of a chain's launches in each slab; the chain stays as it is. */
static polytile_status describe_slabs(const pti_batch *batch, pti_text *text) {
    const pti_fusion_group *group = batch->group;
    pti_skew_shape shape;
    bool is_chosen;
    pti_chain chain = group->chain;
    pti_tile_kernel *tiles = malloc(((size_t)chain.n_launches + 1) * sizeof *tiles);
    if (tiles == NULL)
        return POLYTILE_NO_MEMORY;
    for (int l = 0; l < chain.n_launches; l++)
        tiles[l] = PTI_TILES_ROUND;
    chain.tiled = NULL;
    chain.lacks_rounds = (pti_text){0};
    polytile_status status = pti_tiled_find(&pti_tile_room_default, tiles, group->dropped, &chain);
    if (status == POLYTILE_OK)
        status = pti_fusion_group_choose_tiled(batch->window, batch->first, group, &chain, &shape,
                                               &is_chosen);
    if (status == POLYTILE_OK && is_chosen)
        pti_tiles_describe_chain(&chain, &shape, text);
    pti_tiled_free(chain.tiled);
    pti_text_free(&chain.lacks_rounds);
    free(tiles);
    return status;
}

/** Say why no launches of a list run as one: what is the matter with the first that reads what the
 * one before it wrote. */
static void explain_launches(const pti_schedule *schedule, pti_text *text) {
    int l = 1;
    while (l < schedule->n_launches &&
           !pti_call_reads_result(&schedule->launch[l].call, &schedule->launch[l - 1].call))
        l++;
    if (l >= schedule->n_launches)
        pti_text_add(text, "launches run one by one: none reads what the one before it writes");
    else if (!pti_role_change_explain_none(&schedule->launch[l].call, &schedule->launch[l - 1].call,
                                           text))
        pti_text_add(text, "launches of %s run one by one: %s",
                     schedule->launch[l].call.instance->kernel_name,
                     schedule->n_launches <= PTI_PING_PONG_LEAST
                         ? "there are too few of them in a row"
                         : "in tiles they would take as long, or read too far");
}

/** What is true of a GPU by its memory, and of a kernel by how it was compiled, is known when the
 * launches run. */
static void add_assumption(pti_text *text) {
    char size[32];
    pti_text_add(text,
                 " (with %s of shared memory for a thread block of %d threads, as on an H200; the "
                 "GPU, and whether the kernel's body was compiled for tiles, decide at run time)",
                 polytile_size_format(PTI_TILE_IMAGES * pti_tile_room_default.image_bytes, size),
                 POLYTILE_TILE_THREADS);
}

polytile_status pti_plan_describe_tiles(const pti_batch *batch, pti_schedule *schedule,
                                        pti_text *text) {
    polytile_status status = POLYTILE_OK;
    const bool is_of_slabs =
        batch->group != NULL && batch->group->n_launches > 0 && pti_batch_streams(batch);
    if (batch->n_launches < 2 || schedule->in_place || (schedule->period.times > 0 && !is_of_slabs))
        return POLYTILE_OK;
    if (is_of_slabs)
        status = describe_slabs(batch, text);
    else
        status = describe_apart(schedule, text);
    if (status == POLYTILE_OK && text->length == 0)
        explain_launches(schedule, text);
    else
        add_assumption(text);
    return text->failed ? POLYTILE_NO_MEMORY : status;
}
