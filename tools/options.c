#include "options.h"
#include "command.h"

#include <getopt.h>
#include <string.h>

enum { GETOPT_WORD = 1, GETOPT_FIRST_ROW = 256 };

/** A command line that is being read. */
typedef struct reading {
    const char *subcommand;
    int n_rows;
    const option_row *rows;
    void *args;
} reading;

static void make_getopt_table(const reading *of, struct option *options) {
    for (int k = 0; k < of->n_rows; k++)
        if (of->rows[k].kind != OPTION_WORD)
            *options++ = (struct option){
                of->rows[k].name, of->rows[k].kind == OPTION_FLAG ? no_argument : required_argument,
                NULL, GETOPT_FIRST_ROW + k};
    *options = (struct option){0};
}

static const option_row *find_help(const reading *of) {
    const option_row *row = of->rows;
    while (row->kind != OPTION_FLAG || strcmp(row->name, "help") != 0)
        row++;
    return row;
}

static int keep_once(const reading *of, const option_row *row, const char **member,
                     const char *text) {
    if (*member != NULL)
        return usage_error(of->subcommand, "--%s is given twice; give it once", row->name);
    *member = text;
    return EXIT_DONE;
}

static int keep_size(const reading *of, const option_row *row, int64_t *member, const char *text) {
    char why[POLYTILE_SIZE_WHY_BYTES];
    if (polytile_size_parse(text, member))
        return EXIT_DONE;
    return usage_error(of->subcommand, "--%s %s: %s", row->name, text,
                       polytile_size_explain(text, why));
}

static int take_option(const reading *of, const option_row *row, const char *text) {
    void *member = (char *)of->args + row->member;
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return EXIT_DONE;
    case OPTION_TEXT:
        *(const char **)member = text;
        return EXIT_DONE;
    case OPTION_SIZE:
        return keep_size(of, row, member, text);
    case OPTION_VALUE:
    case OPTION_VALUES:
        return row->take(of->args, text);
    default:
        return keep_once(of, row, member, text);
    }
}

/** Return where the word that follows no option is kept; NULL: there can be none, or is one. */
static const char **find_place_of_word(const reading *of) {
    for (int k = 0; k < of->n_rows; k++)
        if (of->rows[k].kind == OPTION_WORD) {
            const char **member = (const char **)((char *)of->args + of->rows[k].member);
            return *member == NULL ? member : NULL;
        }
    return NULL;
}

/** Take a word of no option: a further value of the last one, if that takes more. */
static int take_word(const reading *of, const option_row *last, const char *word) {
    if (last != NULL && last->kind == OPTION_VALUES)
        return last->take(of->args, word);
    const char **place = find_place_of_word(of);
    if (place == NULL)
        return usage_error(of->subcommand,
                           "there is no place for the word \"%s\"; every value follows its option",
                           word);
    *place = word;
    return EXIT_DONE;
}

static int refuse_option(const reading *of, int result, char **argv) {
    const char *word = argv[optind - 1];
    if (result == ':')
        return usage_error(of->subcommand, "%s needs a value", word);
    if (optopt >= GETOPT_FIRST_ROW)
        return usage_error(of->subcommand, "--%s takes no value",
                           of->rows[optopt - GETOPT_FIRST_ROW].name);
    return usage_error(of->subcommand, "there is no option %s", word);
}

int read_options(int argc, char **argv, int n_rows, const option_row *rows, void *args) {
    const reading of = {argv[0], n_rows, rows, args};
    struct option options[MAX_OPTIONS + 1];
    const option_row *last = NULL;
    int exit_code = EXIT_DONE, result;
    make_getopt_table(&of, options);
    opterr = 0;
    optind = 1;
    while (exit_code == EXIT_DONE &&
           (result = getopt_long(argc, argv, "-:h", options, NULL)) != -1) {
        if (result == GETOPT_WORD)
            exit_code = take_word(&of, last, optarg);
        else if (result == 'h')
            exit_code = take_option(&of, find_help(&of), NULL);
        else if (result >= GETOPT_FIRST_ROW)
            exit_code = take_option(&of, last = &rows[result - GETOPT_FIRST_ROW], optarg);
        else
            exit_code = refuse_option(&of, result, argv);
    }
    for (; exit_code == EXIT_DONE && optind < argc; optind++)
        exit_code = take_word(&of, NULL, argv[optind]);
    return exit_code;
}
