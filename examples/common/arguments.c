#include "arguments.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Ranks with different arguments would wait for each other for ever, so they compare them before
 * anything else. */

/** How much of a command line is sent; all of it is compared. */
enum { LINE_SIZE = 8192 };

/** A program's name and its arguments, each after its length. */
typedef struct command_line {
    int length;
    char text[LINE_SIZE];
} command_line;

static uint64_t add_to_hash(uint64_t hash, const char *word) {
    for (size_t k = 0; k <= strlen(word); ++k)
        hash = (hash ^ (unsigned char)word[k]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t hash_of(const char *program, char **argv) {
    uint64_t hash = add_to_hash(UINT64_C(0xcbf29ce484222325), program);
    for (int k = 1; argv[k] != NULL; ++k)
        hash = add_to_hash(hash, argv[k]);
    return hash;
}

/** Add a word, which ends with '\0'; leave it out if it does not fit. */
static void add_word(command_line *line, const char *word) {
    int size = (int)strlen(word) + 1;
    if (size > LINE_SIZE - 1 - line->length)
        return;
    memcpy(line->text + line->length, word, (size_t)size);
    line->length += size;
}

static void write_line(const char *program, char **argv, command_line *line) {
    memset(line, 0, sizeof *line);
    add_word(line, program);
    for (int k = 1; argv[k] != NULL; ++k)
        add_word(line, argv[k]);
}

static const char *word_after(const char *word) {
    return *word == '\0' ? word : word + strlen(word) + 1;
}

/** Describe a word, with the option whose value it is, or that there is none. */
static void describe(const char *before, const char *word, char *text, size_t size) {
    bool is_value = word[0] != '-' && before[0] == '-' && strchr(before, '=') == NULL;
    if (*word == '\0')
        snprintf(text, size, "nothing");
    else
        snprintf(text, size, "'%.60s%s%.100s'", is_value ? before : "", is_value ? " " : "", word);
}

/** Describe the first words in which two command lines differ. */
static void describe_difference(int rank, const char *theirs, const char *first, char *text) {
    char has[192], first_has[192];
    const char *before = "", *first_before = "";
    bool is_program = strcmp(theirs, first) != 0;
    while (*theirs != '\0' && strcmp(theirs, first) == 0) {
        before = theirs;
        first_before = first;
        theirs = word_after(theirs);
        first = word_after(first);
    }
    describe(before, theirs, has, sizeof has);
    describe(first_before, first, first_has, sizeof first_has);
    snprintf(text, ARGUMENTS_TEXT_SIZE,
             "rank %d %s %s, where rank 0 %s %s; start all ranks with the same program and options",
             rank, is_program ? "runs" : "was given", has, is_program ? "runs" : "was given",
             first_has);
}

bool arguments_agree(const ranks *r, const char *program, char **argv, char *text) {
    static command_line first, theirs;
    int stranger = ranks_find_stranger(r, hash_of(program, argv));
    if (stranger < 0)
        return true;
    write_line(program, argv, &first);
    write_line(program, argv, &theirs);
    ranks_tell(r, 0, first.text, LINE_SIZE);
    ranks_tell(r, stranger, theirs.text, LINE_SIZE);
    describe_difference(stranger, theirs.text, first.text, text);
    return false;
}
