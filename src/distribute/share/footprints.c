#include "distribute/share/footprints.h"

#include "access/set/boxes.h"

/* A section with more boxes than that is taken as larger boxes. */
enum { FEW_BOXES = 16 };

bool pti_footprint_gather(const pti_instance *instance, int operand, pti_touch touch,
                          const pti_boxes *threads, pti_boxes *touched) {
    pti_boxes part = {0};
    bool exact = !threads->failed;
    for (int b = 0; b < threads->n_boxes; b++) {
        exact = pti_footprint_boxes(instance, operand, touch, &threads->box[b], FEW_BOXES, &part) &&
                exact;
        pti_boxes_unite(touched, &part, pti_boxes_gather);
    }
    touched->failed = touched->failed || threads->failed;
    pti_boxes_free(&part);
    return exact && !touched->failed;
}
