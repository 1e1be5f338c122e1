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

/**
 * Create a .npy file of zeros and map it as an array; its disk space is reserved first.
 *
 * The file is PATH.part until it is whole: it gets its name, replacing an old file, by
 * polytile_npy_finish(), or when the array is destroyed, also by its context's end. Until then, and
 * whatever becomes of the process, the old file is as it was; what was written is in PATH.part,
 * which the next array of this name replaces. Nothing is forced to the disk: call sync() where the
 * machine itself may fail.
 *
 * Errors  IO (with the system's text; PATH is no file; another array or process writes it),
 *         UNSUPPORTED (a type that NumPy has not), OVERFLOW, NO_MEMORY; nothing is left behind.
 * Owns    The context owns the array.
 */
polytile_status polytile_npy_create(polytile_context *ctx, const char *name, const char *path,
                                    polytile_type type, const polytile_domain *domain,
                                    polytile_array **array);

/**
 * Give the file of an array of polytile_npy_create() its name now, and hear whether that works: an
 * array that is only destroyed tells on standard error. It stays mapped, and what is written from
 * then on changes the file itself. A file that has its name already is left alone.
 *
 * Errors  INVALID (the array is incomplete, or attached to a queue), IO (with the system's text);
 *         the file still is PATH.part, and may be finished later.
 */
polytile_status polytile_npy_finish(polytile_array *array);

/** Remove the file of an array of polytile_npy_create() that is not finished, so that the old one
 * stays; the array can be used until it is destroyed. NULL, and finished files, are left alone. */
void polytile_npy_abandon(polytile_array *array);

#ifdef __cplusplus
}
#endif

#endif
