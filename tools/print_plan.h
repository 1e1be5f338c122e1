#ifndef POLYTILE_TOOLS_PRINT_PLAN_H
#define POLYTILE_TOOLS_PRINT_PLAN_H

#include "arguments.h"

/** Write a plan of some kind in a form; *text is the caller's. */
typedef polytile_status plan_writer(const void *plan, polytile_format format, char **text);

/** Print a plan in the forms that the arguments ask for; reports errors. Returns the exit code. */
int print_plan(const arguments *args, const polytile_context *ctx, plan_writer *write,
               const void *plan);

#endif
