#include "partition/prove/tiling_check.h"

#include "access/set/boxes.h"
#include "base/checked.h"
#include "partition/prove/needs/needs.h"
#include "partition/prove/shape/shape.h"

#include <stdlib.h>

/** A tiling being proved, and the current tile. */
typedef struct tiling_check {
    const pti_tiling *tiling;
    pti_text *why;
    int64_t position[POLYTILE_MAX_DIMS];
    pti_boxes rest;    /* of what a section reads, its origin still to be found */
    pti_boxes written; /* by one launch of an array, all of its threads */
    pti_boxes made;    /* the same by the tile's part */
} tiling_check;

static const pti_instance *instance_of(const pti_tiling *tiling, int launch) {
    return tiling->call[launch].instance;
}

static int array_of_section(const pti_tiling *tiling, int launch, const pti_section *section) {
    return tiling->call[launch].array[section->operand];
}

static bool is_section_written(const pti_section *section) {
    return section->role == POLYTILE_OUT || section->role == POLYTILE_INOUT;
}

static bool is_section_read(const pti_section *section) {
    return section->role == POLYTILE_IN || section->role == POLYTILE_INOUT;
}

static bool reject_section(tiling_check *check, int launch, const pti_section *section,
                           const polytile_domain *box, const char *reason) {
    pti_text_add(check->why, "launch %d of the tiles, %s", launch,
                 instance_of(check->tiling, launch)->operand[section->operand].name);
    if (box != NULL)
        pti_box_write(check->why, box);
    return PTI_REJECT(check->why, ": %s", reason);
}

/** Return the index that a subscript follows by constant offsets, POLYTILE_MAX_DIMS if it follows
 * none; -1: it does something else. */
static int followed_index(const pti_subscript *subscript) {
    int followed = POLYTILE_MAX_DIMS;
    for (int k = 0; k < POLYTILE_MAX_DIMS; k++) {
        if (subscript->lo.index[k] == 0 && subscript->hi.index[k] == 0)
            continue;
        if (followed != POLYTILE_MAX_DIMS || subscript->lo.index[k] != 1 ||
            subscript->hi.index[k] != 1)
            return -1;
        followed = k;
    }
    return followed;
}

/** Each thread writes one element of its own, which all of its indices name. */
static bool check_written(tiling_check *check, int launch, const pti_section *section) {
    bool is_named[POLYTILE_MAX_DIMS + 1] = {false};
    bool is_single = true;
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        is_named[followed_index(subscript)] = true;
        is_single = is_single && subscript->lo.constant == subscript->hi.constant;
    }
    for (int k = 0; k < check->tiling->threads.n_dims; k++)
        is_single = is_single && is_named[k];
    return is_single || reject_section(check, launch, section, NULL,
                                       "is not written by each thread in one element of its own");
}

static bool check_section(tiling_check *check, int launch, const pti_section *section) {
    const pti_operand *operand = &instance_of(check->tiling, launch)->operand[section->operand];
    if (operand->partial || operand->is_scratch || !section->exact || section->may_be_empty ||
        (!is_section_read(section) && !is_section_written(section)))
        return reject_section(check, launch, section, NULL, "is neither read nor written exactly");
    for (int d = 0; d < section->n_dims; d++)
        if (section->subscript[d].step != 1 || followed_index(&section->subscript[d]) < 0)
            return reject_section(check, launch, section, NULL, "is not at constant offsets");
    return !is_section_written(section) || check_written(check, launch, section);
}

/** Further pieces of an array stand for it, too. */
static bool are_pieces_of_arrays(const pti_call *call) {
    bool are = true;
    for (int o = pti_instance_n_arrays(call->instance); o < call->instance->n_operands; o++)
        are = are && call->array[o] == call->array[pti_operand_array(call->instance, o)];
    return are;
}

static bool check_tiled_launch(tiling_check *check, int launch) {
    const pti_tiling *tiling = check->tiling;
    const pti_instance *instance = instance_of(tiling, launch);
    const pti_margin *margin = &tiling->margin[launch];
    for (int d = 0; d < tiling->threads.n_dims; d++)
        if (instance->n_indices != tiling->threads.n_dims || margin->before[d] < 0 ||
            margin->after[d] < 0 || tiling->tile[d] < 1)
            return PTI_REJECT(check->why, "launch %d of the tiles has other indices, or no tile",
                              launch);
    if (!are_pieces_of_arrays(&tiling->call[launch]) ||
        (!tiling->is_part && !pti_box_contains(&tiling->threads, &instance->threads)))
        return PTI_REJECT(check->why, "launch %d of the tiles has threads in none, or pieces",
                          launch);
    for (int s = 0; s < instance->n_sections; s++)
        if (!check_section(check, launch, &instance->section[s]))
            return false;
    return true;
}

static bool are_same_elements(const pti_section *one, const pti_section *other) {
    bool are = one->n_dims == other->n_dims;
    for (int d = 0; d < one->n_dims && are; d++)
        are = followed_index(&one->subscript[d]) == followed_index(&other->subscript[d]) &&
              one->subscript[d].lo.constant == other->subscript[d].lo.constant;
    return are;
}

/** Visits the sections by which launches write an array; false ends it. */
typedef bool written_visitor(tiling_check *check, int launch, const pti_section *section,
                             const void *with);

static bool visit_written(tiling_check *check, int array, int end, written_visitor *visit,
                          const void *with) {
    for (int l = end - 1; l >= 0; l--) {
        const pti_instance *instance = instance_of(check->tiling, l);
        for (int s = 0; s < instance->n_sections; s++)
            if (is_section_written(&instance->section[s]) &&
                array_of_section(check->tiling, l, &instance->section[s]) == array &&
                !visit(check, l, &instance->section[s], with))
                return false;
    }
    return true;
}

/** All launches write an array's elements by the same threads: then a tile's own threads have the
 * last value of what they write, and no other tile's own threads write it. */
static bool check_same(tiling_check *check, int launch, const pti_section *section,
                       const void *with) {
    return are_same_elements(section, with) ||
           reject_section(check, launch, section, NULL,
                          "is written by other threads in another launch");
}

static bool check_all_sections(tiling_check *check) {
    const int n_launches = check->tiling->n_launches;
    for (int l = 0; l < n_launches; l++)
        if (!check_tiled_launch(check, l))
            return false;
    for (int l = 0; l < n_launches; l++) {
        const pti_instance *instance = instance_of(check->tiling, l);
        for (int s = 0; s < instance->n_sections; s++)
            if (is_section_written(&instance->section[s]) &&
                !visit_written(check, array_of_section(check->tiling, l, &instance->section[s]),
                               n_launches, check_same, &instance->section[s]))
                return false;
    }
    return true;
}

/** Put what a tile's part of a launch touches by a section into a list; false if the part is
 * empty. */
static bool list_part(const tiling_check *check, int launch, const pti_section *section,
                      pti_boxes *list) {
    polytile_domain parts[PTI_TILING_PARTS];
    const int n = pti_tiling_parts(check->tiling, check->position, launch, parts);
    pti_boxes_clear(list);
    for (int k = 0; k < n; k++)
        pti_needs_list(instance_of(check->tiling, launch), section, &parts[k], list);
    return n > 0;
}

/** What the launch wrote of the rest must be what the tile's part of it wrote; it is done then. */
static bool take_origin(tiling_check *check, int launch, const pti_section *section,
                        const void *with) {
    const pti_instance *instance = instance_of(check->tiling, launch);
    (void)with;
    pti_boxes_clear(&check->written);
    pti_needs_list(instance, section, &instance->threads, &check->written);
    list_part(check, launch, section, &check->made);
    for (int k = 0; k < check->rest.n_boxes; k++)
        for (int w = 0; w < check->written.n_boxes; w++) {
            polytile_domain common;
            if (pti_box_intersect(&check->rest.box[k], &check->written.box[w], &common) &&
                !pti_boxes_cover(&check->made, &common))
                return reject_section(
                    check, launch, section, &common,
                    "is read by a later launch of a tile that did not compute it");
        }
    pti_boxes_subtract_all(&check->rest, &check->written);
    return true;
}

/** What is loaded must be nowhere stored: another tile may have run before. */
static bool check_not_stored(tiling_check *check, int launch, const pti_section *section,
                             const void *with) {
    const pti_instance *instance = instance_of(check->tiling, launch);
    polytile_domain common;
    (void)with;
    pti_boxes_clear(&check->written);
    pti_needs_list(instance, section, &instance->threads, &check->written);
    for (int k = 0; k < check->rest.n_boxes; k++)
        for (int w = 0; w < check->written.n_boxes; w++)
            if (pti_box_intersect(&check->rest.box[k], &check->written.box[w], &common))
                return reject_section(check, launch, section, &common,
                                      "is stored by one tile and loaded by another");
    return true;
}

/** Find where each element that a section reads in the tile comes from: the last launch before that
 * writes it, or the array as it was. */
static bool check_read(tiling_check *check, int launch, const pti_section *section) {
    const pti_tiling *tiling = check->tiling;
    const int array = array_of_section(tiling, launch, section);
    if (!list_part(check, launch, section, &check->made))
        return true;
    pti_boxes_clear(&check->rest);
    for (int k = 0; k < check->made.n_boxes; k++)
        pti_boxes_add(&check->rest, &check->made.box[k]);
    return visit_written(check, array, launch, take_origin, NULL) &&
           (tiling->is_apart || !tiling->is_stored[array] ||
            visit_written(check, array, tiling->n_launches, check_not_stored, NULL));
}

static bool check_tile(tiling_check *check) {
    for (int l = 0; l < check->tiling->n_launches; l++) {
        const pti_instance *instance = instance_of(check->tiling, l);
        for (int s = 0; s < instance->n_sections; s++)
            if (is_section_read(&instance->section[s]) &&
                !check_read(check, l, &instance->section[s]))
                return false;
    }
    return true;
}

/** How far from a tile along an index its parts of launches, and what these touch, may lie; and the
 * ends that they must keep off. */
typedef struct surroundings {
    int64_t margin, reach;
    int64_t lo, hi;
} surroundings;

/** Of what lies a turn away only threads near an end touch something: as near as the neighbours
 * which it stands for are. */
static void add_section_ends(const pti_operand *operand, const pti_section *section, int index,
                             int64_t extent, surroundings *around) {
    for (int d = 0; d < section->n_dims; d++) {
        const pti_subscript *subscript = &section->subscript[d];
        if (followed_index(subscript) != index)
            continue;
        const int64_t lo = subscript->lo.constant, hi = subscript->hi.constant,
                      turn = extent == 0 ? 0 : pti_wrap_offset(lo, hi, extent);
        around->reach = pti_max(around->reach, pti_max(pti_abs(lo - turn), pti_abs(hi - turn)));
        around->lo = pti_max(around->lo, operand->domain.range[d].lo);
        around->hi = pti_min(around->hi, operand->domain.range[d].hi);
    }
}

static surroundings find_surroundings(const pti_tiling *tiling, int index) {
    surroundings around = {0, 0, tiling->threads.range[index].lo, tiling->threads.range[index].hi};
    for (int l = 0; l < tiling->n_launches; l++) {
        const pti_instance *instance = instance_of(tiling, l);
        around.margin = pti_max(around.margin, pti_max(tiling->margin[l].before[index],
                                                       tiling->margin[l].after[index]));
        around.lo = pti_max(around.lo, instance->threads.range[index].lo);
        around.hi = pti_min(around.hi, instance->threads.range[index].hi);
        const int64_t extent = pti_goes_round(tiling->rounds, index)
                                   ? pti_range_count(instance->threads.range[index])
                                   : 0;
        for (int s = 0; s < instance->n_sections; s++)
            add_section_ends(&instance->operand[instance->section[s].operand],
                             &instance->section[s], index, extent, &around);
    }
    return around;
}

/** Return whether a tile meets no end along an index, even by what the elements that it touches are
 * touched by. */
static bool is_inner(const pti_tiling *tiling, const surroundings *around, int index,
                     int64_t position) {
    const int64_t far_off = around->margin + 2 * around->reach;
    const int64_t lo = tiling->threads.range[index].lo + position * tiling->tile[index];
    return lo - far_off >= around->lo && lo + tiling->tile[index] - 1 + far_off <= around->hi;
}

/** Go on to the next position along an index that has to be looked at; after an inner one the
 * others like it are left out. */
static int64_t next_position(const pti_tiling *tiling, int index, int64_t position) {
    const surroundings around = find_surroundings(tiling, index);
    const int64_t count = pti_tiling_count(tiling, index);
    const bool was_inner = is_inner(tiling, &around, index, position);
    int64_t next = position + 1;
    while (was_inner && next < count && is_inner(tiling, &around, index, next))
        next++;
    return next;
}

/** Go on to the next tile; false: there is none. */
static bool next_tile(tiling_check *check) {
    for (int d = check->tiling->threads.n_dims - 1; d >= 0; d--) {
        check->position[d] = next_position(check->tiling, d, check->position[d]);
        if (check->position[d] < pti_tiling_count(check->tiling, d))
            return true;
        check->position[d] = 0;
    }
    return false;
}

bool pti_tiling_check(const pti_tiling *tiling, pti_text *why) {
    tiling_check check = {.tiling = tiling, .why = why};
    bool holds = tiling->n_launches > 0 && check_all_sections(&check);
    bool is_left = holds;
    while (holds && is_left) {
        holds = check_tile(&check);
        is_left = next_tile(&check);
    }
    why->failed = why->failed || check.rest.failed || check.written.failed || check.made.failed;
    pti_boxes_free(&check.rest);
    pti_boxes_free(&check.written);
    pti_boxes_free(&check.made);
    return holds && !why->failed;
}
