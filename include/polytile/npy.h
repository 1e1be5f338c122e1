#ifndef POLYTILE_NPY_H
#define POLYTILE_NPY_H

#include <polytile/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Map an existing NumPy .npy file as an array; the file may be larger than memory.
 *
 * Shapes  C order, little endian, a type of POLYTILE_TYPES, 1 to 8 dimensions.
 * Errors  IO (missing, foreign, truncated), UNSUPPORTED (Fortran order, big endian, another type);
 *         the text names the file and the reason.
 * Owns    The context owns the array; destroying it unmaps the file. A read-only file must not be
 *         written by a run (refused when it is).
 */
polytile_status polytile_npy_open(polytile_context *ctx, const char *name, const char *path,
                                  bool writable, polytile_array **array);

/** Create a .npy file of zeros (replacing an old one) and map it as an array; its disk space is
 * reserved first. */
polytile_status polytile_npy_create(polytile_context *ctx, const char *name, const char *path,
                                    polytile_type type, const polytile_domain *domain,
                                    polytile_array **array);

#ifdef __cplusplus
}
#endif

#endif
