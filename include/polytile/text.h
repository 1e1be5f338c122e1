#ifndef POLYTILE_TEXT_H
#define POLYTILE_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Write a text from anywhere so that it may be printed. Bytes that a terminal would take for a
 * command, or that are no UTF-8, become \x1b and the like; line ends and tabs stay.
 *
 * Returns buffer, which has n_bytes. A text that does not fit loses its middle, " ... ", or in a
 *         short buffer its end, whole characters at a time. NULL is shown as an empty text. The
 *         library shows its own errors like this.
 */
char *polytile_text_show(const char *text, char *buffer, size_t n_bytes);

#ifdef __cplusplus
}
#endif

#endif
