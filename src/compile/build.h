#ifndef POLYTILE_COMPILE_BUILD_H
#define POLYTILE_COMPILE_BUILD_H

#include "compile/compile.h"

/* The compilers, and what they are given. */

/** What is to be built. */
typedef struct pti_build {
    const pti_body_text *body;
    pti_target target;
    const polytile_type *types; /* one an array, scratch included */
} pti_build;

/** A compiler of sources: to add one, add a file and a row of pti_compiler_for(). */
typedef struct pti_compiler {
    /** Append what tells this compiler, its options and the processor from others, without running
     * it. Errors: UNSUPPORTED (there is none), NO_MEMORY. */
    polytile_status (*describe)(polytile_context *ctx, const pti_build *build, pti_text *text);
    /** Compile a source. Errors: those of pti_diagnose(), IO, NO_MEMORY. Owns: the caller frees
     * code->bytes. */
    polytile_status (*build)(polytile_context *ctx, const pti_build *build, const pti_text *source,
                             pti_code *code);
} pti_compiler;

/** The system's C compiler. */
extern const pti_compiler pti_host_compiler;
/** NVRTC. */
extern const pti_compiler pti_cuda_compiler;

const pti_compiler *pti_compiler_for(pti_target target);

#endif
