#include "queue/over_group.h"
#include "queue/queue.h"

static polytile_status check_notify(const polytile_queue *queue, const polytile_array *array,
                                    polytile_queue_callback *callback) {
    if (array == NULL || array->queue != queue)
        return PTI_QUEUE_REFUSE(
            queue, "cannot notify of array %s, which is not of this queue; attach it first",
            array == NULL ? "NULL" : array->name);
    if (array->is_internal)
        return PTI_QUEUE_REFUSE(queue,
                                "cannot notify of array %s, which is internal and has no memory of "
                                "the program's; notify of one that is attached",
                                array->name);
    if (callback == NULL)
        return PTI_QUEUE_REFUSE(queue, "the function to call when array %s is done is NULL",
                                array->name);
    return POLYTILE_OK;
}

static polytile_status append_callback(polytile_queue *queue, const polytile_array *array,
                                       polytile_queue_callback *callback, void *user) {
    pti_item *item = pti_item_create(PTI_ITEM_FETCH);
    if (item != NULL)
        pti_boxes_append(&item->boxes, &array->domain);
    if (item == NULL || item->boxes.failed) {
        pti_item_free(item);
        return pti_fail_memory(queue->object.context, array->name, sizeof *item);
    }
    item->position = array->position;
    item->callback = callback;
    item->user = user;
    pti_queue_append(queue, item);
    return POLYTILE_OK;
}

polytile_status polytile_queue_notify(polytile_queue *queue, polytile_array *array,
                                      polytile_queue_callback *callback, void *user) {
    polytile_status status;
    PTI_TRY(pti_queue_enter(queue));
    PTI_TRY(check_notify(queue, array, callback));
    status = queue->group_functions != NULL
                 ? queue->group_functions->notify(queue, array, callback, user)
                 : append_callback(queue, array, callback, user);
done:
    return status;
}
