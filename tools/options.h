#ifndef POLYTILE_TOOLS_OPTIONS_H
#define POLYTILE_TOOLS_OPTIONS_H

#include <stdbool.h>

/* Reading a command line by a table of options. */

/** An option; --help has to be one of them, and -h is the same. */
typedef struct option_row {
    const char *name;
    bool has_value;
    bool takes_more; /* words behind the value are further values */
} option_row;

enum { MAX_OPTIONS = 32 };

/** Handle an option, by its row, with its value or NULL. Returns the exit code. */
typedef int option_function(void *args, int row, const char *text);

/** Read a subcommand's words, argv[0] being its name, up to the first error. Returns the exit
 * code. */
int read_options(int argc, char **argv, int n_rows, const option_row *rows, option_function *handle,
                 void *args);

#endif
