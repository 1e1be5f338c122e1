#ifndef POLYTILE_TOOLS_OPTION_VALUES_H
#define POLYTILE_TOOLS_OPTION_VALUES_H

#include "values.h"

/* Values that options of several subcommands have; all report errors and return the exit code. */

/** Refuse a value that could not be read: it is wrong, or memory ran out. */
int refuse_value(const char *subcommand, const char *option, const char *text, parsed how,
                 const char *why);

/** Refuse a value whose name an earlier one has. */
int refuse_second_name(const char *subcommand, const char *option, const char *text,
                       const char *name);

/** Refuse a command line without a kernel. */
int refuse_missing_kernel(const char *subcommand);

/** The most values with a name that a list has: each is compared with all others. */
enum { MAX_VALUES = 4096 };

/** Refuse one more value than that; EXIT_DONE: there is room. */
int check_room(const char *subcommand, const char *option, const char *text, int n_values);

/** Add the value of --param to a list with room for it. */
int add_parameter(const char *subcommand, const char *text, int *n, parameter_value *list);

/** Free a list of parameters; list may be NULL where there are none. */
void free_parameters(int n, parameter_value *list);

#endif
