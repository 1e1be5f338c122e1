#include "base/checked.h"
#include "distribute/team/member_box.h"
#include "distribute/team/state.h"

#include <stdlib.h>
#include <sys/mman.h>

/* The boxes that members' arrays lie over: as small as their work allows. */

/** A member's box is larger on either side by one such part of what it owns along a dimension, so
 * that deeper halos find room. */
enum { MARGIN_PART = 32 };

static polytile_range widened_range(polytile_range range, int64_t by, polytile_range whole) {
    return (polytile_range){pti_max(range.lo - by, whole.lo), pti_min(range.hi + by, whole.hi), 1};
}

static polytile_domain with_margin(const polytile_domain *box, const polytile_domain *whole) {
    polytile_domain larger = *box;
    for (int d = 0; d < box->n_dims; d++) {
        int64_t extent = box->range[d].hi - box->range[d].lo + 1;
        larger.range[d] = widened_range(box->range[d], extent / MARGIN_PART + 1, whole->range[d]);
    }
    return larger;
}

/** Rows a multiple of as many bytes apart share few lines of the caches: each element of a column
 * that is packed then drives another one out. */
enum { ALIKE_BYTES = 512 };

/** Such rows get one element more, where the array has one there. */
static void shift_rows(polytile_domain *box, const polytile_domain *whole, int64_t element_bytes) {
    polytile_range *row = &box->range[box->n_dims - 1];
    const polytile_range all = whole->range[box->n_dims - 1];
    if ((row->hi - row->lo + 1) * element_bytes % ALIKE_BYTES != 0)
        return;
    if (row->hi < all.hi)
        row->hi++;
    else if (row->lo > all.lo)
        row->lo--;
}

/** Whole in all dimensions but the first: boxes of the program's memory must be contiguous. */
static void complete_rows(polytile_domain *box, const polytile_domain *whole) {
    for (int d = 1; d < box->n_dims; d++)
        box->range[d] = whole->range[d];
}

/** The box of a member's array that has to contain `needed`: around what it had and owns, too. */
static polytile_domain choose_box(const pti_team *team, int position, int local,
                                  const polytile_domain *needed) {
    const pti_team_array *of = &team->array[position];
    polytile_domain box = *needed;
    polytile_domain owned = pti_ownership_hull(&of->ownership, team->transport->first + local);
    if (!pti_box_is_empty(&owned))
        box = pti_box_coarse_union(&box, &owned);
    if (of->member[local] != NULL)
        box = pti_box_coarse_union(&box, &of->member[local]->domain);
    box = pti_box_without_steps(&box);
    box = with_margin(&box, &of->array->domain);
    shift_rows(&box, &of->array->domain, of->array->element_bytes);
    if (of->memory == PTI_TEAM_PROGRAMS)
        complete_rows(&box, &of->array->domain);
    return box;
}

int64_t pti_team_expect_bytes(const pti_team *team, int position, int local) {
    const pti_team_array *of = &team->array[position];
    polytile_domain owned = pti_ownership_hull(&of->ownership, team->transport->first + local);
    if (of->member[local] != NULL)
        return of->member[local]->n_bytes;
    if (pti_box_is_empty(&owned))
        return 0;
    polytile_domain box = choose_box(team, position, local, &owned);
    return pti_memory_layout_of(&box, of->array->element_bytes).size_bytes;
}

/** Let an array over a box lie in the program's memory. */
static void share_memory(const polytile_array *programs, polytile_array *made) {
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

static polytile_status attach_over(pti_team *team, int position, int local,
                                   const polytile_domain *box, polytile_array **made) {
    const pti_team_array *of = &team->array[position];
    polytile_status status;
    PTI_TRY(pti_array_create(team->ctx, of->array->name, of->array->type, box, made));
    (*made)->read_only = of->array->read_only;
    if (of->memory == PTI_TEAM_PROGRAMS)
        share_memory(of->array, *made);
    else
        PTI_TRY(map_memory(*made));
    PTI_TRY(pti_queue_attach_shared(team->member[local], *made));
done:
    return status;
}

static polytile_status make_member_array(pti_team *team, int position, int local,
                                         const polytile_domain *box, polytile_array **made) {
    const polytile_array *array = team->array[position].array;
    polytile_status status =
        team->array[position].memory == PTI_TEAM_QUEUES
            ? pti_queue_create_array_over(team->member[local], array->name, array->type, box, made)
            : attach_over(team, position, local, box, made);
    if (status == POLYTILE_OK)
        return POLYTILE_OK;
    polytile_array_destroy(*made);
    *made = NULL;
    return status;
}

/** Copy the former array's elements into a larger one with memory of its own. */
static polytile_status copy_to_larger(pti_team *team, int position, int local,
                                      polytile_array *former, polytile_array *made) {
    polytile_queue *queue = team->member[local];
    polytile_status status = POLYTILE_OK;
    if (team->array[position].memory == PTI_TEAM_PROGRAMS)
        return POLYTILE_OK;
    if (pti_queue_get_spill(queue, made) == NULL)
        PTI_TRY(pti_fail_memory(team->ctx, made->name, (double)made->n_bytes));
    pti_member_copy(former, made, &former->domain);
    PTI_TRY(pti_member_invalidate(queue, made, &former->domain));
done:
    return status;
}

polytile_status pti_team_reach(pti_team *team, int position, int local,
                               const polytile_domain *box) {
    polytile_array **member = &team->array[position].member[local];
    polytile_array *former = *member, *made = NULL;
    polytile_status status = POLYTILE_OK;
    if (pti_box_is_empty(box) || (former != NULL && pti_box_contains(&former->domain, box)))
        return POLYTILE_OK;
    polytile_domain chosen = choose_box(team, position, local, box);
    if (former != NULL)
        PTI_TRY(pti_member_fetch(team->member[local], former, &former->domain));
    PTI_TRY(make_member_array(team, position, local, &chosen, &made));
    if (former != NULL)
        PTI_TRY(copy_to_larger(team, position, local, former, made));
    polytile_array_destroy(former);
    *member = made;
    team->reached[position * team->transport->n_local + local] = made;
    made = NULL;
    pti_team_forget_messages(team);
done:
    polytile_array_destroy(made);
    return status;
}

polytile_status pti_team_find_memory(const pti_team *team, int position, int local) {
    polytile_array *array = team->reached[position * team->transport->n_local + local];
    if (array->data == NULL && pti_queue_get_spill(team->member[local], array) == NULL)
        return pti_fail_memory(team->ctx, array->name, (double)array->n_bytes);
    return POLYTILE_OK;
}
