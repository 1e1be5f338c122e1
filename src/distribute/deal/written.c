#include "distribute/deal/launch.h"

#include "base/checked.h"

/* What members do with elements that rows of a launch touch: results come to the host, and devices
 * forget what is newer there, or is needed no more. */

polytile_domain pti_dealt_threads(const pti_dealt_launch *dealt, pti_rows rows) {
    return pti_row_pieces_threads(&dealt->sums->pieces, dealt->recorded->prepared->instance,
                                  rows.first, rows.count);
}

void pti_dealt_add_written(const pti_dealt_launch *dealt, pti_rows rows, int operand,
                           pti_boxes *written) {
    const polytile_domain threads = pti_dealt_threads(dealt, rows);
    pti_boxes boxes = {0};
    pti_footprint_boxes(dealt->recorded->prepared->instance, operand, PTI_WRITES, &threads,
                        PTI_MAX_WRITE_BOXES, &boxes);
    for (int b = 0; b < boxes.n_boxes; b++)
        pti_boxes_append(written, &boxes.box[b]);
    written->failed |= boxes.failed;
    pti_boxes_free(&boxes);
}

static polytile_array *member_array(const pti_dealt_launch *dealt, int operand, int local) {
    int position = dealt->recorded->prepared->position[operand];
    return dealt->group->array[position].member[local];
}

/** The rows from a piece on that others than a member took, side by side; *next is the first piece
 * after them. */
static pti_rows rows_of_others(const pti_dealt_launch *dealt, int local, int64_t first,
                               int64_t *next) {
    pti_rows rows = {0};
    for (*next = first; *next < dealt->n_pieces && dealt->piece[*next].local != local; (*next)++) {
        rows.first = rows.count == 0 ? dealt->piece[*next].rows.first : rows.first;
        rows.count += dealt->piece[*next].rows.count;
    }
    return rows;
}

static void add_written_by_others(const pti_dealt_launch *dealt, int local, int operand,
                                  pti_boxes *written) {
    int64_t p = 0, next;
    while (p < dealt->n_pieces) {
        const pti_rows rows = rows_of_others(dealt, local, p, &next);
        if (rows.count > 0)
            pti_dealt_add_written(dealt, rows, operand, written);
        p = pti_max(next, p + 1);
    }
}

static polytile_status notify_written(const pti_dealt_launch *dealt, int local, int operand,
                                      const pti_boxes *written, pti_group_notify *notify) {
    if (written->failed)
        return pti_fail_memory(dealt->group->ctx,
                               dealt->recorded->prepared->instance->operand[operand].name,
                               sizeof *written->box);
    return written->n_boxes == 0
               ? POLYTILE_OK
               : notify(dealt->group->member[local], member_array(dealt, operand, local), written);
}

bool pti_dealt_writes_on_host(const pti_dealt_launch *dealt, int operand) {
    return dealt->recorded->prepared->instance->operand[operand].writes &&
           !pti_row_pieces_have(&dealt->sums->pieces, operand);
}

/** Tell a member what of each array rows write; NULL: the rows of all others. */
static polytile_status notify_all_written(const pti_dealt_launch *dealt, int local,
                                          const pti_rows *rows, pti_group_notify *notify) {
    pti_boxes written = {0};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < dealt->recorded->prepared->n_arrays; a++) {
        pti_boxes_clear(&written);
        if (pti_dealt_writes_on_host(dealt, a) && rows != NULL)
            pti_dealt_add_written(dealt, *rows, a, &written);
        else if (pti_dealt_writes_on_host(dealt, a))
            add_written_by_others(dealt, local, a, &written);
        PTI_TRY(notify_written(dealt, local, a, &written, notify));
    }
done:
    pti_boxes_free(&written);
    return status;
}

polytile_status pti_dealt_fetch(const pti_dealt_launch *dealt, int local, pti_rows rows) {
    return dealt->group->member[local]->device->reaches_host
               ? POLYTILE_OK
               : notify_all_written(dealt, local, &rows, pti_queue_fetch);
}

polytile_status pti_dealt_forget_others(const pti_dealt_launch *dealt, int local) {
    return notify_all_written(dealt, local, NULL, pti_queue_invalidate);
}

polytile_status pti_dealt_forget(const pti_dealt_launch *dealt, int local, pti_rows rows) {
    const pti_prepared *prepared = dealt->recorded->prepared;
    const polytile_domain threads = pti_dealt_threads(dealt, rows);
    pti_boxes touched = {0};
    polytile_status status = POLYTILE_OK;
    for (int a = 0; a < prepared->n_arrays; a++) {
        if (prepared->instance->operand[a].is_scratch ||
            pti_row_pieces_have(&dealt->sums->pieces, a) ||
            !pti_operand_depends(prepared->instance, a, 0))
            continue;
        const polytile_domain hull =
            pti_footprint_hull(prepared->instance, a, PTI_TOUCHES, &threads);
        pti_boxes_clear(&touched);
        if (!pti_box_is_empty(&hull))
            pti_boxes_append(&touched, &hull);
        PTI_TRY(notify_written(dealt, local, a, &touched, pti_queue_invalidate));
    }
done:
    pti_boxes_free(&touched);
    return status;
}
