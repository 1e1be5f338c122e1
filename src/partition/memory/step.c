#include "partition/memory/step.h"

#include "access/footprint/call.h"
#include "access/footprint/footprint.h"

bool pti_step_uses(const pti_step *step, int array) {
    return step->kind == PTI_STEP_LAUNCH ? pti_call_has_array(&step->call, array)
                                         : step->position == array;
}

/** Return whether one operand overwrites a box, and no other uses the array. */
static bool launch_buries(const pti_step *step, int array, const polytile_domain *box) {
    const pti_instance *instance = step->call.instance;
    int n_uses = 0, n_burials = 0;
    for (int o = 0; o < instance->n_operands; o++) {
        polytile_domain hull;
        if (step->call.array[o] != array)
            continue;
        n_uses++;
        n_burials += pti_operand_overwrites_hull(instance, o) &&
                     pti_footprint_find_hull(instance, o, PTI_TOUCHES, &instance->threads, &hull) &&
                     pti_box_contains(&hull, box);
    }
    return n_uses == 1 && n_burials == 1;
}

bool pti_step_buries(const pti_step *step, int array, const polytile_domain *box) {
    if (step->kind == PTI_STEP_LAUNCH)
        return launch_buries(step, array, box);
    return step->kind == PTI_STEP_DROP ||
           (step->kind == PTI_STEP_INVALIDATE && pti_boxes_cover(step->boxes, box));
}
