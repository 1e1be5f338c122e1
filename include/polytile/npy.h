#ifndef POLYTILE_NPY_H
#define POLYTILE_NPY_H

#include <polytile/array.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Map an existing NumPy .npy file as an array; the file may be larger than memory.
 *
 * Shapes  C order, little endian, a type of POLYTILE_TYPES but bf16, which NumPy has not, or
 *         POLYTILE_INDEXED() of one: a structured dtype of a value and an i8 at byte 8. 1 to 8
 *         dimensions.
 * Errors  IO (missing, foreign, truncated), UNSUPPORTED (Fortran order, big endian, another type);
 *         the text names the file and the reason.
 * Owns    The context owns the array; destroying it unmaps the file. Runs that write an array of a
 *         read-only file are refused.
 */
polytile_status polytile_npy_open(polytile_context *ctx, const char *name, const char *path,
                                  bool writable, polytile_array **array);

/**
 * Create a .npy file of zeros and map it as an array; its disk space is reserved first.
 *
 * The file is PATH.part until polytile_npy_finish(), or until the array or its context is
 * destroyed; then it gets its name and replaces an old file. If the process ends earlier, the old
 * file is as it was, and PATH.part stays until the next array of this name replaces it. Nothing is
 * forced to the disk: call sync() where the machine itself may fail.
 *
 * Errors  IO (with the system's text; PATH is no file; another array or process writes it),
 *         UNSUPPORTED (a type that NumPy has not), OVERFLOW, NO_MEMORY; nothing is left behind.
 * Owns    The context owns the array.
 */
polytile_status polytile_npy_create(polytile_context *ctx, const char *name, const char *path,
                                    polytile_type type, const polytile_domain *domain,
                                    polytile_array **array);

/**
 * Give the file of an array of polytile_npy_create() its name now, and return whether that worked;
 * an array that is only destroyed writes errors to stderr. The file stays mapped, and later writes
 * change the file itself. A file that has its name already is left alone.
 *
 * Errors  INVALID (the array is incomplete, or attached to a queue), IO (with the system's text);
 *         the file stays PATH.part, and may be finished later.
 */
polytile_status polytile_npy_finish(polytile_array *array);

/** Remove the unfinished file of an array of polytile_npy_create(); an old file stays. The array
 * can be used until it is destroyed. NULL, and finished files, are left alone. */
void polytile_npy_abandon(polytile_array *array);

#ifdef __cplusplus
}
#endif

#endif
