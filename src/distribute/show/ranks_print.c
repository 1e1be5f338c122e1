#include "distribute/show/ranks_plan.h"

polytile_status polytile_ranks_plan_to_string(const polytile_ranks_plan *plan,
                                              polytile_format format, char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {
        [POLYTILE_TEXT] = pti_ranks_write_text,
        [POLYTILE_JSON] = pti_ranks_write_json,
        [POLYTILE_SVG] = pti_ranks_draw,
    };
    return pti_print(__func__, "plan", plan == NULL ? NULL : &plan->object, printers, format, text);
}
