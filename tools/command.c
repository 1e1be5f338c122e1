#include "command.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char reported[2048];

static void report(const char *subcommand, const char *format, va_list arguments) {
    char begin[sizeof reported], *whole = NULL;
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(begin, sizeof begin, format, arguments);
    if (length >= (int)sizeof begin && vasprintf(&whole, format, again) < 0)
        whole = NULL;
    va_end(again);
    polytile_text_show(whole == NULL ? begin : whole, reported, sizeof reported);
    free(whole);
    fprintf(stderr, "polytile %s: %s\n", subcommand, reported);
}

int usage_error(const char *subcommand, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(subcommand, format, arguments);
    va_end(arguments);
    fprintf(stderr, "Try 'polytile %s --help'.\n", subcommand);
    return EXIT_USAGE;
}

int failure(const char *subcommand, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(subcommand, format, arguments);
    va_end(arguments);
    return EXIT_FAILED;
}

const char *last_report(void) {
    return reported;
}

static int exit_code_of(polytile_status status) {
    switch (status) {
    case POLYTILE_OK:
        return EXIT_DONE;
    case POLYTILE_INVALID:
    case POLYTILE_DECLARATION:
    case POLYTILE_CONFLICT:
    case POLYTILE_OVERFLOW:
        return EXIT_USAGE;
    case POLYTILE_NO_FIT:
        return EXIT_NO_FIT;
    default:
        return EXIT_FAILED;
    }
}

int library_error(const char *subcommand, const polytile_context *ctx, polytile_status status) {
    const char *text = ctx == NULL ? "" : polytile_last_error(ctx);
    failure(subcommand, "%s", *text == '\0' ? polytile_status_text(status) : text);
    return exit_code_of(status);
}

int finish_results(const char *subcommand) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    return failure(subcommand, "cannot write to standard output: %s", strerror(errno));
}

int write_result(const char *subcommand, const char *text) {
    fputs(text, stdout);
    return finish_results(subcommand);
}

/** Return JSON as text for free(); NULL: no memory. json_dumps() would silently leave out keys
 * then. */
static char *text_of_json(const json_t *value, size_t flags) {
    size_t n_bytes = json_dumpb(value, NULL, 0, flags);
    char *text = n_bytes == 0 ? NULL : malloc(n_bytes + 1);
    if (text == NULL || json_dumpb(value, text, n_bytes, flags) != n_bytes) {
        free(text);
        return NULL;
    }
    text[n_bytes] = '\0';
    return text;
}

int write_json(const char *subcommand, json_t *value, size_t flags) {
    char *text = text_of_json(value, flags);
    json_decref(value);
    if (text == NULL)
        return library_error(subcommand, NULL, POLYTILE_NO_MEMORY);
    puts(text);
    free(text);
    return finish_results(subcommand);
}

bool is_same_file(const char *one, const char *other) {
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int write_file(const char *subcommand, const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return failure(subcommand, "cannot create %s: %s; name a file that can be written", path,
                       strerror(errno));
    int error = fputs(text, file) < 0 ? errno : 0;
    if (fclose(file) != 0 && error == 0)
        error = errno;
    if (error == 0)
        return EXIT_DONE;
    return failure(subcommand, "cannot write %s: %s; the file is not complete", path,
                   strerror(error));
}
