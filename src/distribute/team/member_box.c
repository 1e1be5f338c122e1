#include "distribute/team/member_box.h"

#include "launch/host/box_copy.h"

static polytile_status list_box(const polytile_array *array, const polytile_domain *box,
                                pti_boxes *boxes) {
    pti_boxes_append(boxes, box);
    return boxes->failed ? pti_fail_memory(array->object.context, array->name, sizeof *boxes->box)
                         : POLYTILE_OK;
}

polytile_status pti_member_fetch(polytile_queue *queue, polytile_array *array,
                                 const polytile_domain *box) {
    pti_boxes boxes = {0};
    polytile_status status;
    PTI_TRY(list_box(array, box, &boxes));
    PTI_TRY(pti_queue_fetch(queue, array, &boxes));
    PTI_TRY(pti_queue_wait_for_elements(queue, array));
done:
    pti_boxes_free(&boxes);
    return status;
}

polytile_status pti_member_invalidate(polytile_queue *queue, polytile_array *array,
                                      const polytile_domain *box) {
    pti_boxes boxes = {0};
    polytile_status status;
    PTI_TRY(list_box(array, box, &boxes));
    PTI_TRY(pti_queue_invalidate(queue, array, &boxes));
done:
    pti_boxes_free(&boxes);
    return status;
}

void pti_member_copy(const polytile_array *from, const polytile_array *to,
                     const polytile_domain *box) {
    pti_move move = {.box = box,
                     .element_bytes = from->element_bytes,
                     .to = {to->data, &to->layout},
                     .from = {from->data, &from->layout}};
    pti_box_copy(&move, 1);
}
