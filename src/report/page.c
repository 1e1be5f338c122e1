#include "report/show.h"

#include <string.h>

/** Where the data go in the page. */
static const char place[] = "/*DATA*/";

/** Append JSON as a script of HTML may hold it: a name could end the script. */
static void add_for_script(pti_text *text, const pti_text *json) {
    const char *at = json->data;
    for (const char *end; at != NULL && (end = strchr(at, '<')) != NULL; at = end + 1) {
        char *bytes = pti_text_extend(text, (size_t)(end - at));
        if (bytes != NULL)
            memcpy(bytes, at, (size_t)(end - at));
        pti_text_add(text, "\\u003c");
    }
    pti_text_add(text, "%s", at == NULL ? "" : at);
    text->failed |= json->failed;
}

static void add_bytes(pti_text *text, const char *bytes, size_t n_bytes) {
    char *written = pti_text_extend(text, n_bytes);
    if (written != NULL)
        memcpy(written, bytes, n_bytes);
}

void pti_trace_write_page(pti_text *text, const pti_object *object) {
    const polytile_trace *trace = (const polytile_trace *)object;
    const char *page = (const char *)pti_report_page_text;
    const char *at = memmem(page, pti_report_page_bytes, place, sizeof place - 1);
    const char *behind = at + sizeof place - 1;
    pti_text json = {0};
    pti_text_add(&json, "{\"trace\": ");
    pti_trace_write_json(&json, object);
    pti_text_add(&json, ", \"end_ns\": %lld, \"tracks\": ", (long long)trace->end_ns);
    pti_trace_write_tracks(&json, trace);
    pti_text_add(&json, "}");
    add_bytes(text, page, (size_t)(at - page));
    add_for_script(text, &json);
    add_bytes(text, behind, (size_t)(page + pti_report_page_bytes - behind));
    pti_text_free(&json);
}
