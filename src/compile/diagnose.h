#ifndef POLYTILE_COMPILE_DIAGNOSE_H
#define POLYTILE_COMPILE_DIAGNOSE_H

#include "compile/compile.h"

/**
 * Turn what a compiler says of a source, in English, into an error about the body.
 *
 * advice: what to do where it is about something else.
 * Returns DECLARATION with the body's line, if the compiler names one; else UNSUPPORTED with the
 *         compiler's first error, or its first words.
 */
polytile_status pti_diagnose(polytile_context *ctx, const pti_body_text *body, const char *compiler,
                             const char *advice, const char *said);

#endif
