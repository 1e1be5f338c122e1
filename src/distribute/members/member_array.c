#include "distribute/members/member_array.h"

#include "distribute/exchange/array_box.h"
#include "distribute/exchange/extend_arrays.h"
#include "distribute/members/member_box.h"
#include "queue/calls/calls.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Members' arrays, in memory that contains what their work needs. */

/** A local member's array of a position. */
static pti_array_box array_box_of(const pti_group *group, int position, int local) {
    const pti_group_array *array = &group->array[position];
    return (pti_array_box){.ownership = &array->ownership,
                           .member = group->transport->first + local,
                           .element_bytes = array->array->element_bytes,
                           .is_of_program = array->memory == PTI_GROUP_PROGRAMS,
                           .former =
                               array->member[local] == NULL ? NULL : &array->member[local]->domain};
}

int64_t pti_group_expect_bytes(const pti_group *group, int position, int local) {
    const pti_array_box box = array_box_of(group, position, local);
    return pti_array_box_expect_bytes(&box);
}

/** Let an array over a box lie in the program's memory. */
static void place_in_programs_memory(const polytile_array *programs, polytile_array *made) {
    made->data =
        (char *)programs->data + pti_memory_layout_offset_of(&programs->layout, &made->domain);
    made->layout = pti_memory_layout_of_part(&programs->layout, &made->domain, made->element_bytes);
}

static polytile_status map_memory(polytile_array *made) {
    void *mapping = mmap(NULL, (size_t)made->n_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED)
        return pti_fail_memory(made->object.context, made->name, (double)made->n_bytes);
    made->data = mapping;
    made->mapping = mapping;
    made->mapping_bytes = made->n_bytes;
    return POLYTILE_OK;
}

/** What of an array in memory that members share no other one writes while a member's launches run:
 * what it owns, if that is one box. */
static polytile_domain find_exclusive(const pti_ownership *ownership, int member) {
    return pti_ownership_is_whole(ownership) ? pti_ownership_hull(ownership, member)
                                             : pti_box_empty(ownership->domain.n_dims);
}

/** Let a member's array over the program's memory be known as the last one of the same elements
 * was. */
static void recognise_array(pti_former_members *formers, const polytile_array *programs, int local,
                            polytile_array *made) {
    int k = 0;
    while (k < PTI_GROUP_FORMER_MEMBERS &&
           (formers->at[k].programs != programs->object.serial || formers->at[k].local != local ||
            pti_box_compare(&formers->at[k].domain, &made->domain) != 0))
        k++;
    if (k < PTI_GROUP_FORMER_MEMBERS) {
        made->known_as = formers->at[k].known_as;
        return;
    }
    k = formers->n_made++ % PTI_GROUP_FORMER_MEMBERS;
    formers->at[k].programs = programs->object.serial;
    formers->at[k].local = local;
    formers->at[k].domain = made->domain;
    formers->at[k].known_as = made->known_as;
}

static polytile_status attach_over(pti_group *group, int position, int local,
                                   const polytile_domain *box, polytile_array **made) {
    const pti_group_array *array = &group->array[position];
    polytile_status status;
    PTI_TRY(pti_array_create(group->ctx, array->array->name, array->array->type, box, made));
    (*made)->read_only = array->array->read_only;
    if (array->memory == PTI_GROUP_PROGRAMS) {
        place_in_programs_memory(array->array, *made);
        if (group->transport->n_local > 1)
            (*made)->exclusive = find_exclusive(&array->ownership, group->transport->first + local);
        recognise_array(&group->formers, array->array, local, *made);
    } else {
        PTI_TRY(map_memory(*made));
    }
    PTI_TRY(pti_queue_attach_shared(group->member[local], *made));
done:
    return status;
}

static polytile_status make_member_array(pti_group *group, int position, int local,
                                         const polytile_domain *box, polytile_array **made) {
    const polytile_array *array = group->array[position].array;
    polytile_status status =
        group->array[position].memory == PTI_GROUP_QUEUES
            ? pti_queue_create_array_over(group->member[local], array->name, array->type, box, made)
            : attach_over(group, position, local, box, made);
    if (status == POLYTILE_OK)
        return POLYTILE_OK;
    polytile_array_destroy(*made);
    *made = NULL;
    return status;
}

/** Copy the former array's elements into a larger one with memory of its own. */
static polytile_status copy_to_larger(pti_group *group, int position, int local,
                                      polytile_array *former, polytile_array *made) {
    polytile_queue *queue = group->member[local];
    polytile_status status = POLYTILE_OK;
    if (group->array[position].memory == PTI_GROUP_PROGRAMS)
        return POLYTILE_OK;
    if (pti_queue_get_spill(queue, made) == NULL)
        PTI_TRY(pti_fail_memory(group->ctx, made->name, (double)made->n_bytes));
    pti_member_copy(former, made, &former->domain);
    PTI_TRY(pti_member_invalidate(queue, made, &former->domain));
done:
    return status;
}

polytile_status pti_group_extend_array(pti_group *group, int position, int local,
                                       const polytile_domain *box) {
    polytile_array **member = &group->array[position].member[local];
    polytile_array *former = *member, *made = NULL;
    polytile_status status = POLYTILE_OK;
    if (pti_box_is_empty(box) || (former != NULL && pti_box_contains(&former->domain, box)))
        return POLYTILE_OK;
    const pti_array_box array_box = array_box_of(group, position, local);
    polytile_domain chosen = pti_array_box_choose(&array_box, box);
    if (former != NULL)
        PTI_TRY(pti_member_fetch(group->member[local], former, &former->domain));
    PTI_TRY(make_member_array(group, position, local, &chosen, &made));
    if (former != NULL)
        PTI_TRY(copy_to_larger(group, position, local, former, made));
    polytile_array_destroy(former);
    *member = made;
    group->member_arrays[position * group->transport->n_local + local] = made;
    made = NULL;
    pti_group_forget_messages(group);
    pti_group_set_room(group, false);
done:
    polytile_array_destroy(made);
    return status;
}

polytile_status pti_group_find_memory(const pti_group *group, int position, int local) {
    polytile_array *array = group->member_arrays[position * group->transport->n_local + local];
    if (array->data == NULL && pti_queue_get_spill(group->member[local], array) == NULL)
        return pti_fail_memory(group->ctx, array->name, (double)array->n_bytes);
    return POLYTILE_OK;
}

/* What a superstep and its launches need. */

static polytile_status extend_array(void *group, int array, int local, const polytile_domain *box) {
    return pti_group_extend_array(group, array, local, box);
}

static bool has_array(const void *group, int array, int local) {
    return ((const pti_group *)group)->array[array].member[local] != NULL;
}

static pti_member_arrays arrays_of(pti_group *group) {
    return (pti_member_arrays){.first = group->transport->first,
                               .n_local = group->transport->n_local,
                               .owner = group,
                               .extend = extend_array,
                               .has = has_array};
}

polytile_status pti_group_extend_for_launch(pti_group *group, const pti_recorded *recorded,
                                            int local) {
    const pti_member_arrays arrays = arrays_of(group);
    const pti_call call = pti_prepared_call(recorded->prepared);
    return pti_extend_for_launch(&arrays, &call, group->ownership, local);
}

polytile_status pti_group_extend_for_superstep(pti_group *group,
                                               const pti_prepared_superstep *prepared,
                                               const pti_recorded *recorded) {
    const pti_member_arrays arrays = arrays_of(group);
    polytile_status status;
    PTI_TRY(pti_extend_for_superstep(&arrays, &prepared->list, prepared->parts.work));
    for (int m = 0; m < group->transport->n_local; m++)
        for (int l = 0; l < prepared->n_launches; l++)
            PTI_TRY(pti_group_extend_for_launch(group, &recorded[l], m));
done:
    return status;
}
