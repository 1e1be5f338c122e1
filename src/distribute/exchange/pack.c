#include "distribute/exchange/pack.h"

#include "base/checked.h"
#include "launch/host/copy/loop_nest.h"

/** Copy a box between its array and packed bytes, whose end it returns. */
static char *copy_box(const polytile_array *array, const polytile_domain *box, char *packed,
                      bool packs) {
    char *first = (char *)array->data + pti_memory_layout_offset_of(&array->layout, box);
    const pti_loop_nest nest =
        pti_loop_nest_of_packed(box, &array->layout, array->element_bytes, first, packed, packs);
    pti_loop_nest_copy(&nest);
    return packed + nest.n_runs * nest.run_bytes;
}

int64_t pti_packed_bytes(const pti_boxes *boxes, int64_t element_bytes) {
    int64_t n_bytes;
    if (pti_mul_overflows(pti_boxes_count(boxes), element_bytes, &n_bytes))
        return INT64_MAX;
    return n_bytes;
}

char *pti_pack(const polytile_array *array, const pti_boxes *boxes, char *packed) {
    for (int k = 0; k < boxes->n_boxes; k++)
        packed = copy_box(array, &boxes->box[k], packed, true);
    return packed;
}

const char *pti_unpack(const polytile_array *array, const pti_boxes *boxes, const char *packed) {
    for (int k = 0; k < boxes->n_boxes; k++)
        packed = copy_box(array, &boxes->box[k], (char *)packed, false);
    return packed;
}
