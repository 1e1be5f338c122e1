#ifndef EXAMPLES_FIELDS_H
#define EXAMPLES_FIELDS_H

#include "session.h"

/* Arrays as the command line says: of files, in memory, or only described for planning. */

/** The type and the domain of an array. */
typedef struct field_shape {
    polytile_type type;
    int n_dims;
    int64_t extent[POLYTILE_MAX_DIMS];
} field_shape;

/**
 * Open the k-th --input file; *array is NULL if it was not given.
 *
 * Errors  INVALID (a type other than f32 and f64, or other than n_dims dimensions), and those of
 * polytile_npy_open().
 */
polytile_status field_open_input(session *s, int k, const char *name, int n_dims,
                                 polytile_array **array);

/** Create an array in memory; only described when planning. Errors: OVERFLOW, NO_MEMORY. */
polytile_status field_create(session *s, const char *name, const field_shape *shape,
                             polytile_array **array);

/** The same with memory also when planning, for what plans have to know. */
polytile_status field_create_filled(session *s, const char *name, const field_shape *shape,
                                    polytile_array **array);

/** Create the k-th --output file as an array of zeros, or memory if it was not given or another
 * rank writes it. */
polytile_status field_create_output(session *s, int k, const char *name, const field_shape *shape,
                                    polytile_array **array);

/** Give the output files their names. Errors: IO. */
polytile_status field_finish_outputs(const session *s);
/** Abandon the output files; old ones stay as they were. */
void field_abandon_outputs(const session *s);

field_shape field_get_shape(const polytile_array *array);

/** Require an input's shape and type. Errors: INVALID, with both shapes. */
polytile_status field_require_shape(session *s, const polytile_array *array,
                                    const field_shape *shape);

/** Require that --n, if given, is the extent of a file. Errors: INVALID. */
polytile_status field_require_n(session *s, int64_t extent);

#endif
