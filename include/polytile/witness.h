#ifndef POLYTILE_WITNESS_H
#define POLYTILE_WITNESS_H

#include <polytile/context.h>
#include <polytile/domain.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a point shows of a launch. */
typedef enum polytile_witness_kind {
    POLYTILE_WITNESS_NONE,
    POLYTILE_WITNESS_CONFLICT,     /* two threads must not touch the element in any order */
    POLYTILE_WITNESS_OUTSIDE,      /* the thread's section has no element in its array */
    POLYTILE_WITNESS_UNINITIALISED /* the thread reads an element that no launch before wrote */
} polytile_witness_kind;

/** A point that shows what is wrong with launches, as data. */
typedef struct polytile_witness {
    polytile_witness_kind kind;
    int launch;  /* of several, counted from 0; 0 of one */
    int operand; /* by polytile_kernel_get_view_name() */
    int n_indices;
    int64_t thread[POLYTILE_MAX_DIMS];
    int64_t other[POLYTILE_MAX_DIMS]; /* the second thread; conflicts only */
    int n_dims;
    int64_t element[POLYTILE_MAX_DIMS];
    int64_t reserved[4]; /* zeros */
} polytile_witness;

/**
 * Get the point that shows the last error on a context, which polytile_last_error() has in words.
 *
 * Returns false, with a witness of kind NONE, if no point shows it. Threads of the library, such as
 * a queue's, report errors in words only.
 */
bool polytile_last_witness(const polytile_context *ctx, polytile_witness *witness);

#ifdef __cplusplus
}
#endif

#endif
