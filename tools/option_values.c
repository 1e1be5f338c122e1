#include "option_values.h"
#include "command.h"

#include <stdlib.h>
#include <string.h>

int refuse_value(const char *subcommand, const char *option, const char *text, parsed how,
                 const char *why) {
    if (how == PARSED_NO_MEMORY)
        return failure(subcommand, "%s %s: out of memory", option, text);
    return usage_error(subcommand, "%s %s: %s", option, text, why);
}

int refuse_second_name(const char *subcommand, const char *option, const char *text,
                       const char *name) {
    return usage_error(subcommand, "%s %s: %s is given twice; give it once", option, text, name);
}

int refuse_missing_kernel(const char *subcommand) {
    return usage_error(subcommand,
                       "--kernel is missing; declare what a thread touches, such as --kernel "
                       "'add[i]: in x[i], y[i]; out z[i]'");
}

int check_room(const char *subcommand, const char *option, const char *text, int n_values) {
    if (n_values < MAX_VALUES)
        return EXIT_DONE;
    return usage_error(subcommand, "%s %s: it is one more than the %d there may be", option, text,
                       MAX_VALUES);
}

int add_parameter(const char *subcommand, const char *text, int *n, parameter_value *list) {
    char why[WHY_SIZE];
    parameter_value value;
    const int exit_code = check_room(subcommand, "--param", text, *n);
    if (exit_code != EXIT_DONE)
        return exit_code;
    const parsed how = parse_parameter(text, &value, why);
    if (how != PARSED)
        return refuse_value(subcommand, "--param", text, how, why);
    list[(*n)++] = value;
    for (int k = 0; k < *n - 1; k++)
        if (strcmp(list[k].name, value.name) == 0)
            return refuse_second_name(subcommand, "--param", text, value.name);
    return EXIT_DONE;
}

void free_parameters(int n, parameter_value *list) {
    for (int k = 0; k < n; k++)
        free(list[k].name);
    free(list);
}
