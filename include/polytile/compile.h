#ifndef POLYTILE_COMPILE_H
#define POLYTILE_COMPILE_H

#include <polytile/declaration.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Kernels from text, compiled when they are needed. Link polytile_compile beside polytile; programs
 * that compile no text need neither this header nor that library.
 */

/** How a body is compiled; zeros are the defaults, and so is NULL in place of the whole. */
typedef struct polytile_compile_options {
    int n_types;                /* as many as the declaration has arrays; 0: not known yet */
    const polytile_type *types; /* of the arrays, in the declaration's order: compile at once */
    int cuda_capability;        /* with types: for a GPU of this one, 90 for 9.0; 0: for the host */
    bool contracts;             /* a * b + c may be rounded once, which is faster on GPUs, and gives
                                   other bits than the host */
    int64_t reserved[4];        /* zeros */
} polytile_compile_options;

/**
 * Create a kernel from a declaration and the text of its body, in C, for one thread:
 *
 *     polytile_kernel_compile(ctx, "add[i]: in x[i], y[i]; out z[i]", "z(i) = x(i) + y(i);", NULL,
 *                             &kernel);
 *
 * In the body A(i, j) is the element of A with these indices, to read or to assign; indices and
 * parameters stand by their names. Elements of reducing roles are only combined into: PT_SUM(s(0),
 * x(i)), PT_PROD, PT_MIN, PT_MAX. An early `return` ends the thread. The other macros of
 * polytile/kernel.h and the functions of math.h are there.
 *
 * The types of elements are those of the arrays that a launch is given. A body is compiled by the
 * first launch with new types, for GPUs by NVRTC (libnvrtc.so), for the host by the C compiler that
 * POLYTILE_CC names (cc), and kept in the directory of POLYTILE_CACHE for other processes.
 *
 * Shapes  At most 8 arrays, scratch included; otherwise as polytile_kernel_create().
 * Errors  Those of polytile_kernel_create(); DECLARATION (the body is wrong: the text shows its
 *         line with a caret), UNSUPPORTED (no compiler is there, or it fails), IO (others may write
 *         where compiled bodies are kept). What only compilers find is an error when they run: at
 *         once if the options have types, else of the first launch with new ones.
 * Owns    The texts are copied. The context owns the kernel, which polytile_kernel_destroy() can
 *         end sooner; what was compiled stays until the context ends.
 */
polytile_status polytile_kernel_compile(polytile_context *ctx, const char *declaration,
                                        const char *body, const polytile_compile_options *options,
                                        polytile_kernel **kernel);

#ifdef __cplusplus
}
#endif

#endif
