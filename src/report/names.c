#include "report/trace.h"

#include <stdlib.h>
#include <string.h>

const char *pti_process_name(const polytile_trace *trace, int process) {
    const char *name = process < 0 ? "all devices" : trace->process[process].name;
    return name == NULL ? "a process without a name" : name;
}

/** Return how many processes before one have its name. */
static int count_namesakes(const polytile_trace *trace, int process) {
    int n = 0;
    for (int k = 0; k < process; k++)
        n += strcmp(pti_process_name(trace, k), pti_process_name(trace, process)) == 0;
    return n;
}

/** From the last one on, so that those before have their own names yet. */
polytile_status pti_number_namesakes(polytile_context *ctx, polytile_trace *trace) {
    for (int p = trace->n_processes - 1; p > 0; p--) {
        pti_text name = {0};
        const int n_namesakes = count_namesakes(trace, p);
        if (n_namesakes == 0)
            continue;
        pti_text_add(&name, "%s #%d", pti_process_name(trace, p), n_namesakes + 1);
        if (name.failed) {
            pti_text_free(&name);
            return pti_fail_memory(ctx, "a name of a trace", PTI_UNKNOWN_BYTES);
        }
        free(trace->process[p].name);
        trace->process[p].name = name.data;
    }
    return POLYTILE_OK;
}
