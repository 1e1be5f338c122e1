#include "launch/device/execution.h"

#include "access/array/array.h"
#include "access/footprint/call.h"
#include "access/footprint/edges.h"
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "access/pieces/split.h"
#include "base/checked.h"
#include "launch/device/trace.h"
#include "launch/device/view.h"

#include <string.h>

/** Return the memory of the program's array: the host's, or a GPU's in place. */
static pti_memory_span host_image(const pti_execution *run, int operand) {
    return (pti_memory_span){pti_array_memory(run->arrays[operand]), &run->host_layout[operand]};
}

static pti_memory_span placement_image(const pti_execution *run, const pti_placement *placement) {
    if (run->schedule->in_place)
        return host_image(run, placement->operand);
    return (pti_memory_span){run->arena + placement->offset_bytes, &placement->layout};
}

/** Find the two memories of a move; the placement is the device's side. */
static void resolve_upload(pti_execution *run, pti_command *command) {
    const polytile_domain *part =
        run->sharing == NULL ? NULL : run->own_part(run->sharing, command->index);
    command->move.box = part == NULL ? command->move.box : part;
    command->move.from = host_image(run, command->operand);
}

static void resolve_download(pti_execution *run, pti_command *command) {
    command->move.from = command->move.to;
    command->move.to = host_image(run, command->operand);
}

static void resolve_copy(pti_execution *run, pti_command *command) {
    command->move.from =
        placement_image(run, &run->schedule->placement[command->op->source_placement]);
}

/** Find what a fill writes: the identity of a fresh reduction, or zero for elements that nobody
 * wrote. */
static void resolve_fill(pti_execution *run, pti_command *command) {
    const pti_operand *fresh = pti_schedule_fresh(run->schedule, command->op, command->operand);
    memset(run->identity, 0, (size_t)command->move.element_bytes);
    if (fresh != NULL)
        pti_reduction_identity(fresh->reduction, fresh->type, run->identity);
    run->everywhere.hull = command->op->box;
    command->move.from = (pti_memory_span){run->identity, &run->everywhere};
}

/** Return a view without elements, for a superblock that touches none. Any index that a body reads
 * there against its declaration is in the device's memory. */
static polytile_view empty_view(const pti_execution *run, const pti_operand *operand) {
    const pti_memory_layout nothing = {.hull = pti_box_empty(operand->domain.n_dims)};
    polytile_view view = pti_view_of(NULL, &nothing, &operand->whole);
    view.origin = pti_operand_stores(operand) ? NULL : run->arena;
    return view;
}

/** Return the view of a launch's operand. */
static polytile_view view_of(const pti_execution *run, const pti_op *op,
                             const pti_instance *instance, int operand) {
    const pti_placement *placement =
        pti_schedule_placement(run->schedule, op->launch, op->superblock, operand);
    if (placement == NULL)
        return empty_view(run, &instance->operand[operand]);
    pti_memory_span image = placement_image(run, placement);
    const pti_operand *of = &instance->operand[operand];
    polytile_view view = pti_view_of(image.base, image.layout, &of->whole);
    polytile_domain hull = pti_footprint_hull(instance, operand, PTI_TOUCHES, &op->box);
    view.resident = pti_operand_unsheared(of, &hull);
    pti_operand_unshear_strides(of, view.stride_bytes);
    view.first_piece |= pti_operand_is_sheared(of) ? POLYTILE_DIAGONAL : 0;
    return view;
}

/** Return whether scratch of a launch in place has no memory. */
static bool lacks_scratch(const pti_execution *run, const pti_call *call) {
    bool lacks = false;
    for (int o = 0; run->schedule->in_place && o < call->instance->n_operands; o++)
        lacks |= call->instance->operand[o].is_scratch && run->arrays[call->array[o]]->data == NULL;
    return lacks;
}

/** Return the same with the indices of what the program gave for the operand. */
static polytile_view view_as_given(const pti_execution *run, const pti_op *op,
                                   const pti_instance *instance, int operand) {
    polytile_view view = view_of(run, op, instance, operand);
    if (instance->given == NULL)
        return view;
    const pti_instance *given = instance->given->instance;
    view = pti_view_through(&view, &instance->given->map[operand], &given->operand[operand].whole);
    view.resident = pti_footprint_hull(given, operand, PTI_TOUCHES, &op->box);
    return view;
}

/** Return whether all elements that a launch combines into were filled with the identity just
 * before it. */
static bool are_identities_fresh(const pti_execution *run, const pti_call *call, const pti_op *op) {
    const pti_instance *instance = call->instance;
    for (int o = 0; o < instance->n_operands; o++) {
        if (!instance->operand[o].fresh)
            continue;
        polytile_domain hull = pti_footprint_hull(instance, o, PTI_WRITES, &op->box);
        const pti_filled *filled = &run->filled[call->array[o]];
        if (filled->superblock != op->superblock || filled->n_elements < pti_box_count(&hull))
            return false;
    }
    return true;
}

/** List the pieces of an array that has several from piece on, those that the superblock touches,
 * and put the box around them into its view. One alone is the view. Returns the next piece. */
static polytile_view *list_pieces(const pti_execution *run, const pti_op *op,
                                  const pti_instance *instance, int array, polytile_view *view,
                                  polytile_view *first, polytile_view *piece) {
    if (pti_instance_count_pieces(instance, array) == 1)
        return piece;
    polytile_view *const begin = piece;
    for (int o = 0; o < instance->n_operands; o++) {
        if (pti_operand_array(instance, o) != array)
            continue;
        *piece = view_of(run, op, instance, o);
        piece += !pti_box_is_empty(&piece->resident);
    }
    if (piece - begin > 0)
        *view = *begin;
    if (piece - begin <= 1)
        return begin;
    for (const polytile_view *other = begin + 1; other < piece; other++)
        view->resident = pti_box_coarse_union(&view->resident, &other->resident);
    view->first_piece = (int32_t)(begin - first);
    view->n_pieces = (int32_t)(piece - begin);
    return piece;
}

/** Tell kernels that indices may be beyond the ends of arrays: those in pieces expect it. */
static void note_edges(const pti_instance *instance, polytile_view *views) {
    for (int a = 0; a < pti_instance_n_arrays(instance); a++)
        if (views[a].n_pieces == 0)
            views[a].first_piece |= POLYTILE_BEYOND;
}

/** Find the views of a launch: its arrays, their pieces, and its values. */
static void resolve_launch(pti_execution *run, pti_command *command) {
    const pti_call *call = &run->schedule->launch[command->op->launch].call;
    const pti_instance *instance = call->instance;
    const pti_launch_config *config = &run->configs[command->op->launch];
    polytile_view *views =
        run->views + (size_t)(run->n_resolved++ % PTI_LAUNCHES_RESOLVED) * run->n_views;
    polytile_view *values = views + pti_instance_n_arrays(instance),
                  *pieces = values + config->n_values;
    polytile_view *next = pieces;
    for (int a = 0; a < pti_instance_n_arrays(instance); a++)
        views[a] = view_as_given(run, command->op, instance, a);
    for (int v = 0; v < config->n_values; v++)
        values[v] = (polytile_view){.origin = (void *)(uintptr_t)config->values[v].bytes};
    for (int a = 0; instance->n_further > 0 && a < pti_instance_n_arrays(instance); a++)
        next = list_pieces(run, command->op, instance, a, &views[a], pieces, next);
    if (pti_instance_reaches_edges(pti_instance_as_given(instance), &command->op->box))
        note_edges(instance, views);
    command->sub_kernel =
        (pti_sub_kernel){.instance = pti_instance_as_given(instance),
                         .config = *config,
                         .threads = &command->op->box,
                         .views = views,
                         .lacks_scratch = lacks_scratch(run, call),
                         .lane = command->op->lane,
                         .is_first = are_identities_fresh(run, call, command->op)};
}

/** How an operation's memory is found, and to which part of the report its time belongs. */
static const struct {
    void (*resolve)(pti_execution *run, pti_command *command);
    bool computes;
} ops[] = {
    [PTI_UPLOAD] = {resolve_upload, false},     [PTI_COPY] = {resolve_copy, false},
    [PTI_FILL] = {resolve_fill, true},          [PTI_LAUNCH] = {resolve_launch, true},
    [PTI_DOWNLOAD] = {resolve_download, false},
};

pti_command pti_execution_resolve(pti_execution *run, int64_t index) {
    const pti_op *op = &run->schedule->op[index];
    pti_command command = {.op = op, .index = index, .operand = -1};
    if (op->kind != PTI_LAUNCH) {
        const pti_placement *placement = &run->schedule->placement[op->placement];
        command.operand = placement->operand;
        command.move = (pti_move){
            .box = &op->box,
            .element_bytes = run->schedule->instance->operand[placement->operand].element_bytes,
            .to = placement_image(run, placement)};
    }
    ops[op->kind].resolve(run, &command);
    return command;
}

/** Resolve a launch with all of its threads, which find the arrays where a superblock does. */
static pti_command resolve_whole(pti_execution *run, int launch, int64_t superblock,
                                 int64_t index) {
    const pti_instance *instance = run->schedule->launch[launch].call.instance;
    pti_op whole = run->schedule->op[index];
    pti_command command = {.op = &whole, .index = index, .operand = -1};
    whole.box = instance->threads;
    whole.launch = launch;
    whole.superblock = superblock;
    resolve_launch(run, &command);
    command.op = &run->schedule->op[index];
    command.sub_kernel.threads = &instance->threads;
    return command;
}

/** Return the first superblock of a launch that touches an array; the launch's first one if none
 * does. */
static int64_t find_touching(const pti_schedule *schedule, int launch, int array) {
    const pti_schedule_launch *of = &schedule->launch[launch];
    int64_t k = 0;
    while (k < of->n_superblocks &&
           pti_schedule_placements(schedule, launch, of->first_superblock + k)[array] < 0)
        k++;
    return of->first_superblock + (k < of->n_superblocks ? k : 0);
}

pti_sub_kernel pti_execution_resolve_whole(pti_execution *run, int launch, polytile_view *views) {
    const pti_schedule_launch *of = &run->schedule->launch[launch];
    pti_sub_kernel whole = resolve_whole(run, launch, of->first_superblock, 0).sub_kernel;
    memcpy(views, whole.views, run->n_views * sizeof *views);
    for (int a = 0; a < of->call.instance->n_operands; a++) {
        const int64_t superblock = find_touching(run->schedule, launch, a);
        if (superblock != of->first_superblock)
            views[a] = resolve_whole(run, launch, superblock, 0).sub_kernel.views[a];
    }
    whole.views = views;
    return whole;
}

static pti_command resolve_all(pti_execution *run, int launch, int64_t index) {
    return resolve_whole(run, launch, run->schedule->launch[launch].first_superblock, index);
}

/** Let a view show what tiles of a slab load of its array, and store. */
static void show_slab(const pti_execution *run, const pti_tiles *tiles, const pti_op *op,
                      int operand, polytile_view *view) {
    const pti_placement *placement =
        pti_schedule_placement(run->schedule, op->launch, op->superblock, operand);
    polytile_domain around = tiles->own;
    for (int d = 0; d < around.n_dims; d++) {
        around.range[d].lo -= tiles->n_launches * tiles->step.before[d];
        around.range[d].hi += tiles->n_launches * tiles->step.after[d];
    }
    pti_box_intersect(&around, &placement->layout.hull, &view->resident);
}

/** Let views be those of a launch of a slab, of which another one has the same arrays in other
 * roles. */
static void turn_views(const pti_execution *run, int launch, polytile_view *views, int other,
                       const polytile_view *of_other) {
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
    resolve_launch(run, &command.first);
    resolve_launch(run, &second);
    polytile_view *views = (polytile_view *)command.first.sub_kernel.views;
    polytile_view *turned = (polytile_view *)second.sub_kernel.views;
    for (int o = 0; o < run->schedule->launch[op->launch].call.instance->n_operands; o++)
        show_slab(run, tiles, op, o, &turned[o]);
    const int first = tiles->first_launch;
    turn_views(run, first, views, op->launch, turned);
    turn_views(run, (int)pti_min(first + 1, op->launch), turned, first, views);
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
    polytile_view view = view_of(run, op, instance, operand);
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
        margin.before[d] = tiles->n_launches * tiles->step.before[d];
        margin.after[d] = tiles->n_launches * tiles->step.after[d];
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
    resolve_launch(run, &command.first);
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
    pti_tile_command command = {.tiles = tiles,
                                .first = resolve_all(run, first, tiles->first_op),
                                .second = resolve_all(run, first + 1, tiles->first_op).sub_kernel,
                                .last = {.op = &run->schedule->op[last], .index = last}};
    command.first.sub_kernel.threads = &tiles->own;
    for (int l = first; l < first + tiles->n_launches; l++)
        command.first.n_threads +=
            (double)pti_box_count(&run->schedule->launch[l].call.instance->threads);
    return command;
}

void pti_execution_begin_count(pti_execution *run) {
    __atomic_store_n(&run->device->n_ops_done, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&run->device->n_ops, run->schedule->n_ops, __ATOMIC_RELAXED);
}

/** Operations end about in their order. */
static void count_done(const pti_execution *run, int64_t n_done) {
    if (n_done > __atomic_load_n(&run->device->n_ops_done, __ATOMIC_RELAXED))
        __atomic_store_n(&run->device->n_ops_done, n_done, __ATOMIC_RELAXED);
}

void pti_execution_show(pti_execution *run, int64_t n_done) {
    count_done(run, n_done);
    if (n_done > 0)
        pti_progress_update(&run->progress, n_done - 1);
}

void pti_execution_note(pti_execution *run, const pti_op *op, double start_s, double taken_s) {
    pti_trace_op(run->device, op, start_s, taken_s);
    *(ops[op->kind].computes ? &run->report->compute_s : &run->report->transfer_s) += taken_s;
    count_done(run, op - run->schedule->op + 1);
    pti_progress_update(&run->progress, op - run->schedule->op);
}

static void begin_launch(pti_execution *run, const pti_op *op) {
    const pti_call *call = &run->schedule->launch[op->launch].call;
    for (int o = 0; o < call->instance->n_operands; o++) {
        if (call->instance->operand[o].writes)
            pti_completeness_begin(&run->completeness, call->array[o]);
    }
}

/** What a launch writes may stay on the device; a failure loses it as one in place does. */
void pti_execution_begin(pti_execution *run, const pti_command *command) {
    const pti_schedule *schedule = run->schedule;
    pti_op_kind kind = command->op->kind;
    run->device->n_ops_begun = command->index + 1;
    if (kind == PTI_DOWNLOAD || (schedule->in_place && kind == PTI_FILL))
        pti_completeness_begin(&run->completeness, command->operand);
    if (kind == PTI_LAUNCH && (schedule->in_place || !pti_schedule_is_of_one_launch(schedule)))
        begin_launch(run, command->op);
}

static void count_filled(pti_filled *filled, const pti_op *op) {
    if (filled->superblock != op->superblock)
        *filled = (pti_filled){.superblock = op->superblock};
    filled->n_elements += pti_box_count(&op->box);
}

void pti_execution_count(pti_execution *run, const pti_command *command) {
    const pti_op *op = command->op;
    run->report->h2d_bytes += op->kind == PTI_UPLOAD ? op->bytes : 0;
    run->report->d2h_bytes += op->kind == PTI_DOWNLOAD ? op->bytes : 0;
    run->report->n_kernels += op->kind == PTI_LAUNCH;
    if (op->kind == PTI_FILL)
        count_filled(&run->filled[command->operand], op);
}
