#include "options.h"
#include "command.h"

#include <getopt.h>
#include <string.h>

enum { OPTION_WORD = 1, OPTION_FIRST = 256 };

/** A command line that is being read. */
typedef struct reading {
    const char *subcommand;
    int n_rows;
    const option_row *rows;
    option_function *handle;
    void *args;
} reading;

static void make_getopt_table(const reading *of, struct option *options) {
    for (int k = 0; k < of->n_rows; k++)
        options[k] = (struct option){of->rows[k].name,
                                     of->rows[k].has_value ? required_argument : no_argument, NULL,
                                     OPTION_FIRST + k};
    options[of->n_rows] = (struct option){0};
}

static int find_help(const reading *of) {
    int k = 0;
    while (strcmp(of->rows[k].name, "help") != 0)
        k++;
    return k;
}

/** Handle a word of no option: a further value of the last one, if that takes more. */
static int handle_word(const reading *of, int last_option, const char *word) {
    if (last_option >= 0 && of->rows[last_option].takes_more)
        return of->handle(of->args, last_option, word);
    return usage_error(of->subcommand,
                       "there is no place for the word \"%s\"; every value "
                       "follows its option",
                       word);
}

static int refuse_option(const reading *of, int result, char **argv) {
    const char *word = argv[optind - 1];
    if (result == ':')
        return usage_error(of->subcommand, "%s needs a value", word);
    if (optopt >= OPTION_FIRST)
        return usage_error(of->subcommand, "--%s takes no value",
                           of->rows[optopt - OPTION_FIRST].name);
    return usage_error(of->subcommand, "there is no option %s", word);
}

int read_options(int argc, char **argv, int n_rows, const option_row *rows, option_function *handle,
                 void *args) {
    const reading of = {argv[0], n_rows, rows, handle, args};
    struct option options[MAX_OPTIONS + 1];
    int exit_code = EXIT_DONE, last_option = -1, result;
    make_getopt_table(&of, options);
    opterr = 0;
    optind = 1;
    while (exit_code == EXIT_DONE &&
           (result = getopt_long(argc, argv, "-:h", options, NULL)) != -1) {
        if (result == OPTION_WORD)
            exit_code = handle_word(&of, last_option, optarg);
        else if (result == 'h')
            exit_code = handle(args, find_help(&of), NULL);
        else if (result >= OPTION_FIRST)
            exit_code = handle(args, last_option = result - OPTION_FIRST, optarg);
        else
            exit_code = refuse_option(&of, result, argv);
    }
    if (exit_code == EXIT_DONE && optind < argc)
        exit_code = handle_word(&of, -1, argv[optind]);
    return exit_code;
}
