#include "report/show.h"

polytile_status polytile_trace_to_string(const polytile_trace *trace, polytile_format format,
                                         char **text) {
    pti_text out = {0};
    if (text != NULL)
        *text = NULL;
    PTI_ENTER(trace, trace->object.context, "trace");
    polytile_context *ctx = trace->object.context;
    if (text == NULL)
        return pti_fail(ctx, POLYTILE_INVALID, "%s: text is NULL; pass the address of a char *",
                        __func__);
    if (format == POLYTILE_TEXT)
        pti_trace_write_text(&out, trace);
    else if (format == POLYTILE_JSON)
        pti_trace_write_json(&out, trace);
    else if (format == POLYTILE_HTML)
        pti_trace_write_page(&out, trace);
    else
        return pti_fail(ctx, POLYTILE_INVALID,
                        "%s: a trace has no form %d; use POLYTILE_TEXT, POLYTILE_JSON or "
                        "POLYTILE_HTML",
                        __func__, (int)format);
    if (out.failed) {
        pti_text_free(&out);
        return pti_fail_memory(ctx, "the report of a trace", PTI_UNKNOWN_BYTES);
    }
    *text = out.data;
    return POLYTILE_OK;
}
