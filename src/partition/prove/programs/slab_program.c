#include "partition/prove/programs/slab_program.h"

#include "access/set/box.h"
#include "base/checked.h"
#include "base/list.h"
#include "partition/prove/programs/slab_loads.h"
#include "partition/schedule/builder.h"

#include <stdlib.h>
#include <string.h>

/** What becomes of a launch of the schedule. */
typedef enum pti_slab_part {
    PTI_STAYS,
    PTI_IS_EMPTIED, /* it is in tiles, but not the last there */
    PTI_IS_REPLACED /* it is the last in tiles: a launch for each of its superblocks */
} pti_slab_part;

typedef struct program_maker {
    const pti_schedule *of;
    pti_slab_program *program;
    pti_schedule_launch *launch; /* of the program */
    int n_launches;
    pti_slab_part *part; /* of each launch of the schedule */
    int *number;         /* of each of these: its own in the program, or the first of its own */
    pti_boxes loads, writes;
} program_maker;

/** A section of one box, whatever the thread. */
static pti_section section_of_box(const pti_section *like, int operand,
                                  const polytile_domain *box) {
    pti_section made = *like;
    made.operand = operand;
    made.role = POLYTILE_IN;
    made.is_box = made.exact = true;
    for (int d = 0; d < made.n_dims; d++) {
        made.followed[d] = POLYTILE_MAX_DIMS;
        made.subscript[d] = (pti_subscript){.step = 1};
        made.subscript[d].lo.constant = box->range[d].lo;
        made.subscript[d].hi.constant = box->range[d].hi;
    }
    return made;
}

/** Make room for the sections of a launch, and one more. */
static bool grow_sections(program_maker *maker, int number, pti_instance *made) {
    pti_section **list = &maker->program->section[number];
    const size_t n = (size_t)made->n_sections + (size_t)maker->loads.n_boxes + 1;
    pti_section *grown = realloc(*list, n * sizeof *grown);
    if (grown != NULL)
        *list = made->section = grown;
    return grown != NULL;
}

/** Return the memory aside of an array, as an array of the program. */
static int array_aside(const program_maker *maker, int array) {
    return maker->of->instance->n_operands + array;
}

/** Let it write what the last launch does by an operand. */
static void add_stores(const pti_instance *last, int operand, pti_instance *made) {
    if (!last->operand[operand].writes)
        return;
    made->section[made->n_sections++] = last->section[last->operand[operand].first_section];
    made->operand[operand].n_sections++;
}

/** Let the launch that stands for tiles read the boxes of maker->loads by an operand. */
static bool add_loaded_boxes(program_maker *maker, const pti_section *like, int number,
                             int operand) {
    pti_instance *made = &maker->program->instance[number];
    pti_boxes_clip(&maker->loads, &made->operand[operand].domain);
    if (maker->loads.failed || !grow_sections(maker, number, made))
        return false;
    made->operand[operand].first_section = made->n_sections;
    made->operand[operand].n_sections = maker->loads.n_boxes;
    made->operand[operand].reads = maker->loads.n_boxes > 0;
    for (int b = 0; b < maker->loads.n_boxes; b++)
        made->section[made->n_sections++] = section_of_box(like, operand, &maker->loads.box[b]);
    return true;
}

/** Let the launch that stands for tiles read what they load of an operand's array. */
static bool add_loads(program_maker *maker, const pti_tiles *tiles, int number, int operand) {
    const pti_call *last = &maker->of->launch[pti_slab_last_launch(tiles)].call;
    pti_slab_loads(maker->of, tiles, &maker->program->instance[number].threads,
                   last->array[operand], &maker->loads);
    return add_loaded_boxes(
        maker, &last->instance->section[last->instance->operand[operand].first_section], number,
        operand);
}

/** Let it write its threads' elements by an operand, as the last launch does by another one. */
static void add_turning_stores(const pti_instance *last, int operand, pti_instance *made) {
    int written = 0;
    while (!last->operand[written].writes)
        written++;
    pti_section *section = &made->section[made->n_sections++];
    *section = last->section[last->operand[written].first_section];
    section->operand = operand;
    section->role = POLYTILE_OUT;
    made->operand[operand].writes = true;
    made->operand[operand].n_sections++;
}

/** Of tiles with memory aside, let an operand of the program's launch read what they load of an
 * array where it is, or aside, and write what they store there. */
static bool add_turning(program_maker *maker, const pti_tiles *tiles, int number, int of,
                        int operand, bool is_aside) {
    const pti_call *last = &maker->of->launch[pti_slab_last_launch(tiles)].call;
    pti_instance *made = &maker->program->instance[number];
    made->operand[operand] = last->instance->operand[of];
    made->operand[operand].same_array = operand;
    made->operand[operand].writes = false;
    maker->program->array[PTI_SLAB_PIECES * number + operand] =
        is_aside ? array_aside(maker, last->array[of]) : last->array[of];
    pti_slab_loads(maker->of, tiles, &made->threads, last->array[of], &maker->loads);
    pti_slab_writes(maker->of, tiles, last->array[of], &maker->writes);
    if (is_aside && !tiles->is_from_aside)
        pti_boxes_clear(&maker->loads);
    else if (is_aside)
        pti_boxes_clip_all(&maker->loads, &maker->writes);
    else if (tiles->is_from_aside)
        pti_boxes_subtract_all(&maker->loads, &maker->writes);
    const pti_section *like = &last->instance->section[last->instance->operand[of].first_section];
    if (!add_loaded_boxes(maker, like, number, operand))
        return false;
    if (is_aside != tiles->is_from_aside && pti_tiles_store(tiles, last->array[of]))
        add_turning_stores(last->instance, operand, made);
    return !maker->writes.failed;
}

/** Return the operand by which a launch has an array. */
static int operand_with_array(const pti_call *call, int array) {
    int operand = 0;
    while (call->array[operand] != array)
        operand++;
    return operand;
}

/** Let the launch that stands for tiles have the arrays, and after them those aside. */
static bool add_turning_operands(program_maker *maker, const pti_tiles *tiles, int number) {
    const pti_call *last = &maker->of->launch[pti_slab_last_launch(tiles)].call;
    pti_instance *made = &maker->program->instance[number];
    const int n = last->instance->n_operands;
    bool is_added = true;
    made->n_operands = n + tiles->n_aside;
    for (int o = 0; o < n && is_added; o++)
        is_added = add_turning(maker, tiles, number, o, o, false);
    for (int k = 0; k < tiles->n_aside && is_added; k++)
        is_added = add_turning(maker, tiles, number,
                               operand_with_array(last, tiles->aside[k].array), n + k, true);
    return is_added;
}

/** Make the instance of the launch that stands for the tiles of a side. */
static bool make_instance(program_maker *maker, const pti_tiles *tiles, int side) {
    const int number = maker->program->n_instances++;
    const pti_instance *last = maker->of->launch[pti_slab_last_launch(tiles)].call.instance;
    pti_instance *made = &maker->program->instance[number];
    *made = *last;
    made->threads = *pti_tiles_own(tiles, side);
    made->section = NULL;
    made->n_sections = 0;
    made->operand = &maker->program->operand[PTI_SLAB_PIECES * number];
    if (tiles->n_aside > 0)
        return add_turning_operands(maker, tiles, number);
    memcpy(made->operand, last->operand, (size_t)last->n_operands * sizeof *made->operand);
    for (int o = 0; o < last->n_operands; o++) {
        if (!add_loads(maker, tiles, number, o))
            return false;
        add_stores(last, o, made);
    }
    return true;
}

/** Add a launch of the schedule, without what it touches if it is in tiles. */
static void add_program_launch(program_maker *maker, int launch) {
    pti_schedule_launch made = maker->of->launch[launch];
    if (maker->part[launch] == PTI_IS_EMPTIED) {
        pti_instance *emptied = &maker->program->instance[maker->program->n_instances++];
        *emptied = *made.call.instance;
        emptied->n_operands = emptied->n_sections = emptied->n_further = 0;
        made.call.instance = emptied;
    }
    maker->launch[maker->n_launches++] = made;
}

/** Add the launch that stands for the tiles of a side. */
static bool add_side(program_maker *maker, const pti_tiles *tiles, int side) {
    const int number = maker->program->n_instances;
    if (!make_instance(maker, tiles, side))
        return false;
    maker->launch[maker->n_launches++] = (pti_schedule_launch){
        .call = {&maker->program->instance[number],
                 tiles->n_aside > 0 ? &maker->program->array[PTI_SLAB_PIECES * number]
                                    : maker->of->launch[pti_slab_last_launch(tiles)].call.array},
        .n_superblocks = 1};
    return true;
}

/** Add the launches that stand for tiles whose last launch this is. */
static bool add_tiles_of(program_maker *maker, int launch) {
    bool is_added = true;
    for (int t = 0; t < maker->of->n_tiles; t++) {
        const pti_tiles *tiles = &maker->of->tiles[t];
        if (!tiles->is_of_slab || pti_slab_last_launch(tiles) != launch)
            continue;
        for (int side = 0; side < pti_tiles_n_sides(tiles) && is_added; side++)
            if (!pti_box_is_empty(pti_tiles_own(tiles, side)))
                is_added = add_side(maker, tiles, side);
    }
    return is_added;
}

static bool add_launches(program_maker *maker) {
    bool is_added = true;
    for (int l = 0; l < maker->of->n_launches && is_added; l++) {
        maker->number[l] = maker->n_launches;
        if (maker->part[l] == PTI_IS_REPLACED)
            is_added = add_tiles_of(maker, l);
        else
            add_program_launch(maker, l);
    }
    return is_added;
}

static void find_parts(program_maker *maker) {
    for (int t = 0; t < maker->of->n_tiles; t++) {
        const pti_tiles *tiles = &maker->of->tiles[t];
        for (int l = tiles->first_launch; l <= pti_slab_last_launch(tiles) && tiles->is_of_slab;
             l++)
            maker->part[l] = l == pti_slab_last_launch(tiles) ? PTI_IS_REPLACED : PTI_IS_EMPTIED;
    }
}

/** Let the program's superblock be the schedule's, with the same places. */
static void fill_superblock(const program_maker *maker, int launch, int64_t superblock,
                            pti_schedule *made) {
    const pti_schedule *schedule = maker->of;
    const bool is_replaced = maker->part[launch] == PTI_IS_REPLACED;
    const int64_t number = superblock - schedule->launch[launch].first_superblock;
    const int to = maker->number[launch] + (is_replaced ? (int)number : 0);
    const int64_t its = made->launch[to].first_superblock + (is_replaced ? 0 : number);
    made->superblock[its] = schedule->superblock[superblock];
    const int n_operands = (int)pti_min(made->launch[to].call.instance->n_operands,
                                        schedule->launch[launch].call.instance->n_operands);
    for (int o = 0; o < n_operands; o++)
        pti_schedule_placements(made, to, its)[o] =
            pti_schedule_placements(schedule, launch, superblock)[o];
}

/** Count an operation as one of the program's launches. */
static void renumber_op(const program_maker *maker, pti_schedule *made, pti_op *op) {
    const pti_schedule_launch *from = &maker->of->launch[op->launch];
    const bool is_replaced = maker->part[op->launch] == PTI_IS_REPLACED;
    const int64_t number = op->superblock - from->first_superblock;
    op->launch = maker->number[op->launch] + (is_replaced ? (int)number : 0);
    op->superblock = made->launch[op->launch].first_superblock + (is_replaced ? 0 : number);
}

static void fill_launches(const program_maker *maker, pti_schedule *made) {
    for (int l = 0; l < maker->of->n_launches; l++) {
        const pti_schedule_launch *from = &maker->of->launch[l];
        for (int64_t k = 0; k < from->n_superblocks; k++)
            fill_superblock(maker, l, from->first_superblock + k, made);
    }
    for (int64_t k = 0; k < made->n_ops; k++)
        renumber_op(maker, made, &made->op[k]);
}

/** Let launches that stand for tiles find memory aside. */
static void place_aside(const program_maker *maker, pti_schedule *made) {
    for (int t = 0; t < maker->of->n_tiles; t++) {
        const pti_tiles *tiles = &maker->of->tiles[t];
        const pti_op *last = &made->op[tiles->first_op + tiles->n_ops - 1];
        if (tiles->n_aside == 0 || pti_box_is_empty(&tiles->own))
            continue;
        const int n_operands = made->launch[last->launch].call.instance->n_operands;
        for (int k = 0; k < tiles->n_aside; k++)
            pti_schedule_placements(made, last->launch,
                                    last->superblock)[n_operands - tiles->n_aside + k] =
                tiles->aside[k].placement;
    }
}

static bool has_aside(const pti_schedule *schedule) {
    bool has = false;
    for (int64_t p = 0; p < schedule->n_placements; p++)
        has = has || schedule->placement[p].is_aside;
    return has;
}

/** Let a schedule have as many arrays more, which nobody needs at the end. False when memory runs
 * out. */
static bool double_arrays(program_maker *maker, pti_schedule *made) {
    const int n = maker->of->instance->n_operands;
    pti_instance *arrays = &maker->program->arrays;
    const bool were_dropped = made->dropped != NULL;
    *arrays = *maker->of->instance;
    arrays->operand = calloc(2 * (size_t)n + 1, sizeof *arrays->operand);
    if (arrays->operand == NULL || !PTI_RESIZE(made->dropped, 2 * n + 1) ||
        (made->unwritten != NULL && !PTI_RESIZE(made->unwritten, 2 * n + 1)))
        return false;
    for (int a = 0; a < 2 * n; a++) {
        arrays->operand[a] = maker->of->instance->operand[a % n];
        arrays->operand[a].same_array = a;
        made->dropped[a] = a >= n || (were_dropped && made->dropped[a]);
        if (a >= n && made->unwritten != NULL)
            made->unwritten[a] = (pti_boxes){0};
    }
    arrays->n_operands = 2 * n;
    made->instance = arrays;
    return true;
}

/** Memory aside is that of an array of its own. */
static void turn_placements(const program_maker *maker, pti_schedule *made) {
    for (int64_t p = 0; p < made->n_placements; p++) {
        pti_placement *placement = &made->placement[p];
        if (placement->is_aside)
            placement->operand = array_aside(maker, placement->operand);
        placement->is_aside = false;
    }
}

/** Take over the launches of another schedule, which is freed. */
static void take_launches(pti_schedule *made, pti_schedule *from) {
    const pti_schedule kept = *made;
    made->n_launches = from->n_launches;
    made->launch = from->launch;
    made->launch_array = from->launch_array;
    made->n_superblocks = from->n_superblocks;
    made->superblock = from->superblock;
    made->n_launch_placements = from->n_launch_placements;
    made->launch_placement = from->launch_placement;
    from->launch = kept.launch;
    from->launch_array = kept.launch_array;
    from->superblock = kept.superblock;
    from->launch_placement = kept.launch_placement;
    pti_schedule_free(from);
}

static bool build_schedule(program_maker *maker) {
    pti_builder builder;
    pti_schedule *made = pti_schedule_copy(maker->of);
    maker->program->schedule = made;
    if (made == NULL)
        return false;
    if (has_aside(made) && !double_arrays(maker, made))
        return false;
    turn_placements(maker, made);
    pti_builder_begin(&builder, made->instance, maker->n_launches, maker->launch);
    if (builder.schedule == NULL)
        return false;
    take_launches(made, builder.schedule);
    made->n_tiles = 0;
    fill_launches(maker, made);
    place_aside(maker, made);
    return !builder.failed;
}

bool pti_slab_program_make(const pti_schedule *schedule, pti_slab_program *program) {
    const size_t n = (size_t)schedule->n_launches + 2 * (size_t)schedule->n_tiles + 1;
    *program = (pti_slab_program){.instance = calloc(n, sizeof *program->instance),
                                  .operand = calloc(n, PTI_SLAB_PIECES * sizeof *program->operand),
                                  .section = calloc(n, sizeof *program->section),
                                  .array = calloc(n, PTI_SLAB_PIECES * sizeof *program->array),
                                  .n_most = (int)n};
    program_maker maker = {.of = schedule,
                           .program = program,
                           .launch = calloc(n, sizeof *maker.launch),
                           .part = calloc(n, sizeof *maker.part),
                           .number = calloc(n, sizeof *maker.number)};
    bool is_made = program->instance != NULL && program->operand != NULL &&
                   program->section != NULL && program->array != NULL && maker.launch != NULL &&
                   maker.part != NULL && maker.number != NULL;
    if (is_made)
        find_parts(&maker);
    is_made = is_made && add_launches(&maker) && build_schedule(&maker);
    free(maker.launch);
    free(maker.part);
    free(maker.number);
    pti_boxes_free(&maker.loads);
    pti_boxes_free(&maker.writes);
    return is_made;
}

void pti_slab_program_free(pti_slab_program *program) {
    pti_schedule_free(program->schedule);
    for (int k = 0; program->section != NULL && k < program->n_most; k++)
        free(program->section[k]);
    free(program->section);
    free(program->array);
    free(program->arrays.operand);
    free(program->operand);
    free(program->instance);
    *program = (pti_slab_program){0};
}
