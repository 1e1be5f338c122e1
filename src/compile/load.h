#ifndef POLYTILE_COMPILE_LOAD_H
#define POLYTILE_COMPILE_LOAD_H

#include "compile/build.h"

/* Compiled code, loaded so that it can run. */

/** Code that can run; zeros: none. */
typedef struct pti_loaded {
    polytile_implementation implementation;
    polytile_view_shape shapes[POLYTILE_MAX_DIMS]; /* of a GPU's kernels, which say none */
    polytile_body_parameter parameters[POLYTILE_MAX_PARAMETERS]; /* of a GPU's kernels, too */
    void *library;                                               /* of the host; NULL: none */
    int file;                                                    /* that keeps its name; -1: none */
    void *module;                                                /* of GPUs; NULL: none */
} pti_loaded;

/**
 * Load what a compiler built.
 *
 * Errors  UNSUPPORTED (the system refuses it, or a GPU's driver is too old), DEVICE.
 * Owns    The caller unloads it, when nothing runs in it any more.
 */
polytile_status pti_load(polytile_context *ctx, const pti_build *build, const pti_code *code,
                         pti_loaded *loaded);
void pti_unload(pti_loaded *loaded);

/** The two kinds. */
polytile_status pti_load_host(polytile_context *ctx, const pti_build *build, const pti_code *code,
                              pti_loaded *loaded);
polytile_status pti_load_cuda(polytile_context *ctx, const pti_build *build, const pti_code *code,
                              pti_loaded *loaded);
void pti_unload_host(pti_loaded *loaded);
void pti_unload_cuda(pti_loaded *loaded);

/** The functions of CUDA's driver that load kernels; they return its errors, 0 for none. Tests
 * replace them. */
typedef struct pti_driver_calls {
    int (*load)(void **module, const void *code, void *, void *, unsigned, void *, void *,
                unsigned);
    int (*find)(void **kernel, void *module, const char *name);
    int (*unload)(void *module);
} pti_driver_calls;

/** NULL: those of libcuda.so.1. */
extern const pti_driver_calls *pti_current_driver_calls;

#endif
