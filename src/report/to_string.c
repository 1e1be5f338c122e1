#include "report/show.h"

polytile_status polytile_trace_to_string(const polytile_trace *trace, polytile_format format,
                                         char **text) {
    static pti_printer *const printers[PTI_N_FORMATS] = {
        [POLYTILE_TEXT] = pti_trace_write_text,
        [POLYTILE_JSON] = pti_trace_write_json,
        [POLYTILE_HTML] = pti_trace_write_page,
    };
    return pti_print(__func__, "trace", trace == NULL ? NULL : &trace->object, printers, format,
                     text);
}
