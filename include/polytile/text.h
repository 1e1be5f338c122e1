#ifndef POLYTILE_TEXT_H
#define POLYTILE_TEXT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A text from anywhere as it may be printed: what a terminal would take for a command, and what is
 * no UTF-8, becomes \x1b and the like, byte by byte; line ends and tabs stay.
 *
 * Returns buffer, which has n_bytes. Of a text that does not fit the middle is left out, " ... ",
 *         or in a short buffer the end, whole characters at a time. NULL for a text is shown as an
 *         empty one. The library's own errors are shown like this.
 */
char *polytile_text_show(const char *text, char *buffer, size_t n_bytes);

#ifdef __cplusplus
}
#endif

#endif
