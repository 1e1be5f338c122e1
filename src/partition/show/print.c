#include "partition/window/plan.h"

typedef polytile_status print_function(const polytile_plan *plan, char **text);

static print_function *const printers[] = {
    [POLYTILE_TEXT] = pti_plan_to_text,
    [POLYTILE_JSON] = pti_plan_to_json,
    [POLYTILE_SVG] = pti_plan_to_svg,
};

polytile_status polytile_plan_to_string(const polytile_plan *plan, polytile_format format,
                                        char **text) {
    if (text != NULL)
        *text = NULL;
    if (plan == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the plan is NULL", __func__);
    polytile_context *ctx = plan->object.context;
    pti_clear_error(ctx);
    if (text == NULL)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "plan to string: text is NULL; pass the address "
                        "of a char *");
    if ((unsigned)format >= sizeof printers / sizeof *printers)
        return pti_fail(ctx, POLYTILE_INVALID,
                        "plan to string: there is no format %d; use POLYTILE_TEXT, POLYTILE_JSON "
                        "or POLYTILE_SVG",
                        (int)format);
    return printers[format](plan, text);
}
