#include "launch/device/execution.h"

#include "access/array/array.h"
#include "access/footprint/edges.h"
#include "access/footprint/footprint.h"
#include "access/pieces/shear.h"
#include "access/pieces/split.h"
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

polytile_view pti_execution_view_of(const pti_execution *run, const pti_op *op,
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
    polytile_view view = pti_execution_view_of(run, op, instance, operand);
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
        *piece = pti_execution_view_of(run, op, instance, o);
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

void pti_execution_resolve_launch(pti_execution *run, pti_command *command) {
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

/** How an operation's memory is found. */
static void (*const ops[])(pti_execution *run, pti_command *command) = {
    [PTI_UPLOAD] = resolve_upload,     [PTI_COPY] = resolve_copy,
    [PTI_FILL] = resolve_fill,         [PTI_LAUNCH] = pti_execution_resolve_launch,
    [PTI_DOWNLOAD] = resolve_download,
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
    ops[op->kind](run, &command);
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
    pti_execution_resolve_launch(run, &command);
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

pti_command pti_execution_resolve_all(pti_execution *run, int launch, int64_t index) {
    return resolve_whole(run, launch, run->schedule->launch[launch].first_superblock, index);
}
