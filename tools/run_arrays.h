#ifndef POLYTILE_TOOLS_RUN_ARRAYS_H
#define POLYTILE_TOOLS_RUN_ARRAYS_H

#include "run_arguments.h"

#include <jansson.h>
#include <polytile/polytile.h>

/** The arrays of a run, in the kernel's order. */
typedef struct run_arrays {
    const polytile_kernel *kernel; /* borrowed */
    int n;
    polytile_array **array; /* the context's; the list is owned */
    void **memory;          /* of those without a file; owned */
    polytile_domain threads;
} run_arrays;

/**
 * Map the files that are there, find the launch domain, and create the files of outputs; reports
 * errors.
 *
 * Returns the exit code; the caller calls run_arrays_close() in any case, before the context ends.
 */
int run_arrays_open(const run_arguments *args, polytile_context *ctx, const polytile_kernel *kernel,
                    run_arrays *arrays);

/** Give the created files their names; reports errors. Returns the exit code. */
int run_arrays_finish(const run_arguments *args, polytile_context *ctx, const run_arrays *arrays);

/** Remove created files that have no name yet, and free all. */
void run_arrays_close(run_arrays *arrays);

/** Return whether threads combine into a kernel's array. */
bool run_is_reduced(const polytile_kernel *kernel, int array);

/** Return whether elements of a type, and of a domain that begins at 0, are printed. */
bool run_can_show(polytile_type type, const polytile_domain *domain);

/** Print "s = 12", for each array that threads combine into and that has few elements. */
void run_arrays_print(const run_arrays *arrays);

/** Return the same as an object, of numbers or lists of them; NULL: memory ran out. Numbers from
 * 2^63 on, which JSON's library lacks, are texts. */
json_t *run_arrays_to_json(const run_arrays *arrays);

#endif
