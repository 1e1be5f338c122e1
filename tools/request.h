#ifndef POLYTILE_TOOLS_REQUEST_H
#define POLYTILE_TOOLS_REQUEST_H

#include "arguments.h"

/** The library's objects for a command line, with the arrays in the declaration's order. */
typedef struct request {
    polytile_context *ctx; /* owns all else of the library's */
    polytile_kernel *kernel;
    polytile_array **array;        /* owned, the list only */
    polytile_parameter *parameter; /* owned */
    polytile_plan_options options;
} request;

/**
 * Create what the arguments describe; reports what is wrong.
 *
 * Returns the exit code; the caller calls request_free() in any case, before arguments_free().
 */
int request_create(const arguments *args, request *made);

void request_free(request *made);

#endif
