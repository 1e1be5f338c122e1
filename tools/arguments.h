#ifndef POLYTILE_TOOLS_ARGUMENTS_H
#define POLYTILE_TOOLS_ARGUMENTS_H

#include "values.h"
#include <polytile/plan.h>

/** The arguments of plan and check. Zero-initialised members are options not given. */
typedef struct arguments {
    const char *subcommand;
    int n_kernels;
    const char **kernel; /* the declarations, in run order; the list is owned */
    int n_domains;
    polytile_domain *domain; /* owned; one for all kernels, or one each */
    int n_arrays;
    array_value *array; /* in the command line's order; owned */
    int n_parameters;
    parameter_value *parameter; /* owned */
    int64_t n_steps;            /* 0: not given, once */
    int n_swaps;
    swap_value *swap; /* owned */
    int n_scratch;
    const char **scratch; /* names of arrays; the list is owned */
    bool has_launches_per_pass;
    int64_t launches_per_pass; /* 0: auto */
    int n_block;
    int64_t block[POLYTILE_MAX_DIMS];
    int64_t limit_bytes;
    int n_buffers;
    int64_t fill_threads; /* 0: not given, not known */
    const char *strategy;
    int64_t n_ranks;    /* 0: not given */
    const char *device; /* NULL: not given; without both there are none of those below */
    bool attached;
    bool linked;
    const char *grid; /* NULL: not given, as the layout */
    const char *layout;
    bool has_launches_per_exchange;
    int64_t launches_per_exchange; /* 0: auto */
    bool json;
    bool help;
    const char *svg;
} arguments;

/** Return whether an option was given that only a plan of several launches has, such as --steps. */
bool arguments_are_of_chain(const arguments *args);

/** Return a given option that only a plan over ranks or devices has, as "--grid"; NULL: none.
 * --ranks and --device do not count. */
const char *arguments_ranks_option(const arguments *args);

/** Parse the arguments of plan and check; reports errors. Returns the exit code; call
 * arguments_free() in any case. */
int arguments_parse(int argc, char **argv, arguments *args);

void arguments_free(arguments *args);

#endif
