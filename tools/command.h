#ifndef POLYTILE_TOOLS_COMMAND_H
#define POLYTILE_TOOLS_COMMAND_H

#include <jansson.h>
#include <polytile/polytile.h>

/* What the subcommands of polytile share: exit codes, errors, checked output. */

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_NO_FIT = 3 };

/** A subcommand; argv[0] is its name. Returns the exit code. */
typedef int subcommand_function(int argc, char **argv);

subcommand_function plan_command;
subcommand_function check_command;
subcommand_function devices_command;
subcommand_function policies_command;
subcommand_function graph_command;
subcommand_function report_command;
subcommand_function run_command;

/** Report wrong usage of a subcommand on stderr and point to its help. Returns EXIT_USAGE. */
int usage_error(const char *subcommand, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Report any other failure of a subcommand on stderr. Returns EXIT_FAILED. */
int failure(const char *subcommand, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Return the last report, or its beginning; empty: none. */
const char *last_report(void);

/** Report a context's last error on stderr. Returns the exit code of the status. */
int library_error(const char *subcommand, const polytile_context *ctx, polytile_status status);

/** Check that all output reached stdout. Returns the exit code. */
int finish_results(const char *subcommand);

/** Write a result to stdout and check that it got there. Returns the exit code. */
int write_result(const char *subcommand, const char *text);

/** Write a value to stdout as JSON, with json_dumps()'s flags, and drop a reference to it; NULL:
 * memory ran out. Returns the exit code. */
int write_json(const char *subcommand, json_t *value, size_t flags);

/** Whether two paths name one file, which is there. */
bool is_same_file(const char *one, const char *other);

/** Write a file whole. Returns the exit code. */
int write_file(const char *subcommand, const char *path, const char *text);

#endif
