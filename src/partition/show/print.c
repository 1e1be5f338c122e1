#include "partition/show/print.h"

#include <stdio.h>

static const char *const formats[PTI_N_FORMATS] = {
    [POLYTILE_TEXT] = "POLYTILE_TEXT",
    [POLYTILE_JSON] = "POLYTILE_JSON",
    [POLYTILE_SVG] = "POLYTILE_SVG",
    [POLYTILE_HTML] = "POLYTILE_HTML",
};

/** Refuse a format, and name those for which there are printers. */
static polytile_status refuse_format(const char *function, const char *noun,
                                     const pti_object *object,
                                     pti_printer *const printers[PTI_N_FORMATS], int format) {
    char use[128] = "";
    size_t length = 0;
    int n_left = 0;
    for (int f = 0; f < PTI_N_FORMATS; f++)
        n_left += printers[f] != NULL;
    for (int f = 0; f < PTI_N_FORMATS; f++) {
        if (printers[f] == NULL)
            continue;
        n_left--;
        length += (size_t)snprintf(use + length, sizeof use - length, "%s%s", formats[f],
                                   n_left > 1    ? ", "
                                   : n_left == 1 ? " or "
                                                 : "");
    }
    return pti_fail(object->context, POLYTILE_INVALID, "%s: a %s has no format %d; use %s",
                    function, noun, format, use);
}

polytile_status pti_print(const char *function, const char *noun, const pti_object *object,
                          pti_printer *const printers[PTI_N_FORMATS], polytile_format format,
                          char **text) {
    pti_text out = {0};
    if (text != NULL)
        *text = NULL;
    if (object == NULL)
        return pti_fail(NULL, POLYTILE_INVALID, "%s: the %s is NULL", function, noun);
    pti_clear_error(object->context);
    if (text == NULL)
        return pti_fail(object->context, POLYTILE_INVALID,
                        "%s: text is NULL; pass the address of a char *", function);
    if ((unsigned)format >= PTI_N_FORMATS || printers[format] == NULL)
        return refuse_format(function, noun, object, printers, (int)format);
    printers[format](&out, object);
    if (out.failed) {
        char what[64];
        double n_bytes = (double)out.capacity;
        pti_text_free(&out);
        snprintf(what, sizeof what, "the text of a %s", noun);
        return pti_fail_memory(object->context, what, n_bytes);
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
    return pti_print(__func__, "plan", plan == NULL ? NULL : &plan->object, printers, format, text);
}
