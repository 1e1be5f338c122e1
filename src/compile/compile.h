#ifndef POLYTILE_COMPILE_COMPILE_H
#define POLYTILE_COMPILE_COMPILE_H

#include "access/declare/declaration.h"
#include "base/context.h"
#include <polytile/compile.h>

/* compile: kernels from text, a library of its own, polytile_compile. A body is checked (body.h),
 * becomes a source (source.h) when types are known, is built by a compiler (build.h) unless a file
 * has what was built (entry.h), and is loaded (load.h). compile.c joins these, and is what the core
 * asks for a body of certain types. */

/** Who runs what is compiled. */
typedef struct pti_target {
    int capability; /* of a GPU, 10 * major + minor; 0: the host */
} pti_target;

static inline bool pti_target_is_host(pti_target target) {
    return target.capability == 0;
}

/** What a body is compiled from, but for types. */
typedef struct pti_body_text {
    const polytile_declaration *declaration; /* owned, as what follows */
    char *declared;                          /* its text */
    char *text;                              /* the body, as it was given */
    bool contracts;
} pti_body_text;

/** Bytes that a compiler made, to be loaded; owned. */
typedef struct pti_code {
    char *bytes;
    size_t n_bytes;
} pti_code;

#endif
