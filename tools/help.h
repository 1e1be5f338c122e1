#ifndef POLYTILE_TOOLS_HELP_H
#define POLYTILE_TOOLS_HELP_H

/* The --help texts; docs/man has the same as pages. */

extern const char help_polytile[];
extern const char help_run[];
extern const char help_plan[];
extern const char help_check[];
extern const char help_devices[];
extern const char help_policies[];
extern const char help_graph[];
extern const char help_report[];

#endif
