#include "launch/device/execution.h"

#include "access/footprint/call.h"
#include "base/checked.h"

/* Launches that may run as one, resolved. */

/* Slabs. */

/** Let a view show what tiles of a slab load of its array, and store. */
static void show_slab(const pti_execution *run, const pti_tiles *tiles, const pti_op *op,
                      int operand, polytile_view *view) {
    const pti_placement *placement =
        pti_schedule_placement(run->schedule, op->launch, op->superblock, operand);
    polytile_domain around = tiles->own;
    for (int d = 0; d < around.n_dims; d++) {
        around.range[d].lo -= tiles->n_launches * tiles->margin_per_launch.before[d];
        around.range[d].hi += tiles->n_launches * tiles->margin_per_launch.after[d];
    }
    pti_box_intersect(&around, &placement->layout.hull, &view->resident);
}

/** Let views be those of a launch of a slab, of which another one has the same arrays in other
 * roles. */
static void view_in_other_roles(const pti_execution *run, int launch, polytile_view *views,
                                int other, const polytile_view *of_other) {
    const pti_call *call = &run->schedule->launch[launch].call;
    for (int o = 0; o < call->instance->n_operands; o++)
        views[o] =
            of_other[pti_call_find_operand(&run->schedule->launch[other].call, call->array[o])];
}

/** Resolve launches of a slab: the last one, of which others have the arrays in turn. Its views
 * become those of the first launch, and of the one after it. */
static pti_tile_command resolve_slab(pti_execution *run, const pti_tiles *tiles) {
    const int64_t last = tiles->first_op + tiles->n_ops - 1;
    const pti_op *op = &run->schedule->op[last];
    pti_tile_command command = {.tiles = tiles,
                                .first = {.op = op, .index = last, .operand = -1},
                                .last = {.op = op, .index = last}};
    pti_command second = command.first;
    if (pti_box_is_empty(&tiles->own))
        return command;
    pti_execution_resolve_launch(run, &command.first);
    pti_execution_resolve_launch(run, &second);
    polytile_view *views = (polytile_view *)command.first.sub_kernel.views;
    polytile_view *turned = (polytile_view *)second.sub_kernel.views;
    for (int o = 0; o < run->schedule->launch[op->launch].call.instance->n_operands; o++)
        show_slab(run, tiles, op, o, &turned[o]);
    const int first = tiles->first_launch;
    view_in_other_roles(run, first, views, op->launch, turned);
    view_in_other_roles(run, (int)pti_min(first + 1, op->launch), turned, first, views);
    command.first.sub_kernel.threads = &tiles->own;
    command.second = second.sub_kernel;
    command.first.n_threads = tiles->n_launches * (double)pti_box_count(&tiles->own);
    return command;
}

/* Slabs of rings. */

/** Return the operation of the last launch that has the threads of a side. */
static const pti_op *last_op_of_side(const pti_execution *run, const pti_tiles *tiles, int side) {
    const pti_op *op = &run->schedule->op[tiles->first_op + tiles->n_ops - 1];
    return pti_box_equals(&op->box, pti_tiles_own(tiles, side)) ? op : op - 1;
}

/** Return the view of what tiles of a side may touch of an operand, which is half of an array. */
static polytile_view view_of_half(const pti_execution *run, const pti_op *op,
                                  const polytile_domain *parts, int n_parts, int operand) {
    const pti_instance *instance = run->schedule->launch[op->launch].call.instance;
    polytile_view view = pti_execution_view_of(run, op, instance, operand);
    const pti_placement *placement =
        pti_schedule_placement(run->schedule, op->launch, op->superblock, operand);
    view.resident = pti_box_empty(view.resident.n_dims);
    for (int p = 0; p < n_parts && placement != NULL; p++) {
        polytile_domain rows = placement->layout.hull, common;
        rows.range[0] = parts[p].range[0];
        if (pti_box_intersect(&rows, &placement->layout.hull, &common))
            view.resident = pti_box_coarse_union(&view.resident, &common);
    }
    return view;
}

/** Find the threads that tiles of a side run of the first launch, and what these may read. */
static int list_parts_around(const pti_tiles *tiles, const polytile_domain *own,
                             const polytile_domain *all, polytile_domain *parts) {
    pti_margin margin = {{0}, {0}};
    for (int d = 0; d < own->n_dims; d++) {
        margin.before[d] = tiles->n_launches * tiles->margin_per_launch.before[d];
        margin.after[d] = tiles->n_launches * tiles->margin_per_launch.after[d];
    }
    return pti_parts_around(own, &margin, all, tiles->rounds, parts);
}

/** Resolve a side of a ring's slab. The views of its arrays are those of the first launch, of the
 * one after it, and of the other half. */
static pti_tile_command resolve_ring(pti_execution *run, const pti_tiles *tiles, int side) {
    const polytile_domain *own = pti_tiles_own(tiles, side);
    const int64_t last = tiles->first_op + tiles->n_ops - 1;
    pti_tile_command command = {.tiles = tiles,
                                .last = {.op = &run->schedule->op[last], .index = last}};
    if (side == 0 && !pti_box_is_empty(&tiles->opposite))
        command.last.op = NULL;
    if (pti_box_is_empty(own))
        return command;
    const pti_op *op = last_op_of_side(run, tiles, side);
    command.first = (pti_command){.op = op, .index = op - run->schedule->op, .operand = -1};
    pti_execution_resolve_launch(run, &command.first);
    command.second = command.first.sub_kernel;
    polytile_domain parts[PTI_TILING_PARTS];
    const int n_parts =
        list_parts_around(tiles, own, &command.first.sub_kernel.instance->threads, parts);
    polytile_view(*views)[PTI_TILE_IMAGES] = run->ring_views[side];
    for (int o = 0; o < PTI_TILE_IMAGES; o++) {
        views[0][o] = view_of_half(run, op, parts, n_parts, o + side * PTI_TILE_IMAGES);
        views[2][o] = view_of_half(run, op, parts, n_parts, o + (1 - side) * PTI_TILE_IMAGES);
        views[1][1 - o] = views[0][o];
    }
    command.first.sub_kernel.views = views[0];
    command.second.views = views[1];
    command.beyond = views[2];
    command.first.sub_kernel.threads = own;
    command.first.n_threads = tiles->n_launches * (double)pti_box_count(own);
    return command;
}

pti_tile_command pti_execution_resolve_tiles(pti_execution *run, const pti_tiles *tiles, int side) {
    const int64_t last = tiles->first_op + tiles->n_ops - 1;
    const int first = tiles->first_launch;
    if (tiles->is_of_ring)
        return resolve_ring(run, tiles, side);
    if (tiles->is_of_slab)
        return resolve_slab(run, tiles);
    pti_tile_command command = {
        .tiles = tiles,
        .first = pti_execution_resolve_all(run, first, tiles->first_op),
        .second = pti_execution_resolve_all(run, first + 1, tiles->first_op).sub_kernel,
        .last = {.op = &run->schedule->op[last], .index = last}};
    command.first.sub_kernel.threads = &tiles->own;
    for (int l = first; l < first + tiles->n_launches; l++)
        command.first.n_threads +=
            (double)pti_box_count(&run->schedule->launch[l].call.instance->threads);
    return command;
}
