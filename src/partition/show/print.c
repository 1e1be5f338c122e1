#include "partition/show/print.h"

static const char *const forms[PTI_N_FORMATS] = {
    [POLYTILE_TEXT] = "the text of a plan",
    [POLYTILE_JSON] = "the JSON of a plan",
    [POLYTILE_SVG] = "the picture of a plan",
};

polytile_status pti_print(const char *function, const pti_object *plan,
                          pti_printer *const printers[PTI_N_FORMATS], polytile_format format,
                          char **text) {
    pti_text out = {0};
    if (text != NULL)
        *text = NULL;
    if (plan == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the plan is NULL", function);
    pti_clear_error(plan->context);
    if (text == NULL)
        return pti_fail(plan->context, POLYTILE_INVALID,
                        "plan to string: text is NULL; pass the address of a char *");
    if ((unsigned)format >= PTI_N_FORMATS)
        return pti_fail(plan->context, POLYTILE_INVALID,
                        "plan to string: there is no format %d; use POLYTILE_TEXT, POLYTILE_JSON "
                        "or POLYTILE_SVG",
                        (int)format);
    printers[format](&out, plan);
    if (out.failed) {
        double n_bytes = (double)out.capacity;
        pti_text_free(&out);
        return pti_fail_memory(plan->context, forms[format], n_bytes);
    }
    *text = out.data;
    return POLYTILE_OK;
}

polytile_status polytile_plan_to_string(const polytile_plan *plan, polytile_format format,
                                        char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {
        [POLYTILE_TEXT] = pti_plan_write_text,
        [POLYTILE_JSON] = pti_plan_write_json,
        [POLYTILE_SVG] = pti_plan_draw,
    };
    return pti_print(__func__, plan == NULL ? NULL : &plan->object, printers, format, text);
}
