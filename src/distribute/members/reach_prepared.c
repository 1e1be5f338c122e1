#include "access/set/boxes.h"
#include "distribute/members/state.h"

/* What the arrays of members have to contain for a superstep. */

static polytile_status reach_boxes(pti_group *group, int position, int local,
                                   const pti_boxes *boxes) {
    if (boxes->n_boxes == 0)
        return POLYTILE_OK;
    polytile_domain hull = pti_boxes_bounding(boxes, boxes->box[0].n_dims);
    return pti_group_reach(group, position, local, &hull);
}

static polytile_status reach_work(pti_group *group, const pti_prepared_superstep *prepared,
                                  int local) {
    const pti_work *work = &prepared->parts.work[local];
    polytile_status status = POLYTILE_OK;
    for (int p = 0; p < work->n_arrays; p++) {
        PTI_TRY(reach_boxes(group, p, local, &work->reads[p]));
        PTI_TRY(reach_boxes(group, p, local, &work->writes[p]));
    }
done:
    return status;
}

static polytile_domain first_element(const polytile_domain *domain) {
    polytile_domain first = *domain;
    for (int d = 0; d < domain->n_dims; d++)
        first.range[d].hi = first.range[d].lo;
    return first;
}

polytile_status pti_group_reach_operands(pti_group *group, const pti_recorded *recorded,
                                         int local) {
    const pti_prepared *prepared = recorded->prepared;
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (prepared->instance->operand[a].is_scratch)
            continue;
        const pti_group_array *array = &group->array[prepared->position[a]];
        polytile_domain first = first_element(&array->array->domain);
        if (array->member[local] == NULL)
            PTI_TRY(pti_group_reach(group, prepared->position[a], local, &first));
    }
done:
    return status;
}

/** Of combined results every member has all. */
static polytile_status reach_op(pti_group *group, const pti_joint_op *op) {
    const int first = group->transport->first;
    polytile_status status = POLYTILE_OK;
    for (int m = 0; m < group->transport->n_local; m++) {
        const bool is_copied_from = op->kind == PTI_JOINT_COPY && op->peer == first + m;
        if (op->kind == PTI_JOINT_COMBINE || op->member == first + m || is_copied_from)
            PTI_TRY(reach_boxes(group, op->array, m, &op->boxes));
    }
done:
    return status;
}

static polytile_status reach_list(pti_group *group, const pti_joint_list *list) {
    polytile_status status = POLYTILE_OK;
    for (int k = 0; k < list->n_ops; k++)
        if (list->op[k].array >= 0)
            PTI_TRY(reach_op(group, &list->op[k]));
done:
    return status;
}

polytile_status pti_group_reach_prepared(pti_group *group, const pti_prepared_superstep *prepared,
                                         const pti_recorded *recorded) {
    polytile_status status;
    PTI_TRY(reach_list(group, &prepared->list));
    for (int m = 0; m < group->transport->n_local; m++) {
        PTI_TRY(reach_work(group, prepared, m));
        for (int l = 0; l < prepared->n_launches; l++)
            PTI_TRY(pti_group_reach_operands(group, &recorded[l], m));
    }
done:
    return status;
}
