#include "partition/ping_pong/role_change.h"

#include "access/footprint/call.h"
#include "access/set/box.h"
#include "partition/ping_pong/wraps.h"

#include <string.h>

static bool is_read_only(const pti_operand *operand) {
    return operand->reads && !operand->writes && !operand->is_scratch;
}

/** Return whether each thread writes the element that has its indices, and reads no other one of
 * the array. */
static bool is_written_in_place(const pti_instance *instance, int number) {
    const pti_operand *operand = &instance->operand[number];
    const pti_section *section = &instance->section[operand->first_section];
    bool is = operand->writes && !operand->reduces && !operand->partial &&
              operand->n_sections == 1 && section->is_box && section->exact && section->edges == 0;
    for (int d = 0; d < 2 && is; d++)
        is = section->followed[d] == d && section->subscript[d].lo.constant == 0 &&
             section->subscript[d].hi.constant == 0;
    return is;
}

static bool has_plain_indices(const pti_instance *instance) {
    unsigned rounds;
    bool has = instance->given == NULL && instance->n_further == 0 && !instance->is_team &&
               !pti_instance_has_steps(instance) && pti_wraps_find(instance, &rounds);
    for (int o = 0; o < instance->n_operands; o++)
        for (int d = 0; d < POLYTILE_MAX_DIMS; d++)
            has = has && instance->operand[o].shear[d].slope == 0;
    return has;
}

/** Return the operand that a launch writes; -1: none, or several. */
static int written_operand(const pti_instance *instance) {
    int written = -1, n_written = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (!is_read_only(&instance->operand[o])) {
            written = o;
            n_written++;
        }
    return n_written == 1 ? written : -1;
}

bool pti_role_change_may_begin(const pti_instance *instance) {
    const int n = instance->n_operands, written = written_operand(instance);
    bool may = instance->n_indices == 2 && n >= 2 && n <= PTI_PING_PONG_MOST_ARRAYS &&
               written >= 0 && has_plain_indices(instance);
    for (int o = 0; o < n && may; o++)
        may = instance->operand[o].domain.n_dims == 2 &&
              instance->operand[o].element_bytes == instance->operand[0].element_bytes;
    return may && is_written_in_place(instance, written);
}

bool pti_ping_pong_may_begin(const pti_instance *instance) {
    return pti_role_change_may_begin(instance) &&
           !instance->operand[written_operand(instance)].reads;
}

/** The arrays that launches alternate between are alike as the program has them: members may hold
 * other rows of the one than of the other. */
static bool are_launches_alike(const pti_instance *one, const pti_instance *other) {
    bool are =
        one == other || (one->declaration_hash == other->declaration_hash &&
                         strcmp(one->kernel_name, other->kernel_name) == 0 &&
                         memcmp(one->parameter, other->parameter, sizeof one->parameter) == 0 &&
                         one->n_operands == other->n_operands);
    for (int o = 0; o < one->n_operands && are; o++)
        are = pti_box_compare(&one->operand[o].whole, &other->operand[o].whole) == 0 &&
              one->operand[o].element_bytes == other->operand[o].element_bytes;
    return are;
}

static bool are_arrays_distinct(const pti_call *call) {
    bool are = true;
    for (int o = 0; o < call->instance->n_operands; o++)
        for (int p = 0; p < o; p++)
            are = are && call->array[o] != call->array[p];
    return are;
}

/** Find by which operands the launch before has the arrays; false if it lacks one, or those that
 * change roles are not alike. */
static bool find_operands_before(const pti_call *call, const pti_call *before,
                                 pti_role_change *change) {
    const pti_operand *operand = call->instance->operand;
    bool are = call->instance->n_operands <= PTI_PING_PONG_MOST_ARRAYS;
    for (int o = 0; o < call->instance->n_operands && are; o++) {
        change->before[o] = pti_call_find_operand(before, call->array[o]);
        are = change->before[o] >= 0 &&
              pti_box_compare(&operand[o].whole, &operand[change->before[o]].whole) == 0;
    }
    return are;
}

/** Return how many operands have arrays that the launch before has by others. */
static int count_changing(const pti_role_change *change, int n_operands) {
    int n = 0;
    for (int o = 0; o < n_operands; o++)
        n += change->before[o] != o;
    return n;
}

/** Return after how many launches the array of an operand comes back; 0: it does not. */
static int count_phases(const pti_role_change *change, int operand, int n_operands) {
    int n = 1, at = change->before[operand];
    for (; at != operand && n <= n_operands; n++)
        at = change->before[at];
    return at == operand ? n : 0;
}

bool pti_role_change_find(const pti_call *call, const pti_call *before, pti_role_change *change) {
    const pti_instance *instance = call->instance;
    const int written = written_operand(instance);
    *change = (pti_role_change){.n_phases = 0};
    if (written < 0 || !are_launches_alike(instance, before->instance) ||
        !are_arrays_distinct(call) || !find_operands_before(call, before, change))
        return false;
    change->n_phases = count_phases(change, written, instance->n_operands);
    change->n_alive = change->n_phases - !instance->operand[written].reads;
    return change->n_phases > 1 && change->n_phases == count_changing(change, instance->n_operands);
}

bool pti_call_reads_result(const pti_call *call, const pti_call *before) {
    bool does = false;
    for (int o = 0; o < before->instance->n_operands; o++) {
        const int with = before->instance->operand[o].writes
                             ? pti_call_find_operand(call, before->array[o])
                             : -1;
        does |= with >= 0 && call->instance->operand[with].reads;
    }
    return does;
}

/** Return what a launch by itself has that tiles do not know; NULL: nothing. */
static const char *obstacle_of(const pti_instance *instance) {
    const int n = instance->n_operands;
    if (instance->n_indices != 2)
        return "tiles are for launches of two indices";
    if (n < 2 || n > PTI_PING_PONG_MOST_ARRAYS)
        return "tiles are for launches of two to four arrays";
    if (written_operand(instance) < 0)
        return "each of them writes none of its arrays, or several";
    return pti_role_change_may_begin(instance)
               ? NULL
               : "not all arrays have two dimensions and elements of one size, or a thread writes "
                 "others than the element that has its indices";
}

/** Return why two launches that may each be in tiles are not in the same; NULL: they may be. */
static const char *obstacle_between(const pti_call *call, const pti_call *before) {
    pti_role_change change;
    if (!are_launches_alike(call->instance, before->instance))
        return "the one before is of another kernel, or its arrays are of other extents";
    if (!pti_role_change_find(call, before, &change))
        return "their arrays do not change roles in turn";
    if (change.n_alive > PTI_TILE_MOST_STORED)
        return "too many of their arrays are alive";
    return NULL;
}

bool pti_role_change_explain_none(const pti_call *call, const pti_call *before, pti_text *why) {
    const char *obstacle = obstacle_of(call->instance);
    if (obstacle == NULL)
        obstacle = obstacle_between(call, before);
    if (obstacle != NULL)
        pti_text_add(why, "launches of %s run one by one: %s", call->instance->kernel_name,
                     obstacle);
    return obstacle != NULL;
}

bool pti_role_changes_are_alike(const pti_role_change *one, const pti_role_change *other) {
    bool are = one->n_phases == other->n_phases && one->n_alive == other->n_alive;
    for (int o = 0; o < PTI_PING_PONG_MOST_ARRAYS; o++)
        are = are && one->before[o] == other->before[o];
    return are;
}

void pti_role_change_list_alive(const pti_role_change *change, const pti_call *call, int *array) {
    const pti_instance *instance = call->instance;
    int n = 0;
    for (int o = 0; o < instance->n_operands; o++)
        if (change->before[o] != o && instance->operand[o].reads)
            array[n++] = call->array[change->before[o]];
}

bool pti_roles_change_otherwise(const pti_call *call, const pti_call *before) {
    const int written = written_operand(before->instance);
    bool reads_written = false;
    pti_role_change change;
    if (written < 0 || call->instance->n_indices != 2 ||
        !are_launches_alike(call->instance, before->instance) ||
        pti_role_change_find(call, before, &change))
        return false;
    for (int o = 0; o < call->instance->n_operands; o++)
        reads_written |= o != written && call->array[o] == before->array[written];
    return reads_written;
}
