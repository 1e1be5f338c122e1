#ifndef POLYTILE_TOOLS_RUN_ARGUMENTS_H
#define POLYTILE_TOOLS_RUN_ARGUMENTS_H

#include "values.h"

/** The arguments of run. Zero-initialised members are options not given. */
typedef struct run_arguments {
    const char *subcommand;
    const char *kernel; /* the declaration */
    const char *body;   /* its text, or @FILE */
    const char *domain; /* not parsed yet: it may name extents of arrays */
    int n_files;
    file_value *file; /* arrays, in the command line's order; owned */
    int n_parameters;
    parameter_value *parameter; /* owned */
    const char *device;
    int64_t limit_bytes;
    const char *trace; /* a path */
    bool check;
    bool json;
    bool help;
} run_arguments;

/**
 * Parse the command line of run; reports errors.
 *
 * Returns the exit code. With help set nothing else was required. The strings are argv's; the
 * caller calls run_arguments_free() in any case.
 */
int run_arguments_parse(int argc, char **argv, run_arguments *args);

void run_arguments_free(run_arguments *args);

#endif
