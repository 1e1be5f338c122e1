#ifndef POLYTILE_BASE_LOG_H
#define POLYTILE_BASE_LOG_H

#include <polytile/context.h>
#include <stdarg.h>

/* Messages to people: lines of the log, and how errors' texts are printed. */

/** The longest message, with its end. */
enum { PTI_ERROR_BYTES = 2048 };

/** How important a line of the log is. */
typedef enum pti_log_level {
    PTI_LOG_ERROR,
    PTI_LOG_WARN,
    PTI_LOG_INFO,
    PTI_LOG_DEBUG
} pti_log_level;

/** Write one line to stderr if POLYTILE_LOG asks for this level. */
void pti_log(const polytile_context *ctx, pti_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** Write a message as it may be printed, without its end if there is no memory for a long one. The
 * arguments may include the old text. */
void pti_show_message(const char *format, va_list arguments, char text[PTI_ERROR_BYTES]);

#endif
