#ifndef POLYTILE_TOOLS_REQUEST_H
#define POLYTILE_TOOLS_REQUEST_H

#include "arguments.h"

/** The library's objects for a command line. */
typedef struct request {
    polytile_context *ctx;    /* owns all else of the library's */
    polytile_kernel **kernel; /* in the command line's order; owned, the lists only, as below */
    polytile_array **array;
    polytile_array **scratch;
    int n_launches;
    polytile_chain_launch *launch;   /* in run order */
    polytile_array **operand;        /* of all launches, one after the other */
    int *n_parameters;               /* of each kernel */
    polytile_parameter *parameter;   /* of all kernels, one after the other */
    polytile_launch_options options; /* of the first launch; plan is of all */
} request;

/**
 * Create what the arguments describe; reports errors.
 *
 * Returns the exit code; the caller calls request_free() in any case, before arguments_free().
 */
int request_create(const arguments *args, request *made);

void request_free(request *made);

#endif
