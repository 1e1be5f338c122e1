#include "command.h"
#include "help.h"

#include <stdio.h>
#include <string.h>

static int print_version(int argc, char **argv) {
    char line[64];
    (void)argc;
    snprintf(line, sizeof line, "polytile %s\n", polytile_version());
    return write_result(argv[0], line);
}

static int print_help(int argc, char **argv) {
    (void)argc;
    return write_result(argv[0], help_polytile);
}

static const struct {
    const char *name;
    subcommand_function *run;
} subcommands[] = {
    {"run", run_command},         {"plan", plan_command},         {"check", check_command},
    {"devices", devices_command}, {"policies", policies_command}, {"graph", graph_command},
    {"report", report_command},   {"--version", print_version},   {"--help", print_help},
    {"-h", print_help},
};

int main(int argc, char **argv) {
    if (argc < 2) {
        fputs(help_polytile, stderr);
        return EXIT_USAGE;
    }
    for (size_t k = 0; k < sizeof subcommands / sizeof *subcommands; k++)
        if (strcmp(argv[1], subcommands[k].name) == 0)
            return subcommands[k].run(argc - 1, argv + 1);
    char shown[256];
    fprintf(stderr,
            "polytile: there is no command \"%s\"; use run, plan, check, devices, policies, graph "
            "or report\n"
            "Try 'polytile --help'.\n",
            polytile_text_show(argv[1], shown, sizeof shown));
    return EXIT_USAGE;
}
