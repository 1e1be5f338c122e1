#include "distribute/members/member_box.h"

#include "distribute/members/state.h"
#include "launch/host/copy/box_copy.h"

#include <string.h>

static polytile_status notify_box(polytile_queue *queue, polytile_array *array,
                                  const polytile_domain *box, pti_group_notify *notify) {
    pti_boxes boxes = {0};
    pti_boxes_append(&boxes, box);
    const polytile_status status =
        boxes.failed ? pti_fail_memory(array->object.context, array->name, sizeof *boxes.box)
                     : notify(queue, array, &boxes);
    pti_boxes_free(&boxes);
    return status;
}

polytile_status pti_member_fetch(polytile_queue *queue, polytile_array *array,
                                 const polytile_domain *box) {
    const polytile_status status = notify_box(queue, array, box, pti_queue_fetch);
    return status == POLYTILE_OK ? pti_queue_wait_for_elements(queue, array) : status;
}

polytile_status pti_member_invalidate(polytile_queue *queue, polytile_array *array,
                                      const polytile_domain *box) {
    return notify_box(queue, array, box, pti_queue_invalidate);
}

/** Where the element with all indices 0 would lie. */
static const char *origin_of(const polytile_array *array) {
    const char *origin = array->data;
    for (int d = 0; d < array->domain.n_dims; d++)
        origin -= array->domain.range[d].lo * array->layout.stride_bytes[d];
    return origin;
}

bool pti_member_lies_with(const polytile_array *one, const polytile_array *other) {
    const size_t n_dims = (size_t)one->domain.n_dims;
    return origin_of(one) == origin_of(other) &&
           memcmp(one->layout.stride_bytes, other->layout.stride_bytes,
                  n_dims * sizeof *one->layout.stride_bytes) == 0;
}

void pti_member_copy(const polytile_array *from, const polytile_array *to,
                     const polytile_domain *box) {
    pti_move move = {.box = box,
                     .element_bytes = from->element_bytes,
                     .to = {to->data, &to->layout},
                     .from = {from->data, &from->layout}};
    pti_box_copy(&move, 1);
}
