#ifndef POLYTILE_TOOLS_OPTIONS_H
#define POLYTILE_TOOLS_OPTIONS_H

#include <stddef.h>

/* Reading a command line by a table of options, which fill in a subcommand's struct of
 * arguments. */

/** What becomes of an option's value. */
typedef enum option_kind {
    OPTION_FLAG,   /* there is none; a bool becomes true */
    OPTION_TEXT,   /* a const char * keeps it; the last one counts */
    OPTION_ONCE,   /* the same, and a second one is refused */
    OPTION_WORD,   /* the word that follows no option, kept so; the row has no name */
    OPTION_SIZE,   /* an int64_t has its bytes, of "16GiB" */
    OPTION_VALUE,  /* a function takes it */
    OPTION_VALUES, /* the same, and words after it are further values */
} option_kind;

/** Take an option's value into the arguments. Returns the exit code. */
typedef int option_function(void *args, const char *text);

/** An option; --help has to be one of them, and -h is the same. */
typedef struct option_row {
    const char *name;
    option_kind kind;
    size_t member; /* where it lies in the arguments, unless a function takes the value */
    option_function *take;
} option_row;

enum { MAX_OPTIONS = 32 };

/** Read a subcommand's words, argv[0] being its name, up to the first error, which is reported.
 * Returns the exit code. */
int read_options(int argc, char **argv, int n_rows, const option_row *rows, void *args);

#endif
