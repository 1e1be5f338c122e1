#include "distribute/exchange/extend_arrays.h"

static polytile_status extend_over_boxes(const pti_member_arrays *arrays, int array, int local,
                                         const pti_boxes *boxes) {
    if (boxes->n_boxes == 0)
        return POLYTILE_OK;
    const polytile_domain hull = pti_boxes_bounding(boxes, boxes->box[0].n_dims);
    return arrays->extend(arrays->owner, array, local, &hull);
}

/** Return whether an operation uses its boxes of a member's array. Of combined results every member
 * has all. */
static bool uses_boxes_of(const pti_joint_op *op, int member) {
    return op->kind == PTI_JOINT_COMBINE || op->member == member ||
           (op->kind == PTI_JOINT_COPY && op->peer == member);
}

static polytile_status extend_for_op(const pti_member_arrays *arrays, const pti_joint_op *op) {
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < arrays->n_local; m++)
        if (uses_boxes_of(op, arrays->first + m))
            PTI_TRY(extend_over_boxes(arrays, op->array, m, &op->boxes));
done:
    return status;
}

static polytile_status extend_for_work(const pti_member_arrays *arrays, const pti_work *work,
                                       int local) {
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < work->n_arrays; a++) {
        PTI_TRY(extend_over_boxes(arrays, a, local, &work->reads[a]));
        PTI_TRY(extend_over_boxes(arrays, a, local, &work->writes[a]));
    }
done:
    return status;
}

polytile_status pti_extend_for_superstep(const pti_member_arrays *arrays,
                                         const pti_joint_list *list, const pti_work *work) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < list->n_ops; k++)
        if (list->op[k].array >= 0)
            PTI_TRY(extend_for_op(arrays, &list->op[k]));
    for (int m = 0; m < arrays->n_local; m++)
        PTI_TRY(extend_for_work(arrays, &work[m], m));
done:
    return status;
}

static polytile_domain first_element(const polytile_domain *domain) {
    polytile_domain first = *domain;
    for (int d = 0; d < domain->n_dims; d++)
        first.range[d].hi = first.range[d].lo;
    return first;
}

polytile_status pti_extend_for_launch(const pti_member_arrays *arrays, const pti_call *call,
                                      const pti_ownership *ownerships, int local) {
    polytile_status status = POLYTILE_OK;
    for (int o = 0; o < call->instance->n_operands; o++) {
        const int array = call->array[o];
        if (call->instance->operand[o].is_scratch || arrays->has(arrays->owner, array, local))
            continue;
        const polytile_domain first = first_element(&ownerships[array].domain);
        PTI_TRY(arrays->extend(arrays->owner, array, local, &first));
    }
done:
    return status;
}
