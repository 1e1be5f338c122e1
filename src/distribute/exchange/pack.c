#include "distribute/exchange/pack.h"

#include "base/checked.h"
#include "launch/host/copy/box_copy.h"

/** Copy a box between its array and packed bytes, as a box of as many elements from 0 on, without
 * steps. Returns the end of the bytes. */
static char *copy_box(const polytile_array *array, const polytile_domain *box, char *packed,
                      bool packs) {
    polytile_domain counted = {.n_dims = box->n_dims};
    pti_memory_layout in_array = {0};
    for (int d = 0; d < box->n_dims; d++) {
        counted.range[d] = (polytile_range){0, pti_range_count(box->range[d]) - 1, 1};
        in_array.stride_bytes[d] = box->range[d].step * array->layout.stride_bytes[d];
    }
    in_array.hull = counted;
    const pti_memory_layout in_packed = pti_memory_layout_of(&counted, array->element_bytes);
    char *first = (char *)array->data + pti_memory_layout_offset_of(&array->layout, box);
    const pti_memory_span there = {first, &in_array}, here = {packed, &in_packed};
    pti_box_copy(&(pti_move){.box = &counted,
                             .element_bytes = array->element_bytes,
                             .to = packs ? here : there,
                             .from = packs ? there : here},
                 1);
    return packed + in_packed.size_bytes;
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
