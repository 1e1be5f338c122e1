#ifndef POLYTILE_TOOLS_ARGUMENTS_H
#define POLYTILE_TOOLS_ARGUMENTS_H

#include "values.h"
#include <polytile/plan.h>

/** What plan and check are called with. Zero-initialised members are options not given. */
typedef struct arguments {
    const char *subcommand;
    const char *kernel; /* the declaration */
    polytile_domain domain;
    int n_arrays;
    array_value *array; /* in the command line's order; owned */
    int n_parameters;
    parameter_value *parameter; /* owned */
    int n_block;
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t limit_bytes;
    int n_buffers;
    const char *strategy;
    bool json;
    bool help;
    const char *svg;
} arguments;

/** Parse the arguments of plan and check; reports what is wrong. Returns the exit code; the caller
 * calls arguments_free() in any case. */
int arguments_parse(int argc, char **argv, arguments *args);

void arguments_free(arguments *args);

#endif
