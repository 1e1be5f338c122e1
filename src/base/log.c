#include "base/log.h"

#include "base/context_state.h"
#include <polytile/text.h>

#include <stdio.h>
#include <stdlib.h>

void pti_show_message(const char *format, va_list arguments, char text[PTI_ERROR_BYTES]) {
    char begin[PTI_ERROR_BYTES];
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(begin, sizeof begin, format, arguments);
    char *whole = length < PTI_ERROR_BYTES ? NULL : malloc((size_t)length + 1);
    if (whole != NULL)
        vsnprintf(whole, (size_t)length + 1, format, again);
    va_end(again);
    polytile_text_show(whole == NULL ? begin : whole, text, PTI_ERROR_BYTES);
    free(whole);
}

void pti_log(const polytile_context *ctx, pti_log_level level, const char *format, ...) {
    if (level > ctx->settings.log_level)
        return;
    char text[PTI_ERROR_BYTES];
    va_list arguments;
    va_start(arguments, format);
    pti_show_message(format, arguments, text);
    va_end(arguments);
    fprintf(stderr, "polytile: %s\n", text);
}
